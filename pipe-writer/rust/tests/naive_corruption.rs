//! The example shows what it says: the naive bytes are wrong, and ours are right.
#![cfg(target_os = "linux")]

#[allow(dead_code)] // its main() is not needed here
#[path = "../examples/naive_corruption.rs"]
mod example;

#[test]
fn buffers_in_turn_corrupt_and_slabs_do_not() {
    assert!(example::linux::main().unwrap());
}
