//! How fast the backends of this crate are beside RustCrypto's implementations.
//!
//! `cargo bench -p kuzma --bench peers [-- WORD…]`, better with `RUSTFLAGS='-C target-cpu=native'`, which those need to
//! use what the processor has. With words, only rows whose name holds one of them. `KUZMA_BENCH_ROUNDS`: how many
//! samples a row gets, 40 if not set.
//!
//! A sample is a slice of a few milliseconds in which one row ciphers messages one after the other; every round takes one
//! of each row, in another order, so that whatever happens to the machine happens to all alike. The key is ready; what
//! a message costs besides, such as the final keys of a MAC, is in the figure.
//!
//! To stdout, one JSON object a line: first `{"clock_hz", "samples"}` from a chain of dependent additions that is timed
//! among the rows, then a row each: `implementation`, `version`, `cipher`, `mode`, `bytes` (of a message), `samples`
//! (nanoseconds per byte, in the order they were taken), `bytes_per_second` (`minimum`, `quartile_1`, `median`,
//! `quartile_3`, `maximum`). Time is that of the wall: on a machine with other work to do, look at the maximum.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kuzma::aead::AeadInOut;
use kuzma::cipher::array::Array;
use kuzma::cipher::common::InnerInit;
use kuzma::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit, StreamCipher};
use kuzma::digest::Mac;
use kuzma::{Backend, Ctr, Kuznyechik, Magma, Mgm, Omac};
use serde_json::json;

const SLICE: Duration = Duration::from_millis(3);
const MESSAGE_BYTES: [usize; 2] = [16 * 1024, 1024];
const KEY: [u8; 32] = *b"a key that is used to bench only";

/// Ciphers one message in place.
type Run = Box<dyn Fn(&mut [u8])>;

struct Row {
    implementation: String,
    version: String,
    cipher: &'static str,
    mode: &'static str,
    message: Vec<u8>,
    run: Run,
    calls: u32,
    samples: Vec<f64>,
}

impl Row {
    fn name(&self) -> String {
        format!("{} {} {} {}", self.implementation, self.cipher, self.mode, self.message.len())
    }

    fn time(&mut self, calls: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..calls {
            (self.run)(black_box(&mut self.message));
        }
        start.elapsed()
    }

    /// As many calls as take a slice.
    fn calibrate(&mut self) {
        self.calls = 1;
        loop {
            let elapsed = self.time(self.calls);
            if elapsed >= SLICE {
                return;
            }
            // Not more than fourfold: the first calls also warm things up.
            let wanted = SLICE.as_secs_f64() / elapsed.as_secs_f64().max(1e-9) * 1.05;
            self.calls = (f64::from(self.calls) * wanted.clamp(1.1, 4.0)).ceil() as u32;
        }
    }

    fn sample(&mut self) {
        let elapsed = self.time(self.calls);
        self.samples.push(elapsed.as_secs_f64() * 1e9 / (f64::from(self.calls) * self.message.len() as f64));
    }

