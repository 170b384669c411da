//! The C library as `pipe_writer.h` declares it; the test below holds layouts and numbers against the header itself.

use std::ffi::{c_int, c_uint, c_void};

pub(crate) type Policy = c_uint;
pub(crate) const FRESH: Policy = 0;
pub(crate) const RING: Policy = 1;
pub(crate) const WRITE: Policy = 2;

/// `struct pipe_writer`, which the header does not define.
#[repr(C)]
pub(crate) struct Writer {
    private: [u8; 0],
}

/// `struct pipe_writer_constant`, which the header does not define.
#[repr(C)]
pub(crate) struct Constant {
    private: [u8; 0],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Options {
    pub(crate) policy: Policy,
    pub(crate) chunk_bytes: usize,
    pub(crate) pipe_bytes: usize,
    pub(crate) strict: bool,
    pub(crate) no_wait: bool,
    pub(crate) trap: bool,
    pub(crate) small_pages: bool,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Slab {
    pub(crate) data: *mut u8,
    pub(crate) bytes: usize,
}

#[repr(C)]
pub(crate) struct Statistics {
    pub(crate) bytes_spliced: u64,
    pub(crate) bytes_written: u64,
    pub(crate) bytes_teed: u64,
    pub(crate) splices: u64,
    pub(crate) regions: u64,
    pub(crate) pages_again: u64,
    pub(crate) not_again: u64,
}

unsafe extern "C" {
    pub(crate) fn pipe_writer_open(writer: *mut *mut Writer, descriptor: c_int, options: *const Options) -> c_int;
    pub(crate) fn pipe_writer_reserve(writer: *mut Writer, bytes: usize, slab: *mut Slab) -> c_int;
    pub(crate) fn pipe_writer_commit(writer: *mut Writer, slab: *mut Slab, bytes: usize) -> c_int;
    pub(crate) fn pipe_writer_write(writer: *mut Writer, data: *const c_void, bytes: usize, sent: *mut usize) -> c_int;
    pub(crate) fn pipe_writer_flush(writer: *mut Writer) -> c_int;
    pub(crate) fn pipe_writer_constant_open(constant: *mut *mut Constant, data: *const c_void, bytes: usize) -> c_int;
    pub(crate) fn pipe_writer_constant_close(constant: *mut *mut Constant);
    pub(crate) fn pipe_writer_repeat(
        writer: *mut Writer,
        constant: *mut Constant,
        offset: u64,
        bytes: u64,
        sent: *mut u64,
    ) -> c_int;
    pub(crate) fn pipe_writer_policy(writer: *const Writer) -> Policy;
    pub(crate) fn pipe_writer_chunk_bytes(writer: *const Writer) -> usize;
    pub(crate) fn pipe_writer_pipe_bytes(writer: *const Writer) -> usize;
    pub(crate) fn pipe_writer_statistics(writer: *const Writer) -> Statistics;
    pub(crate) fn pipe_writer_close(writer: *mut *mut Writer) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, c_char};
    use std::mem::{align_of, offset_of, size_of};

    #[repr(C)]
    struct Fact {
        name: *const c_char,
        value: usize,
    }

    unsafe extern "C" {
        /// Ends with a null name; src/layout.c.
        static pipe_writer_layout: [Fact; 0];
    }

    macro_rules! layout {
        ($($rust:ident = $c:literal { $($field:ident),* })*) => {
            vec![$(
                (concat!("sizeof ", $c), size_of::<$rust>()),
                (concat!("_Alignof ", $c), align_of::<$rust>()),
                $((concat!($c, ".", stringify!($field)), offset_of!($rust, $field)),)*
            )*]
        };
    }

    #[test]
    fn the_declarations_are_those_of_the_header() {
        let mut ours: Vec<(&str, usize)> = layout! {
            Options = "pipe_writer_options" { policy, chunk_bytes, pipe_bytes, strict, no_wait, trap, small_pages }
            Slab = "pipe_writer_slab" { data, bytes }
            Statistics = "pipe_writer_statistics" {
                bytes_spliced, bytes_written, bytes_teed, splices, regions, pages_again, not_again
            }
        };
        ours.extend([
            ("sizeof enum pipe_writer_policy", size_of::<Policy>()),
            ("PIPE_WRITER_FRESH", FRESH as usize),
            ("PIPE_WRITER_RING", RING as usize),
            ("PIPE_WRITER_WRITE", WRITE as usize),
        ]);
        let mut theirs = Vec::new();
        let mut fact = &raw const pipe_writer_layout as *const Fact;
        // SAFETY: the list is constant, its names are literals, and its last name is null.
        unsafe {
            while !(*fact).name.is_null() {
                theirs.push((CStr::from_ptr((*fact).name).to_str().unwrap(), (*fact).value));
                fact = fact.add(1);
            }
        }
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
    }
}
