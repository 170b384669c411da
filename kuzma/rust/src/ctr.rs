use cipher::inout::InOutBuf;
use cipher::typenum::Unsigned;
use cipher::{
    Block, InnerIvInit, Iv, IvSizeUser, Key, KeySizeUser, OverflowError, SeekNum, StreamCipher, StreamCipherError,
    StreamCipherSeek, common::InnerUser,
};

use crate::block::Cipher;
use crate::error::check;
use crate::state::{Bound, Wiped};
use crate::{Backend, Error, ffi};

/// Implements `StreamCipher` for a type with `has_room(&self, bytes)` and `xor(&mut self, buffer)`.
macro_rules! stream_cipher {
    ($name:ident) => {
        impl<C: Cipher> StreamCipher for $name<C> {
            fn check_remaining(&self, bytes: usize) -> Result<(), StreamCipherError> {
                if self.has_room(bytes) { Ok(()) } else { Err(StreamCipherError) }
            }

            /// # Panics
            ///
            /// Past the end of the keystream; nothing has been written then.
            fn unchecked_apply_keystream_inout(&mut self, buffer: InOutBuf<'_, '_, u8>) {
                self.xor(buffer).expect("the keystream has room");
            }

            fn unchecked_write_keystream(&mut self, buffer: &mut [u8]) {
                buffer.fill(0);
                self.unchecked_apply_keystream(buffer);
            }
        }
    };
}
pub(crate) use stream_cipher;

/// Bytes of keystream that CTR has under one key and initial value.
const fn keystream_bytes<C: Cipher>() -> u128 {
    C::KEYSTREAM_BLOCKS as u128 * size_of::<Block<C>>() as u128
}

/// CTR, GOST R 34.13-2015 section 5.2, with whole blocks of keystream (s = n).
///
/// The initial value is half a block: 8 bytes for Kuznyechik, 4 for Magma; the other half counts blocks from 0. Never
/// use one twice with a key. The keystream ends after 2³² blocks of Magma (32 GiB) or 2⁶⁰ of Kuznyechik: `try_…` gives
/// an error then.
///
/// ```
/// use kuzma::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
/// use kuzma::{Ctr, Kuznyechik};
///
/// let mut stream = Ctr::<Kuznyechik>::new(&[0x42; 32].into(), &[7; 8].into());
/// let mut data = *b"any number of bytes";
/// stream.apply_keystream(&mut data);
/// stream.seek(0u64);
/// stream.apply_keystream(&mut data);
/// assert_eq!(&data, b"any number of bytes");
/// ```
#[derive(Clone)]
pub struct Ctr<C: Cipher> {
    state: Bound<C, ffi::Ctr>,
    /// Bytes from the start of the message; 2⁶⁴ is a position too, that after the last byte of Kuznyechik's keystream.
    position: u128,
}

impl<C: Cipher> Ctr<C> {
    fn has_room(&self, bytes: usize) -> bool {
        self.position + bytes as u128 <= keystream_bytes::<C>()
    }

    fn xor(&mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
        self.state.call(|state| unsafe { ffi::kuzma_ctr_xor(state, output, input, bytes) })?;
        self.position += bytes as u128;
        Ok(())
    }
}

stream_cipher!(Ctr);

impl<C: Cipher> InnerUser for Ctr<C> {
    type Inner = C;
}

impl<C: Cipher> IvSizeUser for Ctr<C> {
    type IvSize = C::HalfBlockSize;
}

impl<C: Cipher> InnerIvInit for Ctr<C> {
    fn inner_iv_init(cipher: C, iv: &Iv<Self>) -> Self {
        // SAFETY: the library is given a context with a key and the length of the value.
        let state =
            Bound::new(cipher, |state, context| unsafe { ffi::kuzma_ctr_init(state, context, iv.as_ptr(), iv.len()) });
        Self { state: state.expect("the initial value is half a block"), position: 0 }
    }
}

