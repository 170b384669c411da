//! Coding in pieces and in one call.

use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::ptr;

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::ffi;

/// What an update has done. If not all was read, there was no more room: the rest is for another call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input.
    pub read: usize,
    /// Bytes of the output.
    pub written: usize,
}

macro_rules! coder {
    ($(#[$attribute:meta])* $name:ident, $lossy:literal, $init:ident, $update:ident, $finish:ident) => {
        $(#[$attribute])*
        #[derive(Clone)]
        pub struct $name(ffi::$name);

        // SAFETY: the pointers in it are to constants of the library.
        unsafe impl Send for $name {}
        // SAFETY: as above; nothing is changed by way of a shared reference.
        unsafe impl Sync for $name {}

        impl $name {
            /// A strict one: the first thing that cannot be coded is an error, and ends it.
            pub fn new(alphabet: Alphabet) -> Self {
                match Self::init(alphabet, ptr::null()) {
                    Ok(coder) => coder,
                    Err(error) => unreachable!("an alphabet and the default backend: {error}"),
                }
            }

            /// A lenient one: `replacement` stands for each thing that cannot be coded, `None` for nothing.
            ///
            /// # Errors
            #[doc = $lossy]
            pub fn lossy(alphabet: Alphabet, replacement: Option<char>) -> Result<Self, Error> {
                let mut text = [0; 5];
                if let Some(character) = replacement {
                    // One of four bytes leaves the zero that ends it.
                    character.encode_utf8(&mut text);
                }
                Self::init(alphabet, text.as_ptr().cast())
            }

            fn init(alphabet: Alphabet, replacement: *const c_char) -> Result<Self, Error> {
                let options = ffi::Options { alphabet: alphabet.ffi(), backend: ptr::null(), replacement };
                let mut coder = MaybeUninit::<ffi::$name>::zeroed();
                // SAFETY: alphabet and replacement are valid, and no backend is the default one. The coder keeps no pointer to either
                // the options or the replacement.
                let status = unsafe { ffi::$init(coder.as_mut_ptr(), &raw const options) };
                // SAFETY: all its fields may be zero, and were made so; init writes them.
                let coder = unsafe { coder.assume_init() };
                if status == ffi::OK { Ok(Self(coder)) } else { Err(Error::of(status, &coder.error)) }
            }

            /// The next bytes of the input, cut anywhere.
            ///
            /// # Errors
            /// What cannot be coded; what stands before it has been written. Any later call gives the same error.
            pub fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
                let mut progress = Progress { read: 0, written: 0 };
                // SAFETY: both slices are valid for their lengths, and do not overlap.
                let status = unsafe {
                    ffi::$update(
                        &raw mut self.0,
                        output.as_mut_ptr(),
                        output.len(),
                        &raw mut progress.written,
                        input.as_ptr(),
                        input.len(),
                        &raw mut progress.read,
                    )
                };
                if status == ffi::OK { Ok(progress) } else { Err(Error::of(status, &self.0.error)) }
            }

            /// The input is complete: writes what was held back, and tells how much that is.
            ///
            /// # Errors
            /// The input ends within something; or [`Room`](crate::ErrorKind::Room), and the call is to be repeated with more.
            pub fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
                let (mut written, room) = (0, output.len());
                // SAFETY: the slice is valid for its length.
                let status = unsafe { ffi::$finish(&raw mut self.0, output.as_mut_ptr(), room, &raw mut written) };
                if status == ffi::OK { Ok(written) } else { Err(Error::of(status, &self.0.error)) }
            }

            /// How often the replacement stood in.
            pub fn replaced(&self) -> u64 {
                self.0.replaced
            }

            fn whole(mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
                let progress = self.update(input, output)?;
                if progress.read < input.len() {
                    return Err(Error::of(ffi::ERROR_ROOM, &self.0.error));
                }
                Ok(progress.written + self.finish(&mut output[progress.written..])?)
            }
        }
    };
}

coder!(
    /// Text to code.
    Encoder,
    "[`Replacement`](crate::ErrorKind::Replacement): the alphabet has no code for it, and it is no space.",
    morse_encoder_init,
    morse_encoder_update,
    morse_encoder_finish
);
coder!(
    /// Code to text, in capitals.
    Decoder,
    "None that is known: any character will do.",
    morse_decoder_init,
    morse_decoder_update,
    morse_decoder_finish
);

/// A whole text; tells how many bytes of the output it took.
///
/// # Errors
/// What cannot be coded; or [`Room`](crate::ErrorKind::Room): [`encoded_max`] is enough.
pub fn encode(alphabet: Alphabet, text: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    Encoder::new(alphabet).whole(text, output)
}

/// A whole code; tells how many bytes of the output its text took.
///
/// # Errors
/// What cannot be decoded; or [`Room`](crate::ErrorKind::Room): [`decoded_max`] is enough.
pub fn decode(alphabet: Alphabet, code: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    Decoder::new(alphabet).whole(code, output)
}

/// The most that the code of so many bytes takes; [`usize::MAX`] if that is more than can be counted.
pub fn encoded_max(bytes: usize) -> usize {
    // SAFETY: it takes any number.
    unsafe { ffi::morse_encoded_max(bytes) }
}

/// The most that the text of so many bytes of code takes; [`usize::MAX`] if that is more than can be counted.
pub fn decoded_max(bytes: usize) -> usize {
    // SAFETY: it takes any number.
    unsafe { ffi::morse_decoded_max(bytes) }
}
