#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod backend;
mod block;
pub mod cbc;
pub mod cfb;
mod ctr;
mod error;
mod ffi;
pub mod many;
mod mgm;
mod ofb;
mod omac;
mod state;

pub use aead;
pub use cipher;
pub use digest;

pub use crate::backend::{Backend, forbid_measuring, require_constant_time};
pub use crate::block::{Cipher, Kuznyechik, Magma};
pub use crate::ctr::{Ctr, CtrAcpkm};
pub use crate::error::Error;
pub use crate::mgm::{Mgm, MgmOpener, MgmSealer, MgmVerifier};
pub use crate::ofb::Ofb;
pub use crate::omac::{Omac, OmacAcpkm};
