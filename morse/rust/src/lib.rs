#![warn(missing_docs)]
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]

mod alphabet;
mod coder;
mod error;
mod ffi;

pub use crate::alphabet::{Alphabet, Code};
pub use crate::coder::{Decoder, Encoder, Progress, decode, decoded_max, encode, encoded_max};
pub use crate::error::{Error, ErrorKind};

/// The longest code: elements of one character.
pub const ELEMENTS_MAX: usize = ffi::ELEMENTS_MAX;
/// With this much room every update reads something, and finish never lacks room.
pub const ROOM_MIN: usize = ffi::ROOM_MIN;