impl<C: Cipher> StreamCipherSeek for Ctr<C> {
    fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
        // `cipher` counts blocks that were begun, and bytes that were used of the last of them.
        let block = C::BlockSize::U8;
        let begun = u64::try_from(self.position.div_ceil(u128::from(block))).map_err(|_| OverflowError)?;
        let unused = u128::from(begun) * u128::from(block) - self.position;
        T::from_block_byte(begun, block - unused as u8, block)
    }

    fn try_seek<T: SeekNum>(&mut self, position: T) -> Result<(), StreamCipherError> {
        let block = C::BlockSize::U8;
        let (blocks, bytes) = position.into_block_byte::<u64>(block)?;
        let offset = blocks.checked_mul(block.into()).and_then(|start| start.checked_add(bytes.into()));
        let offset = offset.ok_or(StreamCipherError)?;
        // SAFETY: the state is whole.
        let sought = self.state.call(|state| unsafe { ffi::kuzma_ctr_seek(state, offset) });
        sought.map_err(|_| StreamCipherError)?;
        self.position = offset.into();
        Ok(())
    }
}

/// CTR-ACPKM, R 1323565.1.017-2018 section 4.1 and RFC 8645 section 6.2.2: [`Ctr`] whose key changes after each section,
/// so that much more can be encrypted under one initial key.
///
/// ```
/// use kuzma::cipher::StreamCipher;
/// use kuzma::{CtrAcpkm, Magma};
///
/// let (key, iv) = ([0x42; 32].into(), [7; 4].into());
/// let mut data = [0u8; 4096];
/// CtrAcpkm::<Magma>::new(&key, &iv, 1024)?.apply_keystream(&mut data);
/// # Ok::<(), kuzma::Error>(())
/// ```
#[derive(Clone)]
pub struct CtrAcpkm<C: Cipher> {
    state: Wiped<ffi::CtrAcpkm>,
    position: u128,
    cipher: core::marker::PhantomData<fn() -> C>,
}

impl<C: Cipher + KeySizeUser> CtrAcpkm<C> {
    /// `section` is the number of bytes under each key.
    ///
    /// # Errors
    ///
    /// [`Error::Length`]: `section` is 0 or not a whole number of blocks.
    pub fn new(key: &Key<C>, iv: &Iv<Ctr<C>>, section: u64) -> Result<Self, Error> {
        Self::with_backend(Backend::default(), key, iv, section)
    }

    /// The same with a backend of one's choice.
    ///
    /// # Errors
    ///
    /// As in [`new`](Self::new), and [`Error::Backend`].
    pub fn with_backend(backend: Backend<C>, key: &Key<C>, iv: &Iv<Ctr<C>>, section: u64) -> Result<Self, Error> {
        let (key_bytes, iv_bytes) = (key.len(), iv.len());
        let (backend, key, iv) = (backend.as_raw(), key.as_ptr(), iv.as_ptr());
        // SAFETY: the backend is of this cipher, and the lengths are those of key and initial value. A success has
        // written the whole state, which begins as zeros.
        let state = unsafe {
            Wiped::make(|state| ffi::kuzma_ctr_acpkm_init(state, backend, key, key_bytes, iv, iv_bytes, section))
        }?;
        Ok(Self { state, position: 0, cipher: core::marker::PhantomData })
    }
}

impl<C: Cipher> CtrAcpkm<C> {
    fn has_room(&self, bytes: usize) -> bool {
        self.position + bytes as u128 <= keystream_bytes::<C>()
    }

    fn xor(&mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = buffer.len();
        let (input, output) = buffer.into_raw();
        // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
        check(unsafe { ffi::kuzma_ctr_acpkm_xor(&raw mut self.state.0, output, input, bytes) })?;
        self.position += bytes as u128;
        Ok(())
    }
}

stream_cipher!(CtrAcpkm);

#[cfg(feature = "zeroize")]
impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for Ctr<C> {}

#[cfg(feature = "zeroize")]
impl<C: Cipher> zeroize::ZeroizeOnDrop for CtrAcpkm<C> {}
