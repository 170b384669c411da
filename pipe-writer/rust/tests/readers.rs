//! What arrives, with readers that keep pages and readers that do not.
#![cfg(target_os = "linux")]

use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::thread;

use pipe_writer::{Constant, Options, PipeWriter, Policy};
use proptest::prelude::*;
use rustix::pipe::{SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, splice, tee};

/// The byte at `offset` of the stream that the tests send.
fn byte(offset: usize) -> u8 {
    (offset.wrapping_mul(0x9E37_79B9) >> 11) as u8
}

fn fill(to: &mut [u8], offset: usize) {
    for (i, to) in to.iter_mut().enumerate() {
        *to = byte(offset + i);
    }
}

/// How many bytes of the stream came, and all of them right.
fn verify(mut reader: impl Read) -> usize {
    let mut got = 0;
    let mut data = vec![0; 100_003];
    loop {
        let count = reader.read(&mut data).unwrap();
        if count == 0 {
            return got;
        }
        for (i, &found) in data[..count].iter().enumerate() {
            assert_eq!(found, byte(got + i), "byte {}", got + i);
        }
        got += count;
    }
}

fn send(options: Options, pipe: io::PipeWriter, total: usize) {
    let mut writer = options.open(pipe).unwrap();
    let mut sent = 0;
    for round in 0.. {
        let mut slab = writer.reserve(if round % 5 == 0 { 150_000 } else { 0 }).unwrap();
        let bytes = slab.len().min(total - sent) - (if total - sent > slab.len() { round % 7 * 100 } else { 0 });
        fill(&mut slab[..bytes], sent);
        slab.commit(bytes).unwrap();
        sent += bytes;
        if sent == total {
            break;
        }
    }
    let statistics = writer.statistics();
    assert_eq!(statistics.bytes_spliced + statistics.bytes_written, total as u64);
    drop(writer.into_inner().unwrap());
}

fn all_options() -> Vec<Options> {
    vec![
        Options::new(),
        Options::new().strict(),
        Options::new().strict().small_pages(),
        Options::new().strict().trap(),
        Options::new().write(),
        // SAFETY: used only where the reader reads.
        unsafe { Options::new().ring().strict() },
    ]
}

#[test]
fn a_reader_that_reads() {
    for options in all_options() {
        let (reader, pipe) = io::pipe().unwrap();
        let check = thread::spawn(move || verify(reader));
        send(options, pipe, 6_000_000);
        assert_eq!(check.join().unwrap(), 6_000_000, "{options:?}");
    }
}

/// Moves or copies all on to another pipe, whose reader is late.
fn pass_on(from: PipeReader, by_tee: bool) -> usize {
    let (late, to) = io::pipe().unwrap();
    fcntl_setpipe_size(&to, 1 << 20).unwrap();
    let check = thread::spawn(move || {
        thread::sleep(std::time::Duration::from_millis(30));
        verify(late)
    });
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    loop {
        let count = if by_tee {
            let count = tee(&from, &to, 1 << 20, SpliceFlags::empty()).unwrap();
            let mut gone = 0;
            while gone < count {
                gone += splice(&from, None, &null, None, count - gone, SpliceFlags::empty()).unwrap();
            }
            count
        } else {
            splice(&from, None, &to, None, 1 << 20, SpliceFlags::empty()).unwrap()
        };
        if count == 0 {
            break;
        }
    }
    drop(to);
    check.join().unwrap()
}

#[test]
fn readers_that_keep_pages() {
    for by_tee in [false, true] {
        for options in [Options::new(), Options::new().strict(), Options::new().strict().small_pages()] {
            let (reader, pipe) = io::pipe().unwrap();
            let check = thread::spawn(move || pass_on(reader, by_tee));
            send(options, pipe, 4_000_000);
            assert_eq!(check.join().unwrap(), 4_000_000, "{options:?}");
        }
    }
}

#[test]
fn a_ring_uses_pages_again_and_stays_right_when_the_pipe_grows() {
    let (mut reader, pipe) = io::pipe().unwrap();
    // SAFETY: the reader below reads.
    let mut writer = unsafe { Options::new().ring() }.strict().keep_pipe_size().chunk_size(16_384).open(pipe).unwrap();
    assert_eq!(writer.policy(), Policy::Ring);
    let mut sent = 0;
    let mut got = 0;
    let mut data = vec![0; 16_384];
    for round in 0..300 {
        if round == 150 {
            fcntl_setpipe_size(&reader, 1 << 20).unwrap();
        }
        let mut slab = writer.reserve(0).unwrap();
        fill(&mut slab, sent);
        let bytes = slab.len();
        slab.commit(bytes).unwrap();
        sent += bytes;
        let behind = if round < 150 { 32_768 } else { 900_000 };
        while sent - got > behind {
            reader.read_exact(&mut data).unwrap();
            assert!(data.iter().enumerate().all(|(i, &found)| found == byte(got + i)), "round {round}");
            got += data.len();
        }
    }
    let statistics = writer.statistics();
    assert!(statistics.pages_again > 100, "{statistics:?}");
    assert!(statistics.not_again >= 1, "{statistics:?}");
    drop(writer);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(rest.iter().enumerate().all(|(i, &found)| found == byte(got + i)));
    assert_eq!(got + rest.len(), sent);
}

#[test]
fn sizes_are_as_asked_for() {
    let (_reader, pipe) = io::pipe().unwrap();
    let writer = Options::new().keep_pipe_size().chunk_size(10_000).open(pipe).unwrap();
    assert_eq!((writer.chunk_size(), writer.pipe_size()), (10_000, 65_536));
    let pipe = writer.into_inner().unwrap();
    let writer = Options::new().pipe_size(1 << 18).open(pipe).unwrap();
    assert_eq!((fcntl_getpipe_size(writer.get_ref()).unwrap(), writer.pipe_size()), (1 << 18, 1 << 18));
}

