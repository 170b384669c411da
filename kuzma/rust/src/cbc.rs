//! CBC, GOST R 34.13-2015 section 5.4, without padding of its own; the traits of `cipher` add what padding is wanted.
//!
//! The register holds z blocks. With z = 1 this is the CBC of other standards, in which encryption is strictly
//! sequential; for many messages at once see [`many`](crate::many).

use cipher::inout::{InOut, InOutBuf, NotEqualError};
use cipher::{
    Block, BlockModeDecBackend, BlockModeDecClosure, BlockModeDecrypt, BlockModeEncBackend, BlockModeEncClosure,
    BlockModeEncrypt, BlockSizeUser, InnerIvInit, Iv, IvSizeUser, ParBlocks, ParBlocksSizeUser, common::InnerUser,
};

use crate::block::{Cipher, one};
use crate::error::check;
use crate::{Error, ffi};

macro_rules! direction {
    (
        $(#[$documentation:meta])* $name:ident, $call:ident, $verb:ident, $inout:ident, $b2b:ident;
        $mode:ident, $closure:ident, $backend:ident, $with_backend:ident,
        $block:ident, $par_blocks:ident, $tail:ident, $blocks:ident, $blocks_inout:ident, $blocks_b2b:ident
    ) => {
        $(#[$documentation])*
        #[derive(Clone)]
        pub struct $name<C: Cipher> {
            cipher: C,
            register: [u8; ffi::IV_BYTES_MAX],
            register_bytes: usize,
        }

        impl<C: Cipher> $name<C> {
            /// A register of z blocks, at least one and at most 256 bytes.
            ///
            /// # Errors
            ///
            /// [`Error::Iv`]: the register has another length.
            pub fn with_register(cipher: C, register: &[u8]) -> Result<Self, Error> {
                let mut made = Self { cipher, register: [0; _], register_bytes: register.len() };
                made.register.get_mut(..register.len()).ok_or(Error::Iv)?.copy_from_slice(register);
                // No data, so the library looks at the register and does nothing.
                made.$inout((&mut [][..]).into())?;
                Ok(made)
            }

            /// The register that the next block would meet. A message may be taken up again from here.
            pub fn register(&self) -> &[u8] {
                &self.register[..self.register_bytes]
            }

            /// The next blocks of the message, in place.
            ///
            /// # Errors
            ///
            /// [`Error::Length`]: not a whole number of blocks.
            pub fn $verb(&mut self, data: &mut [u8]) -> Result<(), Error> {
                self.$inout(data.into())
            }

            /// The next blocks of the message, from one buffer to another.
            ///
            /// # Errors
            ///
            /// [`Error::Length`]: not a whole number of blocks, or the buffers differ in length.
            pub fn $b2b(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
                self.$inout(InOutBuf::new(input, output)?)
            }

            /// The next blocks of the message.
            ///
            /// # Errors
            ///
            /// [`Error::Length`]: not a whole number of blocks.
            pub fn $inout(&mut self, buffer: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
                let bytes = buffer.len();
                let (input, output) = buffer.into_raw();
                // SAFETY: a context with a key, a register as long as is said, and buffers that hold `bytes` bytes.
                check(unsafe {
                    ffi::$call(
                        self.cipher.context(),
                        self.register.as_mut_ptr(),
                        self.register_bytes,
                        output,
                        input,
                        bytes,
                    )
                })
            }

            fn blocks(&mut self, blocks: InOutBuf<'_, '_, Block<C>>) {
                let bytes = blocks.len() * size_of::<Block<C>>();
                let (input, output) = blocks.into_raw();
                // SAFETY: the same buffers, as bytes.
                let buffer = unsafe { InOutBuf::from_raw(input.cast(), output.cast(), bytes) };
                self.$inout(buffer).expect("whole blocks");
            }
        }

        impl<C: Cipher> BlockSizeUser for $name<C> {
            type BlockSize = C::BlockSize;
        }

        impl<C: Cipher> ParBlocksSizeUser for $name<C> {
            type ParBlocksSize = C::ParallelBlocks;
        }

        impl<C: Cipher> InnerUser for $name<C> {
            type Inner = C;
        }

        impl<C: Cipher> IvSizeUser for $name<C> {
            type IvSize = C::BlockSize;
        }

        impl<C: Cipher> InnerIvInit for $name<C> {
            fn inner_iv_init(cipher: C, iv: &Iv<Self>) -> Self {
                Self::with_register(cipher, iv).expect("a block is a register")
            }
        }

        impl<C: Cipher> $backend for $name<C> {
            fn $block(&mut self, block: InOut<'_, '_, Block<Self>>) {
                self.blocks(one(block));
            }

            fn $par_blocks(&mut self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                self.blocks(blocks.into_buf());
            }

            fn $tail(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.blocks(blocks);
            }
        }

        impl<C: Cipher> $mode for $name<C> {
            fn $with_backend(&mut self, f: impl $closure<BlockSize = Self::BlockSize>) {
                f.call(self);
            }

            // However many, one call.
            fn $blocks_inout(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.blocks(blocks);
            }

            fn $blocks(&mut self, blocks: &mut [Block<Self>]) {
                self.blocks(blocks.into());
            }

            fn $blocks_b2b(&mut self, input: &[Block<Self>], output: &mut [Block<Self>]) -> Result<(), NotEqualError> {
                InOutBuf::new(input, output).map(|blocks| self.blocks(blocks))
            }
        }

        #[cfg(feature = "zeroize")]
        impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for $name<C> {}
    };
}

direction!(
    /// Encrypts.
    Encryptor, kuzma_cbc_encrypt, encrypt, encrypt_inout, encrypt_b2b;
    BlockModeEncrypt, BlockModeEncClosure, BlockModeEncBackend, encrypt_with_backend,
    encrypt_block, encrypt_par_blocks, encrypt_tail_blocks, encrypt_blocks, encrypt_blocks_inout, encrypt_blocks_b2b
);

direction!(
    /// Decrypts, all blocks side by side.
    Decryptor, kuzma_cbc_decrypt, decrypt, decrypt_inout, decrypt_b2b;
    BlockModeDecrypt, BlockModeDecClosure, BlockModeDecBackend, decrypt_with_backend,
    decrypt_block, decrypt_par_blocks, decrypt_tail_blocks, decrypt_blocks, decrypt_blocks_inout, decrypt_blocks_b2b
);
