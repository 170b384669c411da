//! A sample series as a compressed blob.
//!
//! Times are differences of differences, values differences where all are whole numbers (counters mostly are), both as
//! variable-length integers; then zlib, without compression where there is little to compress. A 10 Hz counter takes some three bytes a sample.

use std::num::NonZero;
use std::thread;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use stend_model::run::{Origin, Series};
use thiserror::Error;

/// Values are whole numbers, stored as differences.
const WHOLE: u8 = 0;
/// Values are stored as they are, eight bytes each, little endian.
const FLOATING: u8 = 1;

/// Above this a double no longer holds each whole number.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// What compresses. A repeat has many short series, and making one of these takes longer than such a series does.
pub(super) struct Encoder {
    deflate: Compress,
    plain: Vec<u8>,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { deflate: Compress::new(Compression::fast(), true), plain: Vec::new() }
    }

    /// The series' times and values as bytes.
    pub(super) fn encode(&mut self, series: &Series) -> Vec<u8> {
        let plain = &mut self.plain;
        plain.clear();
        let mut previous = (0i64, 0i64);
        for &time in &series.times_ns {
            let step = time.wrapping_sub(previous.0);
            write_signed(plain, step.wrapping_sub(previous.1));
            previous = (time, step);
        }
        let whole = |value: &f64| {
            value.fract() == 0.0 && value.abs() < LARGEST_WHOLE && !(*value == 0.0 && value.is_sign_negative())
        };
        if series.values.iter().all(whole) {
            plain.push(WHOLE);
            let mut previous = 0;
            for &value in &series.values {
                write_signed(plain, value as i64 - previous);
                previous = value as i64;
            }
        } else {
            plain.push(FLOATING);
            plain.extend(series.values.iter().flat_map(|value| value.to_le_bytes()));
        }
        self.deflated()
    }

    fn deflated(&mut self) -> Vec<u8> {
        const STEP: usize = 256;
        if self.plain.len() <= SHORT {
            return stored(&self.plain);
        }
        self.deflate.reset();
        let mut deflated = Vec::new();
        loop {
            deflated.reserve(STEP.max(deflated.len()));
            let rest = &self.plain[self.deflate.total_in() as usize..];
            let status = self.deflate.compress_vec(rest, &mut deflated, FlushCompress::Finish);
            if status.expect("compressing in memory does not fail") == Status::StreamEnd {
                return deflated;
            }
        }
    }
}

/// Series of no more bytes, some forty samples, are not compressed: that would save a few bytes each, and took a quarter of the processor time of a
/// lab with eight stands, most of it to clear the compressor's tables.
const SHORT: usize = 128;

/// Bytes as zlib (RFC 1950, section 2.2) of one block that is not compressed (RFC 1951, section 3.2.4).
fn stored(plain: &[u8]) -> Vec<u8> {
    let length = plain.len() as u16;
    let head: [&[u8]; 3] = [&[0x78, 0x01, 0x01], &length.to_le_bytes(), &(!length).to_le_bytes()];
    [&head.concat(), plain, &adler2::adler32_slice(plain).to_be_bytes()].concat()
}

/// What undoes the compression. A run has many short series, and making one of these takes longer than such a series does.
struct Decoder {
    inflate: Decompress,
    plain: Vec<u8>,
}

impl Decoder {
    fn new() -> Self {
        Self { inflate: Decompress::new(true), plain: Vec::new() }
    }

    /// The bytes that these were compressed from, which are at most so many; `None` if they are damaged.
    fn inflated(&mut self, data: &[u8], most: usize) -> Option<&[u8]> {
        /// Deflate makes no more than so many bytes of one.
        const LARGEST_RATIO: usize = 1032;
        self.inflate.reset(true);
        self.plain.clear();
        // All at once, for which there must be room: an inflater that is told to finish and cannot does not go on.
        self.plain.reserve(most.min(data.len().saturating_mul(LARGEST_RATIO)));
        let status = self.inflate.decompress_vec(data, &mut self.plain, FlushDecompress::Finish).ok()?;
        (status == Status::StreamEnd).then_some(&self.plain)
    }
}

/// A series as the store has it.
pub(super) struct Stored {
    /// Of which repeat.
    pub(super) sequence: u32,
    pub(super) origin: Origin,
    pub(super) metric: String,
    /// How many samples.
    pub(super) samples: usize,
    /// What [`Encoder::encode`] made of them.
    pub(super) data: Vec<u8>,
}

/// A series that cannot be unpacked.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("it cannot be unpacked")]
pub struct DamagedSeries {
    /// Its metric.
    pub(super) metric: String,
}

