//! CFB, GOST R 34.13-2015 section 5.5, with s = n: messages of any length, in pieces of any length.

use cipher::inout::InOutBuf;
use cipher::{BlockSizeUser, InnerIvInit, Iv, IvSizeUser, common::InnerUser};

use crate::block::Cipher;
use crate::ofb::feedback;
use crate::state::Bound;
use crate::{Error, ffi};

macro_rules! direction {
    ($(#[$documentation:meta])* $name:ident, $verb:ident, $inout:ident, $b2b:ident, $call:ident) => {
        $(#[$documentation])*
        #[derive(Clone)]
        pub struct $name<C: Cipher> {
            state: Bound<C, ffi::Feedback>,
        }

        impl<C: Cipher> $name<C> {
            /// A register of z blocks, at least one and at most 256 bytes.
            ///
            /// # Errors
            ///
            /// [`Error::Iv`]: the register has another length.
            pub fn with_register(cipher: C, register: &[u8]) -> Result<Self, Error> {
                feedback(cipher, register).map(|state| Self { state })
            }

            /// The next bytes of the message, in place.
            pub fn $verb(&mut self, data: &mut [u8]) {
                self.$inout(data.into());
            }

            /// The next bytes of the message, from one buffer to another.
            ///
            /// # Errors
            ///
            /// [`Error::Length`]: the buffers differ in length.
            pub fn $b2b(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
                self.$inout(InOutBuf::new(input, output)?);
                Ok(())
            }

            /// The next bytes of the message.
            pub fn $inout(&mut self, buffer: InOutBuf<'_, '_, u8>) {
                let bytes = buffer.len();
                let (input, output) = buffer.into_raw();
                // SAFETY: the state is whole, and both buffers hold `bytes` bytes.
                let done = self.state.call(|state| unsafe { ffi::$call(state, output, input, bytes) });
                done.expect("any number of bytes may follow");
            }
        }

        impl<C: Cipher> InnerUser for $name<C> {
            type Inner = C;
        }

        impl<C: Cipher> IvSizeUser for $name<C> {
            type IvSize = <C as BlockSizeUser>::BlockSize;
        }

        impl<C: Cipher> InnerIvInit for $name<C> {
            fn inner_iv_init(cipher: C, iv: &Iv<Self>) -> Self {
                Self::with_register(cipher, iv).expect("a block is a register")
            }
        }

        #[cfg(feature = "zeroize")]
        impl<C: Cipher + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for $name<C> {}
    };
}

direction!(
    /// Encrypts. With a register of one block each block waits for the one before; for many messages at once see
    /// [`many`](crate::many).
    ///
    /// ```
    /// use kuzma::cipher::KeyIvInit;
    /// use kuzma::{Magma, cfb};
    ///
    /// let (key, iv) = ([0x42; 32].into(), [7; 8].into());
    /// let mut data = *b"any number of bytes";
    /// cfb::Encryptor::<Magma>::new(&key, &iv).encrypt(&mut data);
    /// cfb::Decryptor::<Magma>::new(&key, &iv).decrypt(&mut data);
    /// assert_eq!(&data, b"any number of bytes");
    /// ```
    Encryptor,
    encrypt,
    encrypt_inout,
    encrypt_b2b,
    kuzma_cfb_encrypt
);

direction!(
    /// Decrypts, all blocks side by side.
    Decryptor,
    decrypt,
    decrypt_inout,
    decrypt_b2b,
    kuzma_cfb_decrypt
);
