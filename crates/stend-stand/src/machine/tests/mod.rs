//! The whole way from a machine's files to its fingerprint, on machines of several architectures.

mod check;
mod fixture;
mod machines;
mod rubbish;
