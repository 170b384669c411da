use aead::{AeadCore, AeadInOut, Nonce, Tag, TagPosition};
use cipher::BlockSizeUser;
use cipher::common::{InnerInit, InnerUser};
use cipher::inout::InOutBuf;

use crate::block::Cipher;
use crate::error::check;
use crate::state::Bound;
use crate::{Error, ffi};

/// MGM, RFC 9058: authenticated encryption with associated data.
///
/// The nonce is one block (16 bytes for Kuznyechik, 8 for Magma) whose first bit is 0, else there is an error. Never use
/// one twice with a key. The tag is one block.
///
/// Associated data and text together are shorter than 2²⁹ bytes (512 MiB) for Magma, 2⁶¹ for Kuznyechik, and not both
/// empty (RFC 9058 section 3). What is refused is left as it was, output and buffer alike.
///
/// The traits of [`aead`] do not say what was wrong; [`seal`](Self::seal) and [`open`](Self::open) do. For messages in
/// pieces there are [`MgmSealer`] and [`MgmVerifier`].
#[derive(Clone, Debug)]
pub struct Mgm<C: Cipher> {
    cipher: C,
}

impl<C: Cipher> Mgm<C> {
    /// Encrypts the buffer and writes the first bytes of the tag, as many as `tag` has.
    ///
    /// # Errors
    ///
    /// [`Error::Iv`]: the nonce is not a block, or has its first bit set. [`Error::Length`]: neither associated data
    /// nor text. [`Error::Limit`]: together they are too long. [`Error::TagLength`]: `tag` has fewer than 4 bytes, or
    /// more than a block.
    pub fn seal(
        &self,
        nonce: &[u8],
        associated: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: a context with a key, and all lengths are those of their buffers.
        check(unsafe {
            ffi::kuzma_mgm_seal(
                self.cipher.context(),
                nonce.as_ptr(),
                nonce.len(),
                associated.as_ptr(),
                associated.len(),
                output,
                input,
                bytes,
                tag.as_mut_ptr(),
                tag.len(),
            )
        })
    }

    /// Decrypts the buffer if `tag` is right, and else leaves it as it is; from one buffer to another, the other is then
    /// zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Tag`]: key, nonce, associated data, text or tag are not those of one message; and as in
    /// [`seal`](Self::seal).
    pub fn open(&self, nonce: &[u8], associated: &[u8], buffer: InOutBuf<'_, '_, u8>, tag: &[u8]) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: a context with a key, and all lengths are those of their buffers.
        check(unsafe {
            ffi::kuzma_mgm_open(
                self.cipher.context(),
                nonce.as_ptr(),
                nonce.len(),
                associated.as_ptr(),
                associated.len(),
                output,
                input,
                bytes,
                tag.as_ptr(),
                tag.len(),
            )
        })
    }
}

impl<C: Cipher> InnerUser for Mgm<C> {
    type Inner = C;
}

impl<C: Cipher> InnerInit for Mgm<C> {
    fn inner_init(cipher: C) -> Self {
        Self { cipher }
    }
}

impl<C: Cipher> From<C> for Mgm<C> {
    fn from(cipher: C) -> Self {
        Self { cipher }
    }
}

impl<C: Cipher> AeadCore for Mgm<C> {
    type NonceSize = <C as BlockSizeUser>::BlockSize;
    type TagSize = <C as BlockSizeUser>::BlockSize;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<C: Cipher> AeadInOut for Mgm<C> {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        let mut tag = Tag::<Self>::default();
        self.seal(nonce, associated, buffer, &mut tag)?;
        Ok(tag)
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> aead::Result<()> {
        Ok(self.open(nonce, associated, buffer, tag)?)
    }
}

/// The encrypting side of [`Mgm`] for a message in pieces: first all associated data, then the text, then the tag.
///
/// It cannot be cloned: two texts under one nonce would give both away.
pub struct MgmSealer<C: Cipher> {
    state: Bound<C, ffi::Mgm>,
}

impl<C: Cipher> MgmSealer<C> {
    /// # Errors
    ///
    /// [`Error::Iv`]: the nonce is not a block, or has its first bit set.
    pub fn new(cipher: C, nonce: &[u8]) -> Result<Self, Error> {
        Ok(Self { state: begin(cipher, nonce)? })
    }

    /// The next bytes of the associated data.
    ///
    /// # Errors
    ///
    /// [`Error::Order`]: there was text already. [`Error::Limit`]: the message gets too long.
    pub fn associate(&mut self, data: &[u8]) -> Result<(), Error> {
        associate(&mut self.state, data)
    }

    /// Encrypts the next bytes of the text.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`]: the message gets too long.
    pub fn encrypt(&mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
        self.state.call(|state| unsafe { ffi::kuzma_mgm_encrypt(state, output, input, bytes) })
    }

