//! One pass over a buffer, for each implementation, cipher and mode.

use cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, StreamCipher,
};
use cipher::{InnerIvInit, common::InnerInit};
use cmac::Mac;
use cmac::block_api::CmacCipher;
use mgm::aead::{AeadInPlace, KeyInit as OldKeyInit};

pub(crate) struct Work {
    pub(crate) pass: Box<dyn FnMut()>,
    pub(crate) check: Box<dyn Fn() -> bool>,
    /// What `check` tries.
    pub(crate) evidence: &'static str,
}

const KUZNYECHIK_KEY: [u8; 32] = [
    0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0xfe, 0xdc, 0xba,
    0x98, 0x76, 0x54, 0x32, 0x10, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
];
const MAGMA_KEY: [u8; 32] = [
    0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xf0, 0xf1, 0xf2,
    0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
];
/// RFC 7801 section 5.5 and RFC 8891 appendix A.3: plaintext and ciphertext of one block.
const KUZNYECHIK_VECTOR: (&[u8], &[u8]) = (
    &[0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88],
    &[0x7f, 0x67, 0x9d, 0x90, 0xbe, 0xbc, 0x24, 0x30, 0x5a, 0x46, 0x8d, 0x42, 0xb9, 0xd4, 0xed, 0xcd],
);
const MAGMA_VECTOR: (&[u8], &[u8]) =
    (&[0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10], &[0x4e, 0xe9, 0x01, 0xe5, 0xc2, 0xd8, 0xca, 0x3d]);

pub(crate) fn find(implementation: &str, cipher: &str, mode: &str, bytes: usize) -> Result<Work, String> {
    let unknown = || format!("{implementation} {cipher} {mode}: there is no such thing to measure");
    match (implementation, cipher, mode) {
        ("rustcrypto", "kuznyechik", "mgm") => {
            Ok(authenticated::<mgm::Mgm<old_kuznyechik::Kuznyechik>>(&KUZNYECHIK_KEY, bytes))
        }
        ("rustcrypto", "magma", "mgm") => Ok(authenticated::<mgm::Mgm<old_magma::Magma>>(&MAGMA_KEY, bytes)),
        ("rustcrypto", "kuznyechik", "ctr") => {
            Ok(counter::<kuznyechik::Kuznyechik, ctr::flavors::Ctr128BE>(&KUZNYECHIK_KEY, KUZNYECHIK_VECTOR, bytes))
        }
        ("rustcrypto", "magma", "ctr") => {
            Ok(counter::<magma::Magma, ctr::flavors::Ctr64BE>(&MAGMA_KEY, MAGMA_VECTOR, bytes))
        }
        ("rustcrypto", "kuznyechik", _) => {
            blocks::<kuznyechik::Kuznyechik>(&KUZNYECHIK_KEY, KUZNYECHIK_VECTOR, mode, bytes).ok_or_else(unknown)
        }
        ("rustcrypto", "magma", _) => blocks::<magma::Magma>(&MAGMA_KEY, MAGMA_VECTOR, mode, bytes).ok_or_else(unknown),
        ("kuzma-rustcrypto", "kuznyechik", "ctr") => {
            Ok(counter::<kuzma::Kuznyechik, ctr::flavors::Ctr128BE>(&KUZNYECHIK_KEY, KUZNYECHIK_VECTOR, bytes))
        }
        ("kuzma-rustcrypto", "magma", "ctr") => {
            Ok(counter::<kuzma::Magma, ctr::flavors::Ctr64BE>(&MAGMA_KEY, MAGMA_VECTOR, bytes))
        }
        ("kuzma-rustcrypto", "kuznyechik", _) => {
            blocks::<kuzma::Kuznyechik>(&KUZNYECHIK_KEY, KUZNYECHIK_VECTOR, mode, bytes).ok_or_else(unknown)
        }
        ("kuzma-rustcrypto", "magma", _) => {
            blocks::<kuzma::Magma>(&MAGMA_KEY, MAGMA_VECTOR, mode, bytes).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

const VECTOR_EVIDENCE: &str = "one block of the RFC's vector, both ways";

/// A buffer that is neither zero nor random.
fn buffer(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 37) >> 3) as u8).collect()
}

