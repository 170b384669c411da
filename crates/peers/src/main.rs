//! Other people's Kuznyechik and Magma as an instrument of `stend`: the RustCrypto crates, and kuzma through the same
//! traits. One invocation is one repeat, printed as docs/reference/instruments.md has it.
//!
//! `stend-peers IMPLEMENTATION CIPHER MODE SIZE SECONDS`, for example `stend-peers rustcrypto magma ctr 16384 0.1`.

mod clock;
mod work;

use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

/// Passes between two looks at the clock go over so many bytes.
const BYTES_BETWEEN_LOOKS: usize = 65536;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("stend-peers: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let [implementation, cipher, mode, size, seconds] = words else {
        return Err("wants five words: IMPLEMENTATION CIPHER MODE SIZE SECONDS".into());
    };
    let bytes: usize = size.parse().map_err(|_| format!("{size}: no number of bytes"))?;
    if bytes == 0 || !bytes.is_multiple_of(16) {
        return Err(format!("{size}: must be a multiple of 16 bytes"));
    }
    let seconds: f64 = seconds.parse().map_err(|_| format!("{seconds}: no number of seconds"))?;
    let mut pass = work::find(implementation, cipher, mode, bytes)?;

    println!(
        "{}",
        json!({"event": "begin", "wire": 1, "instrument": "stend-peers", "version": env!("CARGO_PKG_VERSION"),
            "parameters": {"implementation": implementation, "cipher": cipher, "mode": mode, "size": bytes}})
    );
    (pass.pass)();
    let before = clock::estimate_hz();
    let (cpu, begin, mut passes) = (clock::thread_cpu_ns(), Instant::now(), 0u64);
    while begin.elapsed().as_secs_f64() < seconds {
        for _ in 0..BYTES_BETWEEN_LOOKS.div_ceil(bytes) {
            (pass.pass)();
            passes += 1;
        }
    }
    let (wall_ns, cpu_ns) = (begin.elapsed().as_nanos() as u64, clock::thread_cpu_ns() - cpu);
    let after = clock::estimate_hz();
    let mut observed = serde_json::Map::new();
    if (before - after).abs() < 0.02 * before {
        observed.insert("clock_hz".into(), json!((before + after) / 2.0));
    }
    let right = (pass.check)();
    println!(
        "{}",
        json!({"event": "repeat", "n": 0, "wall_ns": wall_ns, "cpu_ns": cpu_ns,
            "work": {"bytes": passes * bytes as u64, "operations": passes}, "observed": observed,
            "check": if right { "passed" } else { "failed" }, "evidence": pass.evidence})
    );
    println!("{}", json!({"event": "end", "repeats": 1}));
    Ok(())
}
