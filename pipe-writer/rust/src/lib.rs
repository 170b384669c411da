#![doc = include_str!("../README.md")]
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod constant;
mod ffi;
mod options;
mod writer;

pub use crate::constant::Constant;
pub use crate::options::{Options, Policy};
pub use crate::writer::{PipeWriter, Slab, Statistics};

use std::io;

/// What a function of the C library returned.
fn check(errno: std::ffi::c_int) -> io::Result<()> {
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}
