//! The C library as `morse.h` declares it; the test below holds layouts and numbers against the header itself.

// The private fields are there for their size.
#![allow(dead_code)]

use core::ffi::{c_char, c_uint};

pub(crate) const ELEMENTS_MAX: usize = 8;
pub(crate) const ROOM_MIN: usize = 16;

pub(crate) type Status = c_uint;
pub(crate) const OK: Status = 0;
pub(crate) const ERROR_REPLACEMENT: Status = 3;
pub(crate) const ERROR_ORDER: Status = 4;
pub(crate) const ERROR_ROOM: Status = 5;
pub(crate) const ERROR_CHARACTER: Status = 6;
pub(crate) const ERROR_UTF8: Status = 7;
pub(crate) const ERROR_CODE: Status = 8;
pub(crate) const ERROR_BYTE: Status = 9;

/// `struct morse_alphabet`, which the header does not define.
#[repr(C)]
pub(crate) struct Alphabet {
    private: [u8; 0],
}

/// `struct morse_backend`, which the header does not define.
#[repr(C)]
pub(crate) struct Backend {
    private: [u8; 0],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Error {
    pub(crate) status: Status,
    pub(crate) offset: u64,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) length: u64,
    pub(crate) bytes: [u8; 16],
}

#[repr(C)]
pub(crate) struct Options {
    pub(crate) alphabet: *const Alphabet,
    pub(crate) backend: *const Backend,
    pub(crate) replacement: *const c_char,
}

#[derive(Clone)]
#[repr(C)]
struct Partial {
    bytes: [u8; 4],
    count: u8,
    wanted: u8,
}

#[derive(Clone)]
#[repr(C)]
pub(crate) struct Encoder {
    pub(crate) error: Error,
    pub(crate) replaced: u64,
    alphabet: *const Alphabet,
    backend: *const Backend,
    offset: u64,
    line: u64,
    column: u64,
    partial: Partial,
    replacement: u16,
    lenient: bool,
    space_due: bool,
    finished: bool,
}

#[derive(Clone)]
#[repr(C)]
pub(crate) struct Decoder {
    pub(crate) error: Error,
    pub(crate) replaced: u64,
    alphabet: *const Alphabet,
    backend: *const Backend,
    offset: u64,
    line: u64,
    line_start: u64,
    token_bytes: u64,
    partial: Partial,
    code: u16,
    token: [u8; 16],
    replacement: [u8; 4],
    replacement_bytes: u8,
    lenient: bool,
    finished: bool,
}

unsafe extern "C" {
    pub(crate) fn morse_alphabet_at(index: usize) -> *const Alphabet;
    pub(crate) fn morse_alphabet_name(alphabet: *const Alphabet) -> *const c_char;
    pub(crate) fn morse_alphabet_code(
        alphabet: *const Alphabet,
        code_point: u32,
        code: *mut [c_char; ELEMENTS_MAX + 1],
    ) -> usize;
    pub(crate) fn morse_alphabet_character(alphabet: *const Alphabet, code: *const c_char) -> u32;
    pub(crate) fn morse_status_text(status: Status) -> *const c_char;
    pub(crate) fn morse_encoder_init(encoder: *mut Encoder, options: *const Options) -> Status;
    pub(crate) fn morse_encoder_update(
        encoder: *mut Encoder,
        output: *mut u8,
        room: usize,
        written: *mut usize,
        input: *const u8,
        bytes: usize,
        read: *mut usize,
    ) -> Status;
    pub(crate) fn morse_encoder_finish(
        encoder: *mut Encoder,
        output: *mut u8,
        room: usize,
        written: *mut usize,
    ) -> Status;
    pub(crate) fn morse_decoder_init(decoder: *mut Decoder, options: *const Options) -> Status;
    pub(crate) fn morse_decoder_update(
        decoder: *mut Decoder,
        output: *mut u8,
        room: usize,
        written: *mut usize,
        input: *const u8,
        bytes: usize,
        read: *mut usize,
    ) -> Status;
    pub(crate) fn morse_decoder_finish(
        decoder: *mut Decoder,
        output: *mut u8,
        room: usize,
        written: *mut usize,
    ) -> Status;
    pub(crate) fn morse_encoded_max(bytes: usize) -> usize;
    pub(crate) fn morse_decoded_max(bytes: usize) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;
    use std::mem::{align_of, offset_of, size_of};

    #[repr(C)]
    struct Fact {
        name: *const c_char,
        value: usize,
    }

    unsafe extern "C" {
        /// Ends with a null name; src/layout.c.
        static morse_layout: [Fact; 0];
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
            Error = "morse_error" { status, offset, line, column, length, bytes }
            Options = "morse_options" { alphabet, backend, replacement }
            Encoder = "morse_encoder" { error, replaced }
            Decoder = "morse_decoder" { error, replaced }
        };
        ours.extend([
            ("sizeof enum morse_status", size_of::<Status>()),
            ("MORSE_ELEMENTS_MAX", ELEMENTS_MAX),
            ("MORSE_ROOM_MIN", ROOM_MIN),
            ("MORSE_OK", OK as usize),
            ("MORSE_ERROR_REPLACEMENT", ERROR_REPLACEMENT as usize),
            ("MORSE_ERROR_ORDER", ERROR_ORDER as usize),
            ("MORSE_ERROR_ROOM", ERROR_ROOM as usize),
            ("MORSE_ERROR_CHARACTER", ERROR_CHARACTER as usize),
            ("MORSE_ERROR_UTF8", ERROR_UTF8 as usize),
            ("MORSE_ERROR_CODE", ERROR_CODE as usize),
            ("MORSE_ERROR_BYTE", ERROR_BYTE as usize),
        ]);
        let mut theirs = Vec::new();
        let mut fact = &raw const morse_layout as *const Fact;
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
