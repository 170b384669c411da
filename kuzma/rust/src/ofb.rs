use cipher::inout::InOutBuf;
use cipher::{BlockSizeUser, InnerIvInit, Iv, IvSizeUser, StreamCipher, StreamCipherError, common::InnerUser};

use crate::block::Cipher;
use crate::ctr::stream_cipher;
use crate::state::Bound;
use crate::{Error, ffi};

/// OFB, GOST R 34.13-2015 section 5.3, with s = n.
///
/// The register is one block, as in other standards, or several: [`Ofb::with_register`]. Never use one twice with a key.
#[derive(Clone)]
pub struct Ofb<C: Cipher> {
    state: Bound<C, ffi::Feedback>,
}

impl<C: Cipher> Ofb<C> {
    /// A register of z blocks, at least one and at most 256 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Iv`]: the register has another length.
    pub fn with_register(cipher: C, register: &[u8]) -> Result<Self, Error> {
        feedback(cipher, register).map(|state| Self { state })
    }

    // The keystream has no end.
    fn has_room(&self, _bytes: usize) -> bool {
        true
    }

    fn xor(&mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
        self.state.call(|state| unsafe { ffi::kuzma_ofb_xor(state, output, input, bytes) })
    }
}

stream_cipher!(Ofb);

impl<C: Cipher> InnerUser for Ofb<C> {
    type Inner = C;
}

impl<C: Cipher> IvSizeUser for Ofb<C> {
    type IvSize = <C as BlockSizeUser>::BlockSize;
}

impl<C: Cipher> InnerIvInit for Ofb<C> {
    fn inner_iv_init(cipher: C, iv: &Iv<Self>) -> Self {
        Self::with_register(cipher, iv).expect("a block is a register")
    }
}

/// The state of CFB and of OFB.
pub(crate) fn feedback<C: Cipher>(cipher: C, register: &[u8]) -> Result<Bound<C, ffi::Feedback>, Error> {
    // SAFETY: the library is given a context with a key and the length of the register.
    Bound::new(cipher, |state, context| unsafe {
        ffi::kuzma_feedback_init(state, context, register.as_ptr(), register.len())
    })
}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Ofb<C> {}
