//! Many messages at once, under one key, in the modes in which each block waits for the one before.
//!
//! The messages go through the cipher side by side, several times as fast as one after the other. Lengths may differ; a
//! message that ends makes room for the next. The results are those of [`cbc`](crate::cbc), [`cfb`](crate::cfb),
//! [`Ofb`](crate::Ofb) and [`Omac`](crate::Omac) for each message by itself, with a register of one block.
//!
//! ```
//! use kuzma::cipher::KeyInit;
//! use kuzma::{Kuznyechik, many};
//!
//! let cipher = Kuznyechik::new(&[0x42; 32].into());
//! let mut ivs = [[1; 16].into(), [2; 16].into(), [3; 16].into()];
//! let mut texts = [vec![0u8; 160], vec![0u8; 1600], vec![0u8; 16]];
//!
//! let mut messages: Vec<_> = texts
//!     .iter_mut()
//!     .zip(&mut ivs)
//!     .map(|(text, iv)| many::Message::new(&mut text[..], iv))
//!     .collect();
//! many::cbc_encrypt(&cipher, &mut messages)?;
//!
//! let mut tags = [[0; 16].into(); 3];
//! let mut messages: Vec<_> =
//!     texts.iter().zip(&mut tags).map(|(text, tag)| many::MacMessage::new(text, tag)).collect();
//! many::omac(&cipher, &mut messages);
//! # Ok::<(), kuzma::Error>(())
//! ```

use core::marker::PhantomData;
use core::ptr;

use cipher::Block;
use cipher::inout::InOutBuf;

use crate::block::Cipher;
use crate::error::check;
use crate::{Error, ffi};

/// A message to encrypt, with its initial value: one block, which CBC leaves as the last block of ciphertext, so that
/// the next call may go on with the message; CFB and OFB leave it alone.
#[repr(transparent)]
pub struct Message<'a, C: Cipher> {
    raw: ffi::Message,
    buffers: PhantomData<(&'a mut [u8], &'a mut Block<C>)>,
}

impl<'a, C: Cipher> Message<'a, C> {
    /// In place, from `&mut [u8]`; or from one buffer to another, from an [`InOutBuf`].
    pub fn new(buffer: impl Into<InOutBuf<'a, 'a, u8>>, iv: &'a mut Block<C>) -> Self {
        let buffer = buffer.into();
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        Self { raw: ffi::Message { output, input, bytes, iv: iv.as_mut_ptr() }, buffers: PhantomData }
    }
}

// SAFETY: it is two exclusive borrows of bytes, and perhaps a shared one.
unsafe impl<C: Cipher> Send for Message<'_, C> {}
// SAFETY: a shared reference to it allows nothing.
unsafe impl<C: Cipher> Sync for Message<'_, C> {}

/// A message to authenticate, and where its tag goes.
#[repr(transparent)]
pub struct MacMessage<'a, C: Cipher> {
    raw: ffi::Message,
    buffers: PhantomData<(&'a [u8], &'a mut Block<C>)>,
}

impl<'a, C: Cipher> MacMessage<'a, C> {
    /// `tag` is written by [`omac`].
    pub fn new(data: &'a [u8], tag: &'a mut Block<C>) -> Self {
        let raw =
            ffi::Message { output: tag.as_mut_ptr(), input: data.as_ptr(), bytes: data.len(), iv: ptr::null_mut() };
        Self { raw, buffers: PhantomData }
    }
}

// SAFETY: it is a shared and an exclusive borrow of bytes.
unsafe impl<C: Cipher> Send for MacMessage<'_, C> {}
// SAFETY: a shared reference to it allows nothing.
unsafe impl<C: Cipher> Sync for MacMessage<'_, C> {}

/// CBC with a register of one block, GOST R 34.13-2015 section 5.4.
///
/// # Errors
///
/// [`Error::Length`]: a message is not a whole number of blocks. All are looked at before any is begun.
pub fn cbc_encrypt<C: Cipher>(cipher: &C, messages: &mut [Message<'_, C>]) -> Result<(), Error> {
    // SAFETY: a context with a key. A Message is the C struct; its buffers are exclusive to it, so that no two overlap.
    check(unsafe { ffi::kuzma_cbc_encrypt_many(cipher.context(), messages.as_mut_ptr().cast(), messages.len()) })
}

/// CFB with a register of one block and s = n, GOST R 34.13-2015 section 5.5.
pub fn cfb_encrypt<C: Cipher>(cipher: &C, messages: &mut [Message<'_, C>]) {
    // SAFETY: as in `cbc_encrypt`.
    let done = unsafe { ffi::kuzma_cfb_encrypt_many(cipher.context(), messages.as_mut_ptr().cast(), messages.len()) };
    check(done).expect("any lengths will do");
}

/// OFB with a register of one block and s = n, GOST R 34.13-2015 section 5.3; encrypts and decrypts.
pub fn ofb_apply<C: Cipher>(cipher: &C, messages: &mut [Message<'_, C>]) {
    // SAFETY: as in `cbc_encrypt`.
    let done = unsafe { ffi::kuzma_ofb_xor_many(cipher.context(), messages.as_mut_ptr().cast(), messages.len()) };
    check(done).expect("any lengths will do");
}

/// The MAC of GOST R 34.13-2015 section 5.6, whole blocks of tag.
pub fn omac<C: Cipher>(cipher: &C, messages: &mut [MacMessage<'_, C>]) {
    let tag_bytes = size_of::<Block<C>>();
    // SAFETY: as in `cbc_encrypt`, and each tag is a block.
    let done =
        unsafe { ffi::kuzma_mac_many(cipher.context(), messages.as_mut_ptr().cast(), messages.len(), tag_bytes) };
    check(done).expect("any lengths will do");
}
