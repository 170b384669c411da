use core::fmt;
use core::marker::PhantomData;

use cipher::common::{InnerInit, InnerUser};
use cipher::{BlockSizeUser, Key, KeySizeUser};
use digest::{FixedOutput, FixedOutputReset, MacMarker, Output, OutputSizeUser, Reset, Update};

use crate::block::Cipher;
use crate::error::check;
use crate::state::{Bound, Wiped};
use crate::{Backend, Error, ffi};

/// The MAC of GOST R 34.13-2015 section 5.6, known as OMAC1 and CMAC too (RFC 4493).
///
/// The tag is a block; [`digest::Mac`] has its uses and the comparison that tells no time. The standard allows it to be
/// cut to its first bytes: `verify_truncated_left`, or [`Omac::verify_tag`], which insists on four.
///
/// ```
/// use kuzma::digest::{KeyInit, Mac};
/// use kuzma::{Kuznyechik, Omac};
///
/// let mut mac = Omac::<Kuznyechik>::new(&[0x42; 32].into());
/// mac.update(b"in pieces ");
/// mac.update(b"of any length");
/// let tag = mac.finalize().into_bytes();
/// assert_eq!(tag.len(), 16);
/// ```
#[derive(Clone)]
pub struct Omac<C: Cipher> {
    state: Bound<C, ffi::Mac>,
}

impl<C: Cipher> Omac<C> {
    /// Compares with the first bytes of the tag, in a time that does not depend on the content.
    ///
    /// # Errors
    ///
    /// [`Error::Tag`]: it is another. [`Error::TagLength`]: fewer than 4 bytes, or more than a block.
    pub fn verify_tag(mut self, tag: &[u8]) -> Result<(), Error> {
        // SAFETY: the state is whole, and the length is that of the tag.
        self.state.call(|state| unsafe { ffi::kuzma_mac_verify(state, tag.as_ptr(), tag.len()) })
    }

    fn finish(&mut self, tag: &mut Output<Self>) {
        // SAFETY: the state is whole, and the length is that of the tag.
        let done = self.state.call(|state| unsafe { ffi::kuzma_mac_final(state, tag.as_mut_ptr(), tag.len()) });
        done.expect("a MAC that was not finished before");
    }
}

impl<C: Cipher> InnerUser for Omac<C> {
    type Inner = C;
}

impl<C: Cipher> InnerInit for Omac<C> {
    fn inner_init(cipher: C) -> Self {
        // SAFETY: the library is given a context with a key.
        let state = Bound::new(cipher, |state, context| unsafe { ffi::kuzma_mac_init(state, context) });
        Self { state: state.expect("a cipher with a key") }
    }
}

impl<C: Cipher> OutputSizeUser for Omac<C> {
    type OutputSize = <C as BlockSizeUser>::BlockSize;
}

impl<C: Cipher> Update for Omac<C> {
    fn update(&mut self, data: &[u8]) {
        // SAFETY: the state is whole, and the length is that of the data.
        let done = self.state.call(|state| unsafe { ffi::kuzma_mac_update(state, data.as_ptr(), data.len()) });
        done.expect("a MAC that was not finished before");
    }
}

impl<C: Cipher> FixedOutput for Omac<C> {
    fn finalize_into(mut self, tag: &mut Output<Self>) {
        self.finish(tag);
    }
}

impl<C: Cipher> Reset for Omac<C> {
    fn reset(&mut self) {
        // SAFETY: the library is given a context with a key.
        let done = self.state.renew(|state, context| unsafe { ffi::kuzma_mac_init(state, context) });
        done.expect("a cipher with a key");
    }
}

impl<C: Cipher> FixedOutputReset for Omac<C> {
    fn finalize_into_reset(&mut self, tag: &mut Output<Self>) {
        self.finish(tag);
        Reset::reset(self);
    }
}

impl<C: Cipher> MacMarker for Omac<C> {}

impl<C: Cipher> fmt::Debug for Omac<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Omac").finish_non_exhaustive()
    }
}

/// OMAC-ACPKM, R 1323565.1.017-2018 section 4.2 and RFC 8645 section 6.3.6: [`Omac`] whose key changes after each
/// section; the keys are cut from a keystream of CTR-ACPKM under the initial key, which has sections of its own.
#[derive(Clone)]
pub struct OmacAcpkm<C: Cipher> {
    state: Wiped<ffi::MacAcpkm>,
    cipher: PhantomData<fn() -> C>,
}

impl<C: Cipher + KeySizeUser> OmacAcpkm<C> {
    /// `section` is the number of bytes of the message under each key, `key_section` (T* in the documents) that of the
    /// keystream that the keys are cut from.
    ///
    /// # Errors
    ///
    /// [`Error::Length`]: one of them is 0 or not a whole number of blocks.
    pub fn new(key: &Key<C>, section: u64, key_section: u64) -> Result<Self, Error> {
        Self::with_backend(Backend::default(), key, section, key_section)
    }

    /// The same with a backend of one's choice.
    ///
    /// # Errors
    ///
    /// As in [`new`](Self::new), and [`Error::Backend`].
    pub fn with_backend(backend: Backend<C>, key: &Key<C>, section: u64, key_section: u64) -> Result<Self, Error> {
        let (backend, key_bytes, key) = (backend.as_raw(), key.len(), key.as_ptr());
        // SAFETY: the backend is of this cipher, and the length is that of the key. A success has written the whole state,
        // which begins as zeros.
        let state = unsafe {
            Wiped::make(|state| ffi::kuzma_mac_acpkm_init(state, backend, key, key_bytes, section, key_section))
        }?;
        Ok(Self { state, cipher: PhantomData })
    }
}

impl<C: Cipher> OmacAcpkm<C> {
    /// The next bytes of the message.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`]: there are no keys for so many sections. With Magma that comes after 858 993 459 sections; with
    /// Kuznyechik not in practice. The value is of no use then.
    pub fn update(&mut self, data: &[u8]) -> Result<(), Error> {
        // SAFETY: the state is whole, and the length is that of the data.
        check(unsafe { ffi::kuzma_mac_acpkm_update(&raw mut self.state.0, data.as_ptr(), data.len()) })
    }

    /// The tag, a block.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn finalize(mut self) -> Result<cipher::Block<C>, Error> {
        let mut tag = cipher::Block::<C>::default();
        // SAFETY: the state is whole, and the length is that of the tag.
        check(unsafe { ffi::kuzma_mac_acpkm_final(&raw mut self.state.0, tag.as_mut_ptr(), tag.len()) })?;
        Ok(tag)
    }

    /// Compares with the first bytes of the tag, in a time that does not depend on the content.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update); [`Error::Tag`]: it is another; [`Error::TagLength`]: fewer than 4 bytes, or more
    /// than a block.
    pub fn verify_tag(mut self, tag: &[u8]) -> Result<(), Error> {
        // SAFETY: the state is whole, and the length is that of the tag.
        check(unsafe { ffi::kuzma_mac_acpkm_verify(&raw mut self.state.0, tag.as_ptr(), tag.len()) })
    }
}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Omac<C> {}

#[cfg(feature = "zeroize")]
impl<C: Cipher> zeroize::ZeroizeOnDrop for OmacAcpkm<C> {}
