//! Which character has which code.

use core::ffi::{CStr, c_char};
use core::fmt;
use core::ops::Deref;

use crate::ffi;

/// A table of characters and codes. Some characters share a code, and decoding gives the first: X and × in `Itu`, Е and Ё in `Russian`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// Recommendation ITU-R M.1677-1.
    #[default]
    Itu,
    /// That, and marks that are in use but in no recommendation: `! & ; _ $`.
    ItuExtended,
    /// The Russian code.
    Russian,
    /// That, and `+ & _ $`.
    RussianExtended,
}

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Itu, Self::ItuExtended, Self::Russian, Self::RussianExtended];

    /// `itu`, `itu-extended`, `ru` or `ru-extended`.
    pub fn name(self) -> &'static str {
        // SAFETY: the alphabet is one of the library's, which are never freed, and neither are their names, in ASCII.
        unsafe { CStr::from_ptr(ffi::morse_alphabet_name(self.ffi())) }.to_str().unwrap_or_default()
    }

    /// The code of a character, small letters like capitals; `None` for one that the alphabet lacks, and for a space and the end of a line.
    ///
    /// ```
    /// # use morse::Alphabet;
    /// assert_eq!(Alphabet::Itu.code('q').as_deref(), Some("--.-"));
    /// assert_eq!(Alphabet::Itu.code('Щ'), None);
    /// ```
    pub fn code(self, character: char) -> Option<Code> {
        let mut text = [0; ffi::ELEMENTS_MAX + 1];
        // SAFETY: the alphabet is valid, and the array is as long as the header says.
        let length = unsafe { ffi::morse_alphabet_code(self.ffi(), character.into(), &raw mut text) };
        (length > 0).then(|| Code { text: text.map(|byte| byte.cast_unsigned()), length })
    }

    /// The capital letter or mark that a code stands for.
    ///
    /// ```
    /// # use morse::Alphabet;
    /// assert_eq!(Alphabet::Russian.character("--.-"), Some('Щ'));
    /// assert_eq!(Alphabet::Russian.character("x"), None);
    /// ```
    pub fn character(self, code: &str) -> Option<char> {
        let mut text = [0 as c_char; ffi::ELEMENTS_MAX + 1];
        if code.len() > ffi::ELEMENTS_MAX {
            return None;
        }
        for (to, from) in text.iter_mut().zip(code.bytes()) {
            *to = from.cast_signed() as c_char;
        }
        // SAFETY: the alphabet is valid, and the text ends with a zero.
        let character = unsafe { ffi::morse_alphabet_character(self.ffi(), text.as_ptr()) };
        char::from_u32(character).filter(|&character| character != '\0')
    }

    pub(crate) fn ffi(self) -> *const ffi::Alphabet {
        // SAFETY: any index is allowed; those of this type are in the library's order, which a test sees by their names.
        unsafe { ffi::morse_alphabet_at(self as usize) }
    }
}

/// A code, as text of `.` and `-`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code {
    text: [u8; ffi::ELEMENTS_MAX + 1],
    length: usize,
}

impl Deref for Code {
    type Target = str;

    fn deref(&self) -> &str {
        str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}
