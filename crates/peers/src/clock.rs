//! The core's clock and the thread's own time.

use std::time::Instant;

/// Processor time of this thread, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// In cycles a second: the fastest of many short chains of rotations and additions modulo 2, each of which waits for the
/// one before and takes one cycle on the processors of today.
pub(crate) fn estimate_hz() -> f64 {
    const BURSTS: usize = 200;
    const STEPS: u64 = 10_000;
    (0..BURSTS)
        .map(|_| {
            let (begin, mut chain) = (Instant::now(), std::hint::black_box(1u64));
            for step in 0..STEPS {
                chain = chain.rotate_left(5) ^ step;
            }
            std::hint::black_box(chain);
            (2 * STEPS) as f64 / begin.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}