fn as_blocks<C: cipher::BlockSizeUser>(data: &mut [u8]) -> &mut [Block<C>] {
    Block::<C>::slice_as_chunks_mut(data).0
}

/// The modes of whole blocks, in place, the key ready.
fn blocks<C>(key: &[u8; 32], vector: (&'static [u8], &'static [u8]), mode: &str, bytes: usize) -> Option<Work>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + CmacCipher + KeyInit + Clone + 'static,
{
    let (one, all) = (C::new_from_slice(key).ok()?, C::new_from_slice(key).ok()?);
    let mut data = buffer(bytes);
    let iv = Block::<C>::default();
    let pass: Box<dyn FnMut()> = match mode {
        "ecb" => Box::new(move || all.encrypt_blocks(as_blocks::<C>(&mut data))),
        "ecb-decrypt" => Box::new(move || all.decrypt_blocks(as_blocks::<C>(&mut data))),
        "cbc" => Box::new(move || {
            cbc::Encryptor::inner_iv_init(&all, &iv).encrypt_blocks(as_blocks::<C>(&mut data));
        }),
        "cbc-decrypt" => Box::new(move || {
            cbc::Decryptor::inner_iv_init(&all, &iv).decrypt_blocks(as_blocks::<C>(&mut data));
        }),
        "mac" => {
            let mut ready = cmac::Cmac::<C>::inner_init(all);
            Box::new(move || {
                ready.update(&data);
                std::hint::black_box(ready.finalize_reset());
            })
        }
        _ => return None,
    };
    let check = Box::new(move || {
        let mut block = Block::<C>::try_from(vector.0).expect("a block");
        one.encrypt_block(&mut block);
        let right = block[..] == *vector.1;
        one.decrypt_block(&mut block);
        right && block[..] == *vector.0
    });
    Some(Work { pass, check, evidence: VECTOR_EVIDENCE })
}

/// CTR in place, the key ready.
fn counter<C, F>(key: &[u8; 32], vector: (&'static [u8], &'static [u8]), bytes: usize) -> Work
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + CmacCipher + KeyInit + Clone + 'static,
    F: ctr::CtrFlavor<C::BlockSize> + 'static,
{
    let cipher = C::new_from_slice(key).expect("a key of 32 bytes");
    let iv = Block::<C>::default();
    let mut data = buffer(bytes);
    let check = blocks::<C>(key, vector, "ecb", 16).expect("ECB").check;
    Work {
        pass: Box::new(move || {
            let core = ctr::CtrCore::<&C, F>::inner_iv_init(&cipher, &iv);
            cipher::StreamCipherCoreWrapper::from_core(core).apply_keystream(&mut data);
        }),
        check,
        evidence: VECTOR_EVIDENCE,
    }
}

/// Sealing with MGM, in place, the key ready.
fn authenticated<A>(key: &[u8; 32], bytes: usize) -> Work
where
    A: AeadInPlace + OldKeyInit + Clone + 'static,
{
    let cipher = A::new_from_slice(key).expect("a key of 32 bytes");
    let opener = cipher.clone();
    let nonce = mgm::aead::Nonce::<A>::default();
    let same_nonce = nonce.clone();
    let mut data = buffer(bytes);
    let pass = move || {
        let tag = cipher.encrypt_in_place_detached(&nonce, &[], &mut data).expect("sealing");
        std::hint::black_box(tag);
    };
    let check = move || {
        let plain = buffer(1000);
        let mut text = plain.clone();
        let tag = opener.encrypt_in_place_detached(&same_nonce, b"a", &mut text).expect("sealing");
        let mut opened = text.clone();
        let right = opener.decrypt_in_place_detached(&same_nonce, b"a", &mut opened, &tag).is_ok() && opened == plain;
        text[7] ^= 1;
        right && opener.decrypt_in_place_detached(&same_nonce, b"a", &mut text, &tag).is_err()
    };
    Work { pass: Box::new(pass), check: Box::new(check), evidence: "opens what it sealed, refuses what was changed" }
}
