//! What cannot be coded, and where it is.

use core::ffi::CStr;
use core::fmt;

use crate::ffi;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The replacement is no character of the alphabet.
    Replacement,
    /// A call after finish.
    Order,
    /// The output does not fit.
    Room,
    /// The alphabet lacks this character.
    Character,
    /// The text is no UTF-8.
    Utf8,
    /// The alphabet has no character with this code.
    Code,
    /// Neither `.`, `-`, `/`, a space nor the end of a line.
    Byte,
    /// A status that this crate does not know.
    Other,
}

/// What went wrong; and, where input could not be coded, the place of it, which does not depend on how the input was cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    status: ffi::Status,
    place: ffi::Error,
}

impl Error {
    pub(crate) fn of(status: ffi::Status, coder: &ffi::Error) -> Self {
        let nowhere = ffi::Error { status, offset: 0, line: 0, column: 0, length: 0, bytes: [0; 16] };
        Self { status, place: if coder.status == status { *coder } else { nowhere } }
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self.status {
            ffi::ERROR_REPLACEMENT => ErrorKind::Replacement,
            ffi::ERROR_ORDER => ErrorKind::Order,
            ffi::ERROR_ROOM => ErrorKind::Room,
            ffi::ERROR_CHARACTER => ErrorKind::Character,
            ffi::ERROR_UTF8 => ErrorKind::Utf8,
            ffi::ERROR_CODE => ErrorKind::Code,
            ffi::ERROR_BYTE => ErrorKind::Byte,
            _ => ErrorKind::Other,
        }
    }

    /// Where the first byte is that cannot be coded, from 0.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Its line, from 1; 0 if no input is at fault.
    pub fn line(&self) -> u64 {
        self.place.line
    }

    /// Its column, from 1, in characters; 0 if no input is at fault.
    pub fn column(&self) -> u64 {
        self.place.column
    }

    /// How long it is: a character, bytes that are no UTF-8, or a code.
    pub fn length(&self) -> u64 {
        self.place.length
    }

    /// The beginning of it, at most 16 bytes.
    pub fn bytes(&self) -> &[u8] {
        let length = usize::try_from(self.place.length).unwrap_or(usize::MAX);
        &self.place.bytes[..length.min(self.place.bytes.len())]
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the text of any status is constant, in ASCII, and ends with a zero.
        let text = unsafe { CStr::from_ptr(ffi::morse_status_text(self.status)) };
        if self.place.line > 0 {
            write!(formatter, "line {}, column {}: ", self.place.line, self.place.column)?;
        }
        formatter.write_str(text.to_str().unwrap_or_default())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error({:?}, \"{self}\")", self.kind())
    }
}

impl core::error::Error for Error {}