    fn print(&self) {
        let speed = |nanoseconds_per_byte: f64| 1e9 / nanoseconds_per_byte;
        let sorted = sorted(&self.samples);
        // The slowest slice is the one with most time per byte.
        let line = json!({
            "implementation": self.implementation,
            "version": self.version,
            "cipher": self.cipher,
            "mode": self.mode,
            "bytes": self.message.len(),
            "samples": self.samples,
            "bytes_per_second": {
                "minimum": speed(quantile(&sorted, 1.0)),
                "quartile_1": speed(quantile(&sorted, 0.75)),
                "median": speed(quantile(&sorted, 0.5)),
                "quartile_3": speed(quantile(&sorted, 0.25)),
                "maximum": speed(sorted[0]),
            },
        });
        println!("{line}");
    }
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Between the two samples next to it, in proportion (type 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Hz of the clock that additions run at, each of which waits for the one before. (x + k) ^ k cannot be simplified for an
/// unknown k; a constant would not do, as some cores add small constants at no cost.
fn clock_hz() -> f64 {
    const TURNS: u32 = 4096;
    const STEPS_A_TURN: u32 = 128;
    let k: u64 = black_box(0x9e37_79b9_7f4a_7c15);
    let mut x = k;
    let start = Instant::now();
    for _ in 0..TURNS {
        macro_rules! steps {
            ($($_:tt)*) => { $(x = x.wrapping_add(k) ^ k; let _ = stringify!($_);)* };
        }
        // 64 times two operations.
        steps!(0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1);
        steps!(0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1);
    }
    let elapsed = start.elapsed();
    black_box(x);
    f64::from(TURNS * STEPS_A_TURN) / elapsed.as_secs_f64()
}

/// Of a crate in the lock file, where it is locked at a version that begins like this.
fn locked(name: &str, start: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let lock = [format!("{root}/Cargo.lock"), format!("{root}/../../Cargo.lock")]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .expect("a lock file beside the crate or its workspace");
    let entry = format!("name = \"{name}\"\nversion = \"{start}");
    let at = lock.find(&entry).unwrap_or_else(|| panic!("{name} {start} is not in the lock file"));
    let rest = &lock[at + entry.len()..];
    format!("{name} {start}{}", &rest[..rest.find('"').expect("the end of a version")])
}

type Add<'a> = &'a mut dyn FnMut(&str, &str, &'static str, &'static str, Run);

macro_rules! rustcrypto_ctr {
    ($ctr:ident, $cipher:ty, $key:expr, $iv:expr, $data:expr) => {
        ctr::$ctr::<&$cipher>::from_core(ctr::CtrCore::inner_iv_init($key, &$iv.into())).apply_keystream($data)
    };
}

macro_rules! rustcrypto_cbc {
    ($direction:ident, $call:ident, $key:expr, $iv:expr, $data:expr) => {
        cbc::$direction::inner_iv_init($key, &$iv.into()).$call(Array::slice_as_chunks_mut($data).0)
    };
}

macro_rules! rustcrypto_cmac {
    ($key:expr, $data:expr) => {{
        black_box(cmac::Cmac::inner_init($key).chain_update($data).finalize());
    }};
}

/// `$theirs_mgm`: the cipher that the `mgm` crate goes with.
macro_rules! rows {
    (
        $name:ident, $cipher:literal, $ours:ident, $theirs:ty, $theirs_version:expr, $theirs_mgm:ty, $mgm_version:expr,
        $block:literal, $half:literal, $ctr:ident
    ) => {
        fn $name(add: Add<'_>) {
            const IV: [u8; $block] = [7; $block];
            const HALF: [u8; $half] = [7; $half];
            let version = concat!("kuzma ", env!("CARGO_PKG_VERSION"));
            for backend in Backend::<$ours>::all().filter(Backend::is_supported) {
                let cipher = $ours::with_backend(backend, &KEY.into()).expect("a supported backend");
                let name = format!("kuzma/{}", backend.name());
                let mut ours = |mode, run| add(&name, version, $cipher, mode, run);
                let key = cipher.clone();
                ours("ecb", Box::new(move |data| key.encrypt_blocks(Array::slice_as_chunks_mut(data).0)));
                let key = cipher.clone();
                ours("ctr", Box::new(move |data| Ctr::inner_iv_init(&key, &HALF.into()).apply_keystream(data)));
                let key = cipher.clone();
                ours(
                    "cbc",
                    Box::new(move |data| {
                        kuzma::cbc::Encryptor::inner_iv_init(&key, &IV.into()).encrypt(data).expect("whole blocks");
                    }),
                );
                let key = cipher.clone();
                ours(
                    "cbc-decrypt",
                    Box::new(move |data| {
                        kuzma::cbc::Decryptor::inner_iv_init(&key, &IV.into()).decrypt(data).expect("whole blocks");
                    }),
                );
                let key = cipher.clone();
                ours(
                    "cmac",
                    Box::new(move |data| {
                        black_box(Omac::inner_init(&key).chain_update(data).finalize());
                    }),
                );
                let mgm = Mgm::from(cipher);
                ours(
                    "mgm",
                    Box::new(move |data| {
                        black_box(mgm.encrypt_inout_detached(&IV.into(), b"", data.into()).expect("a short message"));
                    }),
                );
            }

            let name = format!("RustCrypto modes over kuzma/{}", Backend::<$ours>::default().name());
            let version = format!("{version}, {}", rustcrypto_modes());
            let mut wide = |mode, run| add(&name, &version, $cipher, mode, run);
            let cipher = $ours::new(&KEY.into());
            let key = cipher.clone();
            wide("ctr", Box::new(move |data| rustcrypto_ctr!($ctr, $ours, &key, IV, data)));
            let key = cipher.clone();
            wide("cbc-decrypt", Box::new(move |data| rustcrypto_cbc!(Decryptor, decrypt_blocks, &key, IV, data)));
            wide("cmac", Box::new(move |data| rustcrypto_cmac!(&cipher, data)));

            let version = format!("{}, {}", $theirs_version, rustcrypto_modes());
            let mut theirs = |mode, run| add("RustCrypto", &version, $cipher, mode, run);
            let cipher = <$theirs>::new(&KEY.into());
            let key = cipher.clone();
            theirs("ecb", Box::new(move |data| key.encrypt_blocks(Array::slice_as_chunks_mut(data).0)));
            let key = cipher.clone();
            theirs("ctr", Box::new(move |data| rustcrypto_ctr!($ctr, $theirs, &key, IV, data)));
            let key = cipher.clone();
            theirs("cbc", Box::new(move |data| rustcrypto_cbc!(Encryptor, encrypt_blocks, &key, IV, data)));
            let key = cipher.clone();
            theirs("cbc-decrypt", Box::new(move |data| rustcrypto_cbc!(Decryptor, decrypt_blocks, &key, IV, data)));
            theirs("cmac", Box::new(move |data| rustcrypto_cmac!(&cipher, data)));

            use mgm::aead::{AeadInPlace, NewAead};
            let mgm = mgm::Mgm::<$theirs_mgm>::new(&KEY.into());
            add(
                "RustCrypto",
                &$mgm_version,
                $cipher,
                "mgm",
                Box::new(move |data| {
                    black_box(mgm.encrypt_in_place_detached(&IV.into(), b"", data).expect("a short message"));
                }),
            );
        }
    };
}

fn rustcrypto_modes() -> String {
    [locked("ctr", "0.10"), locked("cbc", "0.2"), locked("cmac", "0.8")].join(", ")
}

rows!(
    kuznyechik_rows,
    "kuznyechik",
    Kuznyechik,
    kuznyechik::Kuznyechik,
    locked("kuznyechik", "0.9"),
    old_kuznyechik::Kuznyechik,
    [locked("kuznyechik", "0.7"), locked("mgm", "0.4")].join(", "),
    16,
    8,
    Ctr64BE
);

rows!(
    magma_rows,
    "magma",
    Magma,
    magma::Magma,
    locked("magma", "0.10"),
    old_magma::Magma,
    [locked("magma", "0.7"), locked("mgm", "0.4")].join(", "),
    8,
    4,
    Ctr32BE
);

fn main() {
    // Cargo adds --bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rounds: usize = std::env::var("KUZMA_BENCH_ROUNDS").map_or(40, |text| text.parse().expect("a number"));
    assert!(rounds > 0, "KUZMA_BENCH_ROUNDS is at least 1");
    let mut rows: Vec<Row> = Vec::new();
    for bytes in MESSAGE_BYTES {
        let mut add = |implementation: &str, version: &str, cipher, mode, run| {
            rows.push(Row {
                implementation: implementation.to_owned(),
                version: version.to_owned(),
                cipher,
                mode,
                message: vec![0x5a; bytes],
                run,
                calls: 0,
                samples: Vec::with_capacity(rounds),
            });
        };
        kuznyechik_rows(&mut add);
        magma_rows(&mut add);
    }
    rows.retain(|row| words.is_empty() || words.iter().any(|word| row.name().contains(word.as_str())));

    rows.iter_mut().for_each(Row::calibrate);
    let mut clock = Vec::with_capacity(rounds);
    for round in 0..rounds {
        clock.push(clock_hz());
        // Steps of a size that has no divisor in common with their number come by every row once.
        let count = rows.len();
        let stride = (1 + round..).find(|stride| greatest_common_divisor(*stride, count) == 1).unwrap_or(1);
        for step in 0..count {
            rows[(round + step * stride) % count].sample();
        }
    }
    println!("{}", json!({ "clock_hz": quantile(&sorted(&clock), 0.5), "samples": clock }));
    rows.iter().for_each(Row::print);
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
