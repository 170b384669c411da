use core::fmt;

use cipher::array::ArraySize;
use cipher::consts::{U4, U8, U16, U32, U64};
use cipher::inout::{InOut, InOutBuf, NotEqualError};
use cipher::{
    AlgorithmName, Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
};

use crate::error::check;
use crate::state::Wiped;
use crate::{Backend, Error, ffi};

/// [`Kuznyechik`] or [`Magma`], or a reference to one: what the modes of this crate are made over.
///
/// A key schedule takes five kilobytes, so where several streams share a key, let them borrow it: `Ctr<&Kuznyechik>`.
pub trait Cipher: BlockSizeUser + sealed::Sealed {
    /// Half a block: the initial value of CTR, GOST R 34.13-2015 section 5.2.
    type HalfBlockSize: ArraySize;
    /// How many blocks modes of other crates hand over at a time.
    ///
    /// 64 are a batch of the sliced backends, so that long messages come near this crate's own types: with AVX-512, CTR
    /// of 16 KiB reaches 83 % of their speed for Kuznyechik and 63 % for Magma. But most of those modes take what is left
    /// at the end, up to 63 blocks, one by one: at 1504 bytes CTR takes three times as long a byte (Magma: ten times).
    /// Narrower batches would help there at the cost of long messages; the own types have neither cost.
    type ParallelBlocks: ArraySize;
}

pub(crate) mod sealed {
    use crate::ffi;

    pub trait Sealed {
        const CIPHER: ffi::Cipher;
        /// Blocks of keystream that CTR has: kuzma.h, `kuzma_ctr_xor`.
        const KEYSTREAM_BLOCKS: u64;

        #[doc(hidden)]
        fn context(&self) -> &ffi::Context;
    }
}

impl<C: Cipher> sealed::Sealed for &C {
    const CIPHER: ffi::Cipher = C::CIPHER;
    const KEYSTREAM_BLOCKS: u64 = C::KEYSTREAM_BLOCKS;

    fn context(&self) -> &ffi::Context {
        C::context(self)
    }
}

impl<C: Cipher> Cipher for &C {
    type HalfBlockSize = C::HalfBlockSize;
    type ParallelBlocks = C::ParallelBlocks;
}

/// `kuzma_ecb_encrypt` or `kuzma_ecb_decrypt`.
type Ecb = unsafe extern "C" fn(*const ffi::Context, *mut u8, *const u8, usize) -> ffi::Status;

/// Whole blocks in one call. `InOutBuf` promises that the buffers are the same or apart.
fn run<C: Cipher>(cipher: &C, ecb: Ecb, blocks: InOutBuf<'_, '_, Block<C>>) {
    let bytes = blocks.len() * size_of::<Block<C>>();
    let (input, output) = blocks.into_raw();
    // SAFETY: the context has a key, and both buffers hold `bytes` bytes, for as long as the call takes.
    let status = unsafe { ecb(cipher.context(), output.cast(), input.cast(), bytes) };
    check(status).expect("whole blocks that do not overlap");
}

/// The C library as a backend of the traits of `cipher`: what other people's modes call.
struct Wide<'a, C>(&'a C);

impl<C: Cipher> BlockSizeUser for Wide<'_, C> {
    type BlockSize = C::BlockSize;
}

impl<C: Cipher> ParBlocksSizeUser for Wide<'_, C> {
    type ParBlocksSize = C::ParallelBlocks;
}

/// One block as a buffer of one.
pub(crate) fn one<'inp, 'out, T>(block: InOut<'inp, 'out, T>) -> InOutBuf<'inp, 'out, T> {
    let (input, output) = block.into_raw();
    // SAFETY: the pointers come from an InOut, which promises the same of one value as an InOutBuf of many.
    unsafe { InOutBuf::from_raw(input, output, 1) }
}

impl<C: Cipher> BlockCipherEncBackend for Wide<'_, C> {
    #[inline]
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        run(self.0, ffi::kuzma_ecb_encrypt, one(block));
    }

    #[inline]
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        run(self.0, ffi::kuzma_ecb_encrypt, blocks.into_buf());
    }

    #[inline]
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        run(self.0, ffi::kuzma_ecb_encrypt, blocks);
    }
}

impl<C: Cipher> BlockCipherDecBackend for Wide<'_, C> {
    #[inline]
    fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        run(self.0, ffi::kuzma_ecb_decrypt, one(block));
    }

    #[inline]
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        run(self.0, ffi::kuzma_ecb_decrypt, blocks.into_buf());
    }

    #[inline]
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        run(self.0, ffi::kuzma_ecb_decrypt, blocks);
    }
}

