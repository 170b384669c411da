//! The points of all lines of a run's drawings as one text, for the page's script, which makes drawings of them when they are asked for.
//!
//! A line's points are one after the other: moments in units of 0.1 ms, each as the difference to the one before, and values as single
//! precision floats. Where the line is broken stands a value that is no number. Both are written as four planes of bytes, lowest bytes first,
//! because bytes that mean the same compress well side by side. The lines of a run follow one another behind a header, all of them in one
//! zlib stream, which browsers undo by `DecompressionStream("deflate")`: most series of a repeat have the same moments, and so cost them once.
//! The stream is written in base 64. `docs/reference/report-charts.md` says the same for whoever reads it.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::series::Stretch;

/// Units of time in a second.
const TICKS: f64 = 10_000.0;

/// Above so many samples a report holds only some points of each line; the rest is in the store, and in what `stend export` writes. A sample
/// takes two to five bytes of the page, by how much noise is in it.
pub(super) const MOST_SAMPLES: usize = 1_250_000;

/// Fewer bytes are compressed as well as can be, more as fast as can be.
const SHORT: usize = 100_000;

/// The points of a line, as bytes.
#[derive(Debug, Default)]
pub(super) struct Points(Vec<u8>);

impl Points {
    /// How many there are, breaks among them.
    fn count(&self) -> usize {
        self.0.len() / 8
    }
}

/// A header and the points of lines as text. How many points each line has is added to the header.
pub(super) fn encode(header: impl Serialize, lines: &[&Points]) -> String {
    #[derive(Serialize)]
    struct Counted<H> {
        counts: Vec<usize>,
        #[serde(flatten)]
        header: H,
    }
    let counts = lines.iter().map(|points| points.count()).collect();
    let header = serde_json::to_vec(&Counted { counts, header }).expect("texts and numbers can be written");
    let size = header.len() + lines.iter().map(|points| points.0.len()).sum::<usize>();
    // A large report has hundreds of short texts, which are mostly header, and their effort is small.
    let effort = if size < SHORT { Compression::default() } else { Compression::fast() };
    let mut encoder = ZlibEncoder::new(Vec::new(), effort);
    let length = u32::try_from(header.len()).expect("a header is short").to_le_bytes();
    let mut parts = [&length[..], &header].into_iter().chain(lines.iter().map(|points| points.0.as_slice()));
    let written = parts.try_for_each(|part| encoder.write_all(part)).and_then(|()| encoder.finish());
    BASE64.encode(written.expect("writing to memory does not fail"))
}

/// A line's points.
pub(super) fn points(line: &[Stretch]) -> Points {
    let points: usize = line.iter().map(|stretch| stretch.len() + 1).sum();
    let (mut moments, mut values) = (Vec::<u32>::with_capacity(points), Vec::<f32>::with_capacity(points));
    let mut before = 0u64;
    let mut add = |moment: f64, value: f32| {
        let moment = ((moment * TICKS).round().max(0.0) as u64).max(before);
        moments.push(u32::try_from(moment - before).unwrap_or(u32::MAX));
        values.push(value);
        before = moment;
    };
    for (place, stretch) in line.iter().enumerate() {
        if let Some((moment, _)) = stretch.first().filter(|_| place > 0) {
            add(*moment, f32::NAN);
        }
        stretch.iter().for_each(|(moment, value)| add(*moment, *value as f32));
    }
    let mut planes = Vec::with_capacity(8 * moments.len());
    for shift in [0, 8, 16, 24] {
        planes.extend(moments.iter().map(|moment| (moment >> shift) as u8));
    }
    for shift in [0, 8, 16, 24] {
        planes.extend(values.iter().map(|value| (value.to_bits() >> shift) as u8));
    }
    Points(planes)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;

    /// What the page's script does, from the text back to the lines' stretches.
    fn decode(text: &str) -> Vec<Vec<Stretch>> {
        let bytes = BASE64.decode(text).unwrap();
        let mut all = Vec::new();
        ZlibDecoder::new(&bytes[..]).read_to_end(&mut all).unwrap();
        let length = u32::from_le_bytes(all[..4].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&all[4..4 + length]).unwrap();
        let mut rest = &all[4 + length..];
        let counts = header["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap() as usize);
        let lines = counts.map(|count| {
            let (planes, after) = rest.split_at(8 * count);
            rest = after;
            line_of(planes)
        });
        let lines = lines.collect();
        assert!(rest.is_empty());
        lines
    }

    fn line_of(planes: &[u8]) -> Vec<Stretch> {
        let count = planes.len() / 8;
        let word = |plane: usize, place: usize| {
            u32::from_le_bytes([0, 1, 2, 3].map(|byte| planes[(plane + byte) * count + place]))
        };
        let (mut line, mut moment) = (vec![Stretch::new()], 0u64);
        for place in 0..count {
            moment += u64::from(word(0, place));
            let value = f32::from_bits(word(4, place));
            if value.is_nan() {
                line.push(Stretch::new());
            } else {
                line.last_mut().unwrap().push((moment as f64 / TICKS, f64::from(value)));
            }
        }
        line
    }

    proptest! {
        #[test]
        fn every_point_comes_back(steps in prop::collection::vec((0.0..30.0f64, -1e12..1e12f64, any::<bool>()), 1..300)) {
            let (mut line, mut moment) = (vec![Stretch::new()], 0.0);
            for (step, value, broken) in steps {
                moment += step;
                if broken && !line.last().unwrap().is_empty() {
                    line.push(Stretch::new());
                }
                line.last_mut().unwrap().push((moment, value));
            }
            let other = vec![vec![(0.5, 7.0)]];
            let all = decode(&encode(serde_json::json!({ "seconds": 3 }), &[&points(&other), &points(&line)]));
            prop_assert_eq!(&all[0], &other);
            let back = &all[1];
            prop_assert_eq!(back.len(), line.len());
            for (back, stretch) in back.iter().zip(&line) {
                prop_assert_eq!(back.len(), stretch.len());
                for (back, point) in back.iter().zip(stretch) {
                    prop_assert!((back.0 - point.0).abs() <= 0.5 / TICKS + 1e-9, "errors of rounding do not add up");
                    prop_assert_eq!(back.1, f64::from(point.1 as f32));
                }
            }
        }
    }

    #[test]
    fn a_sample_takes_few_bytes() {
        // Ten times a second with the sampler's jitter, and values with noise in every digit that is drawn.
        let noise = |tick: u64| (tick.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / f64::from(1u32 << 24);
        let line: Stretch =
            (0..10_000).map(|tick| (tick as f64 / 10.0 + noise(tick) * 1e-4, 50.0 + 5.0 * noise(tick + 7))).collect();
        let size = encode(serde_json::json!({}), &[&points(&[line])]).len();
        assert!(size < 50_000, "{size} bytes for 10,000 points");
    }
}