    /// The tag, a block.
    ///
    /// # Errors
    ///
    /// [`Error::Length`]: there was neither associated data nor text.
    pub fn finalize(mut self) -> Result<Tag<Mgm<C>>, Error> {
        let mut tag = Tag::<Mgm<C>>::default();
        // SAFETY: the state is whole, and the length is that of the tag.
        self.state.call(|state| unsafe { ffi::kuzma_mgm_final(state, tag.as_mut_ptr(), tag.len()) })?;
        Ok(tag)
    }
}

/// The checking side of [`Mgm`] for a message in pieces: first all associated data, then the ciphertext, then the tag.
/// If that is right there is an [`MgmOpener`], which takes the same ciphertext again, as a whole. So no plaintext exists
/// before the tag was checked.
///
/// ```
/// use kuzma::cipher::KeyInit;
/// use kuzma::{Kuznyechik, MgmSealer, MgmVerifier};
///
/// let cipher = Kuznyechik::new(&[0x42; 32].into());
/// let nonce = [7; 16];
/// let mut text = *b"first piece and another";
///
/// let mut sealer = MgmSealer::new(&cipher, &nonce)?;
/// sealer.associate(b"header")?;
/// for piece in text.chunks_mut(12) {
///     sealer.encrypt(piece.into())?;
/// }
/// let tag = sealer.finalize()?;
///
/// let mut verifier = MgmVerifier::new(&cipher, &nonce)?;
/// verifier.associate(b"header")?;
/// for piece in text.chunks(5) {
///     verifier.absorb(piece)?;
/// }
/// verifier.verify(&tag)?.decrypt(text[..].as_mut().into())?;
/// assert_eq!(&text, b"first piece and another");
/// # Ok::<(), kuzma::Error>(())
/// ```
#[derive(Clone)]
pub struct MgmVerifier<C: Cipher> {
    state: Bound<C, ffi::Mgm>,
}

impl<C: Cipher> MgmVerifier<C> {
    /// # Errors
    ///
    /// [`Error::Iv`]: the nonce is not a block, or has its first bit set.
    pub fn new(cipher: C, nonce: &[u8]) -> Result<Self, Error> {
        Ok(Self { state: begin(cipher, nonce)? })
    }

    /// The next bytes of the associated data.
    ///
    /// # Errors
    ///
    /// [`Error::Order`]: there was ciphertext already. [`Error::Limit`]: the message gets too long.
    pub fn associate(&mut self, data: &[u8]) -> Result<(), Error> {
        associate(&mut self.state, data)
    }

    /// The next bytes of the ciphertext.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`]: the message gets too long.
    pub fn absorb(&mut self, ciphertext: &[u8]) -> Result<(), Error> {
        // SAFETY: the state is whole, and the length is that of the data.
        self.state.call(|state| unsafe { ffi::kuzma_mgm_absorb(state, ciphertext.as_ptr(), ciphertext.len()) })
    }

    /// Compares with the first bytes of the tag, in a time that does not depend on the content.
    ///
    /// # Errors
    ///
    /// [`Error::Tag`]: it is another. [`Error::TagLength`]: fewer than 4 bytes, or more than a block.
    /// [`Error::Length`]: there was neither associated data nor ciphertext.
    pub fn verify(mut self, tag: &[u8]) -> Result<MgmOpener<C>, Error> {
        // SAFETY: the state is whole, and the length is that of the tag.
        self.state.call(|state| unsafe { ffi::kuzma_mgm_verify(state, tag.as_ptr(), tag.len()) })?;
        Ok(MgmOpener { state: self.state })
    }
}

/// Decrypts a message that was verified: what [`MgmVerifier::verify`] gives.
#[derive(Clone)]
pub struct MgmOpener<C: Cipher> {
    state: Bound<C, ffi::Mgm>,
}

impl<C: Cipher> MgmOpener<C> {
    /// Decrypts the ciphertext that was verified, all of it, and makes the tag of it once more.
    ///
    /// # Errors
    ///
    /// [`Error::Length`]: it is not as long. [`Error::Tag`]: it is another, and the buffer is now zeros.
    pub fn decrypt(mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
        self.state.call(|state| unsafe { ffi::kuzma_mgm_decrypt(state, output, input, bytes) })
    }
}

fn begin<C: Cipher>(cipher: C, nonce: &[u8]) -> Result<Bound<C, ffi::Mgm>, Error> {
    // SAFETY: the library is given a context with a key and the length of the nonce.
    Bound::new(cipher, |state, context| unsafe { ffi::kuzma_mgm_init(state, context, nonce.as_ptr(), nonce.len()) })
}

fn associate<C: Cipher>(state: &mut Bound<C, ffi::Mgm>, data: &[u8]) -> Result<(), Error> {
    // SAFETY: the state is whole, and the length is that of the data.
    state.call(|state| unsafe { ffi::kuzma_mgm_associate(state, data.as_ptr(), data.len()) })
}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Mgm<C> {}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for MgmSealer<C> {}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for MgmVerifier<C> {}

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for MgmOpener<C> {}