#[test]
fn a_reader_that_is_gone() {
    for options in all_options() {
        let (reader, pipe) = io::pipe().unwrap();
        let mut writer = options.open(pipe).unwrap();
        drop(reader);
        let mut slab = writer.reserve(10).unwrap();
        slab[..10].fill(1);
        assert_eq!(slab.commit(10).unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(writer.reserve(1).unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(writer.into_inner().unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}

#[test]
fn without_waiting() {
    let (reader, pipe) = io::pipe().unwrap();
    let kind = Options::new().no_wait().open(&pipe).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::InvalidInput, "the descriptor blocks");
    rustix::io::ioctl_fionbio(&pipe, true).unwrap();
    let mut writer = Options::new().no_wait().open(pipe).unwrap();
    let mut slab = writer.reserve(5_000_000).unwrap();
    fill(&mut slab[..5_000_000], 0);
    slab.commit(5_000_000).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(writer.reserve(0).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(writer.write(&[1; 4_000_000]).unwrap_err().kind(), ErrorKind::WouldBlock);
    let check = thread::spawn(move || verify(reader));
    while let Err(error) = writer.flush() {
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        thread::yield_now();
    }
    drop(writer);
    assert_eq!(check.join().unwrap(), 5_000_000);
}

#[test]
fn not_a_pipe() {
    let mut file = tempfile();
    assert_eq!(Options::new().strict().open(&file).unwrap_err().kind(), ErrorKind::InvalidInput);
    let mut writer = PipeWriter::new(&file).unwrap();
    assert_eq!((writer.policy(), writer.pipe_size()), (Policy::Write, 0));
    let mut slab = writer.reserve(300_000).unwrap();
    fill(&mut slab[..300_000], 0);
    slab.commit(300_000).unwrap();
    drop(writer);
    io::Seek::rewind(&mut file).unwrap();
    assert_eq!(verify(&file), 300_000);
}

/// A file without a name.
fn tempfile() -> std::fs::File {
    use rustix::fs::{MemfdFlags, memfd_create};
    memfd_create("pipe-writer test", MemfdFlags::CLOEXEC).unwrap().into()
}

#[test]
fn constants() {
    for data in [&b"y\n"[..], b"abc", &[7; 4096], &(0..70_000).map(byte).collect::<Vec<_>>()] {
        let (reader, pipe) = io::pipe().unwrap();
        let length = data.len();
        let expected = data.to_vec();
        let check = thread::spawn(move || {
            let mut all = Vec::new();
            io::BufReader::new(reader).read_to_end(&mut all).unwrap();
            assert_eq!(&all[..3], b"<<<");
            let middle = &all[3..all.len() - 1];
            assert!(middle.iter().enumerate().all(|(i, &found)| found == expected[(i + 5) % length]));
            middle.len()
        });
        let constant = Constant::new(data).unwrap();
        let mut writer = PipeWriter::new(pipe).unwrap();
        writer.write_all(b"<<<").unwrap();
        assert_eq!(writer.repeat(&constant, 5, 3_000_001).unwrap(), 3_000_001);
        writer.write_all(b">").unwrap();
        drop(writer);
        assert_eq!(check.join().unwrap(), 3_000_001);
    }
    assert_eq!(Constant::new(b"").unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_slab_that_is_dropped_is_not_sent() {
    let (reader, pipe) = io::pipe().unwrap();
    let mut writer = PipeWriter::new(pipe).unwrap();
    writer.reserve(1000).unwrap()[..1000].fill(1);
    let mut slab = writer.reserve(2000).unwrap();
    fill(&mut slab[..2000], 0);
    slab.commit(2000).unwrap();
    drop(writer);
    assert_eq!(verify(reader), 2000);
}

#[test]
#[should_panic(expected = "bytes of a slab")]
fn more_than_the_slab_has() {
    let (_reader, pipe) = io::pipe().unwrap();
    let mut writer = PipeWriter::new(pipe).unwrap();
    let slab = writer.reserve(10).unwrap();
    let bytes = slab.len() + 1;
    let _ = slab.commit(bytes);
}

#[test]
fn writers_may_move_between_threads() {
    fn movable<T: Send + Sync>() {}
    movable::<PipeWriter>();
    movable::<pipe_writer::Slab<'_>>();
    movable::<Constant>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// `io::Write`, slabs and flushes in any order keep the order of the bytes.
    #[test]
    fn any_mixture(steps in prop::collection::vec((0u8..4, 0usize..150_000), 1..20)) {
        let (reader, pipe) = io::pipe().unwrap();
        let check = thread::spawn(move || verify(reader));
        let mut writer = PipeWriter::new(pipe).unwrap();
        let mut sent = 0;
        for (kind, bytes) in steps {
            match kind {
                0 => {
                    let mut data = vec![0; bytes];
                    fill(&mut data, sent);
                    writer.write_all(&data).unwrap();
                }
                1 => {
                    for at in 0..bytes.min(3000) {
                        writer.write_all(&[byte(sent + at)]).unwrap();
                    }
                    sent += bytes.min(3000);
                    continue;
                }
                2 => {
                    let mut slab = writer.reserve(bytes).unwrap();
                    fill(&mut slab[..bytes], sent);
                    slab.commit(bytes).unwrap();
                }
                _ => {
                    writer.flush().unwrap();
                    continue;
                }
            }
            sent += bytes;
        }
        drop(writer);
        prop_assert_eq!(check.join().unwrap(), sent);
    }
}
