//! Shows that the usual way to use `vmsplice()` sends wrong bytes, and that the slabs of this crate do not.
//!
//!     cargo run --release --example naive_corruption
//!
//! Both writers send the same numbered words. The reader moves the pages on to a second pipe, as `pv` does, and reads that a
//! little later. The naive writer has as many buffers as the pipe holds and one more, so with a reader that read()s all
//! would be well. Exit status 0 if the naive bytes are wrong and ours are right.

#[cfg(target_os = "linux")]
pub(crate) mod linux {
    use std::io::{self, PipeReader, PipeWriter as Pipe, Read};

    use pipe_writer::{Options, PipeWriter};
    use rustix::pipe::{IoSliceRaw, SpliceFlags, fcntl_setpipe_size, splice, vmsplice};

    const PAGE: usize = 4096;
    const CHUNK: usize = 64 << 10;
    /// What the first pipe holds.
    const CAPACITY: usize = 128 << 10;
    const BUFFERS: usize = CAPACITY / CHUNK + 1;
    const CHUNKS: usize = 1000;

    fn fill(chunk: &mut [u8], number: usize) {
        for (i, word) in chunk.chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&((number * CHUNK / 8 + i) as u64).to_ne_bytes());
        }
    }

    /// One process in two roles, so that each run goes the same way: what `send` puts into the first pipe moves on to the
    /// second, which holds 1 MiB and is read when it is full. Returns how many words were wrong, of how many.
    fn through_two_pipes(
        mut send: impl FnMut(usize) -> io::Result<()>,
        first: &PipeReader,
    ) -> io::Result<(usize, usize)> {
        let (mut second_reader, second) = io::pipe()?;
        let room = fcntl_setpipe_size(&second, 1 << 20)?;
        let (mut wrong, mut words) = (0, 0);
        let mut chunk = vec![0; CHUNK];
        let mut waiting = 0;
        for number in 0..CHUNKS {
            send(number)?;
            let mut moved = 0;
            while moved < CHUNK {
                moved += splice(first, None, &second, None, CHUNK - moved, SpliceFlags::empty())?;
            }
            waiting += CHUNK;
            if waiting == room || number + 1 == CHUNKS {
                for _ in 0..waiting / CHUNK {
                    second_reader.read_exact(&mut chunk)?;
                    for word in chunk.chunks_exact(8) {
                        wrong += usize::from(u64::from_ne_bytes(word.try_into().unwrap()) != words as u64);
                        words += 1;
                    }
                }
                waiting = 0;
            }
        }
        Ok((wrong, words))
    }

    fn naive(pipe: &Pipe, number: usize, buffers: &mut [u8]) -> io::Result<()> {
        let buffer = &mut buffers[number % BUFFERS * CHUNK..][..CHUNK];
        fill(buffer, number);
        let mut sent = 0;
        while sent < CHUNK {
            let piece = [IoSliceRaw::from_slice(&buffer[sent..])];
            // SAFETY: this is what the example is about: that the memory is still the writer's own is *not* safe, and the
            // verifier will show it. It is never freed before the pipes are.
            sent += unsafe { vmsplice(pipe, &piece, SpliceFlags::empty())? };
        }
        Ok(())
    }

    pub(crate) fn main() -> io::Result<bool> {
        let (first, pipe) = io::pipe()?;
        // Buffers begin with a page: else a chunk would take one slot more of each pipe than it has pages.
        let mut memory = vec![0; BUFFERS * CHUNK + PAGE];
        let start = memory.as_ptr().align_offset(PAGE);
        let buffers = &mut memory[start..][..BUFFERS * CHUNK];
        fcntl_setpipe_size(&pipe, CAPACITY)?;
        let (wrong, words) = through_two_pipes(|number| naive(&pipe, number, buffers), &first)?;
        println!("buffers in turn: {wrong} of {words} words wrong");

        let (first, pipe) = io::pipe()?;
        let mut writer = Options::new().strict().open(pipe)?;
        let (ours, words) = through_two_pipes(|number| commit(&mut writer, number), &first)?;
        println!("slabs:           {ours} of {words} words wrong");
        Ok(wrong > 0 && ours == 0)
    }

    fn commit(writer: &mut PipeWriter<Pipe>, number: usize) -> io::Result<()> {
        let mut slab = writer.reserve(CHUNK)?;
        fill(&mut slab[..CHUNK], number);
        slab.commit(CHUNK)
    }
}

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<std::process::ExitCode> {
    Ok(if linux::main()? { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE })
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("vmsplice() is a call of Linux");
}