macro_rules! cipher {
    ($(#[$documentation:meta])* $name:ident, $text:literal, $cipher:path, $block:ty, $half:ty, $parallel:ty, $keystream:expr) => {
        $(#[$documentation])*
        #[derive(Clone)]
        pub struct $name {
            context: Wiped<ffi::Context>,
        }

        impl $name {
            /// Expands `key` for the given backend.
            ///
            /// # Errors
            ///
            /// [`Error::Backend`] if this processor cannot run it, or if it is not constant-time and that is required.
            pub fn with_backend(backend: Backend<Self>, key: &Key<Self>) -> Result<Self, Error> {
                // SAFETY: the backend is of this cipher and the key has the length that is given. A success has written
                // the backend, and the rest need not be initialised.
                let context = unsafe {
                    Wiped::make(|context| ffi::kuzma_init(context, backend.as_raw(), key.as_ptr(), key.len()))
                }?;
                Ok(Self { context })
            }

            /// The backend that this key was expanded for.
            pub fn backend(&self) -> Backend<Self> {
                // SAFETY: the context was initialised with a backend of this cipher.
                unsafe { Backend::from_raw(self.context.0.backend) }.expect("a context with a key")
            }
        }

        impl sealed::Sealed for $name {
            const CIPHER: ffi::Cipher = $cipher;
            const KEYSTREAM_BLOCKS: u64 = $keystream;

            #[inline]
            fn context(&self) -> &ffi::Context {
                &self.context.0
            }
        }

        impl Cipher for $name {
            type HalfBlockSize = $half;
            type ParallelBlocks = $parallel;
        }

        impl KeySizeUser for $name {
            type KeySize = U32;
        }

        impl BlockSizeUser for $name {
            type BlockSize = $block;
        }

        impl ParBlocksSizeUser for $name {
            type ParBlocksSize = $parallel;
        }

        /// Expands the key for the default backend.
        impl KeyInit for $name {
            fn new(key: &Key<Self>) -> Self {
                Self::with_backend(Backend::default(), key).expect("the default backend is supported and allowed")
            }
        }

        impl BlockCipherEncrypt for $name {
            #[inline]
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
                f.call(&Wide(self));
            }

            // However many, one call: the C library divides them as its backend likes best.
            #[inline]
            fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                run(self, ffi::kuzma_ecb_encrypt, blocks);
            }

            #[inline]
            fn encrypt_blocks(&self, blocks: &mut [Block<Self>]) {
                self.encrypt_blocks_inout(blocks.into());
            }

            #[inline]
            fn encrypt_blocks_b2b(
                &self,
                input: &[Block<Self>],
                output: &mut [Block<Self>],
            ) -> Result<(), NotEqualError> {
                InOutBuf::new(input, output).map(|blocks| self.encrypt_blocks_inout(blocks))
            }
        }

        impl BlockCipherDecrypt for $name {
            #[inline]
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
                f.call(&Wide(self));
            }

            #[inline]
            fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                run(self, ffi::kuzma_ecb_decrypt, blocks);
            }

            #[inline]
            fn decrypt_blocks(&self, blocks: &mut [Block<Self>]) {
                self.decrypt_blocks_inout(blocks.into());
            }

            #[inline]
            fn decrypt_blocks_b2b(
                &self,
                input: &[Block<Self>],
                output: &mut [Block<Self>],
            ) -> Result<(), NotEqualError> {
                InOutBuf::new(input, output).map(|blocks| self.decrypt_blocks_inout(blocks))
            }
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($text).field("backend", &self.backend().name()).finish_non_exhaustive()
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $name {}
    };
}

cipher!(
    /// Kuznyechik with a key: blocks of 16 bytes, RFC 7801.
    ///
    /// It takes five kilobytes, which are wiped when it is dropped. A move, as any in Rust, may leave the bytes behind
    /// where they were, and the way out of a constructor is one: keep the value in one place, and let the modes borrow it.
    Kuznyechik,
    "Kuznyechik",
    ffi::KUZNYECHIK,
    U16,
    U8,
    U64,
    1 << 60
);

cipher!(
    /// Magma with a key: blocks of 8 bytes, RFC 8891.
    ///
    /// Of size and moves the same holds as for [`Kuznyechik`]. Blocks this short limit how much may be encrypted under
    /// one key: see [`CtrAcpkm`](crate::CtrAcpkm).
    Magma,
    "Magma",
    ffi::MAGMA,
    U8,
    U4,
    U64,
    1 << 32
);