/// All of these with their repeats, in the same order.
///
/// # Errors
/// One is damaged.
pub(super) fn decode_all(mut stored: Vec<Stored>) -> Result<Vec<(u32, Series)>, DamagedSeries> {
    /// Fewer are not worth a thread.
    const LEAST: usize = 1000;
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(stored.len() / LEAST).max(1);
    let share = stored.len().div_ceil(workers);
    // From the end, so that none is moved twice.
    let mut parts: Vec<_> = (1..workers).rev().map(|worker| stored.split_off(worker * share)).collect();
    parts.push(stored);
    let of_part = |part: Vec<Stored>| -> Result<Vec<_>, DamagedSeries> {
        let mut decoder = Decoder::new();
        let one = |Stored { sequence, origin, metric, samples, data }| match decode(&mut decoder, samples, &data) {
            Some((times_ns, values)) => Ok((sequence, Series { metric, origin, times_ns, values })),
            None => Err(DamagedSeries { metric }),
        };
        part.into_iter().map(one).collect()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().rev().map(|part| scope.spawn(move || of_part(part))).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}

/// The times and values that [`Encoder::encode`] made the bytes from; `None` if they are damaged.
fn decode(decoder: &mut Decoder, samples: usize, data: &[u8]) -> Option<(Vec<i64>, Vec<f64>)> {
    // Two numbers a sample, and the kind.
    let plain = decoder.inflated(data, samples.saturating_mul(2 * LONGEST_NUMBER).saturating_add(1))?;
    let mut rest = plain;
    let mut times_ns = Vec::with_capacity(samples.min(plain.len()));
    let mut previous = (0i64, 0i64);
    for _ in 0..samples {
        let step = previous.1.wrapping_add(read_signed(&mut rest)?);
        let time = previous.0.wrapping_add(step);
        times_ns.push(time);
        previous = (time, step);
    }
    let (&kind, mut rest) = rest.split_first()?;
    let mut values = Vec::with_capacity(times_ns.len());
    match kind {
        WHOLE => {
            let mut value = 0i64;
            for _ in 0..samples {
                value = value.wrapping_add(read_signed(&mut rest)?);
                values.push(value as f64);
            }
        }
        FLOATING => values.extend(rest.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes))),
        _ => return None,
    }
    (values.len() == samples).then_some((times_ns, values))
}

/// The most bytes that [`write_signed`] makes of a number; a value that is stored as it is takes fewer.
const LONGEST_NUMBER: usize = 10;

/// Small numbers of either sign in few bytes: zigzag, then seven bits a byte (as Protocol Buffers' `sint64`).
fn write_signed(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(times_ns: Vec<i64>, values: Vec<f64>) -> Series {
        Series { metric: "m".into(), origin: Origin::Machine, times_ns, values }
    }

    proptest! {
        #[test]
        fn every_series_comes_back(points in prop::collection::vec((any::<i64>(), prop_oneof![
            any::<i32>().prop_map(f64::from),
            -1e15f64..1e15,
            prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
        ]), 0..200)) {
            let (times, values): (Vec<_>, Vec<_>) = points.into_iter().unzip();
            let before = series(times, values);
            let (times, values) = decode(&mut Decoder::new(), before.values.len(), &Encoder::new().encode(&before)).unwrap();
            prop_assert_eq!(&before.times_ns, &times);
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&before.values), bits(&values));
        }

        #[test]
        fn damaged_bytes_are_noticed_and_do_not_panic(data in prop::collection::vec(any::<u8>(), 0..100), samples in 0usize..1000) {
            let _ = decode(&mut Decoder::new(), samples, &data);
        }
    }

    #[test]
    fn whole_numbers_take_a_byte_and_a_zero_below_zero_keeps_its_sign() {
        let encode = |values: Vec<f64>| Encoder::new().encode(&series((0..values.len() as i64).collect(), values));
        let counted: Vec<_> = (0..20_u32).map(|at| f64::from(at / 2)).collect();
        assert!(encode(counted).len() < 3 * 20);
        let (_, values) = decode(&mut Decoder::new(), 2, &encode(vec![-0.0, 1.0])).unwrap();
        assert_eq!(values[0].to_bits(), (-0.0_f64).to_bits());
    }

    #[test]
    fn one_encoder_does_for_series_of_all_lengths() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        for length in [0, 1, 450, 3, 40, 41, 42, 43, 60, 62, 63, 64, 100_000, 7, 2_000, 2_000] {
            let noise = |at: i64| ((at * 7919 + length) % 10_007) as f64;
            let wanted = [
                series((0..length).collect(), (0..length).map(noise).collect()),
                series((0..length).map(|at| at * at).collect(), (0..length).map(|at| noise(at) / 3.0).collect()),
            ];
            for wanted in wanted {
                let bytes = encoder.encode(&wanted);
                let found = decode(&mut decoder, wanted.values.len(), &bytes);
                assert!(found == Some((wanted.times_ns, wanted.values)), "{length} samples");
            }
        }
    }

    #[test]
    fn many_series_come_back_in_their_order_and_a_damaged_one_is_named() {
        let one = |sequence: u32| {
            let values = (0..4).map(|place| f64::from(sequence) + f64::from(place)).collect();
            Series { metric: format!("m{sequence}"), ..series(vec![1, 2, 3, i64::from(sequence)], values) }
        };
        let stored = |sequence: u32| {
            let Series { metric, origin, values, .. } = one(sequence);
            Stored { sequence, origin, metric, samples: values.len(), data: Encoder::new().encode(&one(sequence)) }
        };
        for count in [0, 1, 5000] {
            let all = decode_all((0..count).map(stored).collect()).unwrap();
            assert!(all == (0..count).map(|sequence| (sequence, one(sequence))).collect::<Vec<_>>(), "{count} series");
        }
        let mut damaged: Vec<_> = (0..5000).map(stored).collect();
        damaged[4321].data.truncate(5);
        assert_eq!(decode_all(damaged), Err(DamagedSeries { metric: "m4321".into() }));
    }

    #[test]
    fn a_counter_at_ten_hertz_is_small() {
        let times: Vec<_> =
            (0..10_000i64).map(|tick| 5_000_000_000_000 + tick * 100_000_000 + (tick * 7919) % 60_000).collect();
        let values: Vec<_> = (0..10_000i64).map(|tick| (tick * 20_000_000 + (tick % 3) * 10_000_000) as f64).collect();
        let size = Encoder::new().encode(&series(times, values)).len();
        assert!(size < 50_000, "{size} bytes for 10,000 samples");
    }
}
