use core::ffi::CStr;
use core::fmt;

use crate::ffi;

/// Why a call failed. What failed has written nothing and changed no state.
///
/// These are the errors of the C library. [`Argument`](Error::Argument), [`Overlap`](Error::Overlap) and
/// [`Context`](Error::Context) speak of null pointers, buffers and lifetimes, which this crate's types keep right; they
/// are here so that nothing has to be guessed should one come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// A null pointer, or a value out of range.
    Argument,
    /// Data or a section is not a whole number of blocks, is empty where that is not allowed, or is not all that was
    /// verified; or two buffers that belong together differ in length.
    Length,
    /// The key is not 32 bytes long.
    Key,
    /// The register, initial value or nonce has the wrong length, or the nonce of MGM has its first bit set.
    Iv,
    /// Output overlaps input without being the same buffer, or another message's buffers.
    Overlap,
    /// The backend cannot run on this processor, or is not constant-time and that is required.
    Backend,
    /// The context or state was not initialised, or was wiped.
    Context,
    /// The message would be longer than the mode allows under one key and nonce.
    Limit,
    /// The call does not fit what was called before: data after the end, for example.
    Order,
    /// The tag is shorter than 4 bytes or longer than a block.
    TagLength,
    /// The tag is not the tag of this message: it was forged or damaged.
    Tag,
}

/// A status of the C library as a result.
pub(crate) fn check(status: ffi::Status) -> Result<(), Error> {
    Err(match status {
        ffi::OK => return Ok(()),
        ffi::ERROR_ARGUMENT => Error::Argument,
        ffi::ERROR_LENGTH => Error::Length,
        ffi::ERROR_KEY => Error::Key,
        ffi::ERROR_IV => Error::Iv,
        ffi::ERROR_OVERLAP => Error::Overlap,
        ffi::ERROR_BACKEND => Error::Backend,
        ffi::ERROR_CONTEXT => Error::Context,
        ffi::ERROR_LIMIT => Error::Limit,
        ffi::ERROR_ORDER => Error::Order,
        ffi::ERROR_TAG_LENGTH => Error::TagLength,
        ffi::ERROR_TAG => Error::Tag,
        other => unreachable!("kuzma.h has no status {other}"),
    })
}

impl Error {
    fn status(self) -> ffi::Status {
        match self {
            Self::Argument => ffi::ERROR_ARGUMENT,
            Self::Length => ffi::ERROR_LENGTH,
            Self::Key => ffi::ERROR_KEY,
            Self::Iv => ffi::ERROR_IV,
            Self::Overlap => ffi::ERROR_OVERLAP,
            Self::Backend => ffi::ERROR_BACKEND,
            Self::Context => ffi::ERROR_CONTEXT,
            Self::Limit => ffi::ERROR_LIMIT,
            Self::Order => ffi::ERROR_ORDER,
            Self::TagLength => ffi::ERROR_TAG_LENGTH,
            Self::Tag => ffi::ERROR_TAG,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the function gives a literal for any number.
        let text = unsafe { CStr::from_ptr(ffi::kuzma_status_text(self.status())) };
        f.write_str(text.to_str().map_err(|_| fmt::Error)?)
    }
}

impl core::error::Error for Error {}

/// The traits of `aead` tell nothing of what was wrong, on purpose.
impl From<Error> for aead::Error {
    fn from(_: Error) -> Self {
        Self
    }
}

/// Lengths of buffers that belong together.
impl From<cipher::inout::NotEqualError> for Error {
    fn from(_: cipher::inout::NotEqualError) -> Self {
        Self::Length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_its_status_and_has_a_text_of_its_own() {
        let mut texts: Vec<_> = (1..=ffi::ERROR_TAG)
            .map(|status| {
                let error = check(status).unwrap_err();
                assert_eq!(error.status(), status);
                error.to_string()
            })
            .collect();
        assert!(texts.contains(&"the tag is not the tag of this message".to_owned()), "{texts:?}");
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), 11);
        assert_eq!(check(ffi::OK), Ok(()));
    }
}
