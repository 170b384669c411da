//! Against other people's implementations, on random input in random pieces: RustCrypto's ciphers under RustCrypto's
//! modes, beside our ciphers under our modes, and beside our ciphers under RustCrypto's modes.

use kuzma::aead::AeadInOut;
use kuzma::cipher::array::Array;
use kuzma::cipher::common::InnerInit;
use kuzma::cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit, KeyIvInit,
    StreamCipher, StreamCipherSeek, block_padding,
};
use kuzma::digest::Mac;
use kuzma::{Backend, Ctr, Kuznyechik, Magma, Mgm, Ofb, Omac, cbc, cfb, many};
use proptest::prelude::*;
use proptest::sample::Index;

/// Longer than the widest batch of any backend, and than what `cipher` hands over at a time.
const BYTES_MAX: usize = 9000;

fn data() -> impl Strategy<Value = Vec<u8>> {
    // Short ones are the interesting ones; long ones reach the wide kernels.
    prop_oneof![3 => prop::collection::vec(any::<u8>(), 0..300), 1 => prop::collection::vec(any::<u8>(), 0..BYTES_MAX)]
}

/// Where to cut, in ascending order, ends included.
fn cuts(indices: &[Index], bytes: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = indices.iter().map(|index| index.index(bytes + 1)).chain([0, bytes]).collect();
    cuts.sort_unstable();
    cuts
}

fn pieces<'a>(data: &'a mut [u8], indices: &[Index]) -> Vec<&'a mut [u8]> {
    let cuts = cuts(indices, data.len());
    let mut rest = data;
    cuts.windows(2).map(|pair| rest.split_off_mut(..pair[1] - pair[0]).expect("a cut within")).collect()
}

macro_rules! against_rustcrypto {
    ($module:ident, $ours:ty, $theirs:ty, $old:ty, $block:literal, $half:literal, $ctr:ident) => {
        mod $module {
            use super::*;

            fn cipher(key: &[u8; 32], backend: Index) -> $ours {
                let backends: Vec<_> = Backend::<$ours>::all().filter(Backend::is_supported).collect();
                <$ours>::with_backend(*backend.get(&backends), key.into()).expect("a supported backend")
            }

            proptest! {
                #[test]
                fn ecb(key: [u8; 32], mut text in data(), backend: Index) {
                    let (theirs, ours) = (<$theirs>::new(&key.into()), cipher(&key, backend));
                    let (blocks, _) = Array::slice_as_chunks_mut(&mut text[..]);
                    let plain = blocks.to_vec();
                    let mut coded = plain.clone();
                    theirs.encrypt_blocks(&mut coded);
                    ours.encrypt_blocks(blocks);
                    prop_assert_eq!(&*blocks, &coded[..]);
                    theirs.decrypt_blocks(&mut coded);
                    prop_assert_eq!(&coded, &plain);
                    let mut apart = vec![Default::default(); blocks.len()];
                    ours.decrypt_blocks_b2b(blocks, &mut apart).expect("equal lengths");
                    prop_assert_eq!(&apart, &plain);
                    ours.decrypt_blocks(blocks);
                    prop_assert_eq!(&*blocks, &plain[..]);
                }

                #[test]
                fn ctr(
                    key: [u8; 32],
                    iv: [u8; $half],
                    text in data(),
                    indices in prop::collection::vec(any::<Index>(), 0..6),
                    seek: Index,
                    backend: Index,
                ) {
                    let mut whole_iv = [0; $block];
                    whole_iv[..$half].copy_from_slice(&iv);
                    let mut theirs = text.clone();
                    ctr::$ctr::<$theirs>::new(&key.into(), &whole_iv.into()).apply_keystream(&mut theirs);

                    let ours = cipher(&key, backend);
                    let mut wide = text.clone();
                    let core = ctr::CtrCore::inner_iv_init(&ours, &whole_iv.into());
                    ctr::$ctr::<&$ours>::from_core(core).apply_keystream(&mut wide);
                    prop_assert!(wide == theirs, "ours under their mode");

                    let mut data = text.clone();
                    let mut stream = Ctr::inner_iv_init(&ours, &iv.into());
                    let mut at = 0;
                    for piece in pieces(&mut data, &indices) {
                        stream.apply_keystream(piece);
                        at += piece.len();
                        prop_assert_eq!(stream.current_pos::<u64>(), at as u64);
                    }
                    prop_assert!(data == theirs, "ours");
                    let from = seek.index(text.len() + 1);
                    stream.seek(from);
                    stream.apply_keystream(&mut data[from..]);
                    prop_assert!(data[from..] == text[from..], "ours from {from}");
                }

                #[test]
                fn ofb(
                    key: [u8; 32],
                    iv: [u8; $block],
                    text in data(),
                    indices in prop::collection::vec(any::<Index>(), 0..6),
                    backend: Index,
                ) {
                    let mut theirs = text.clone();
                    ofb::Ofb::<$theirs>::new(&key.into(), &iv.into()).apply_keystream(&mut theirs);
                    let mut data = text;
                    let mut stream = Ofb::inner_iv_init(cipher(&key, backend), &iv.into());
                    pieces(&mut data, &indices).into_iter().for_each(|piece| stream.apply_keystream(piece));
                    prop_assert!(data == theirs);
                }

                #[test]
                fn cfb(
                    key: [u8; 32],
                    iv: [u8; $block],
                    text in data(),
                    indices in prop::collection::vec(any::<Index>(), 0..6),
                    backend: Index,
                ) {
                    let mut theirs = text.clone();
                    cfb_mode::BufEncryptor::<$theirs>::new(&key.into(), &iv.into()).encrypt(&mut theirs);
                    let ours = cipher(&key, backend);
                    let mut data = text.clone();
                    let mut encryptor = cfb::Encryptor::inner_iv_init(&ours, &iv.into());
                    pieces(&mut data, &indices).into_iter().for_each(|piece| encryptor.encrypt(piece));
                    prop_assert!(data == theirs, "encrypted");
                    let mut decryptor = cfb::Decryptor::inner_iv_init(&ours, &iv.into());
                    pieces(&mut data, &indices).into_iter().for_each(|piece| decryptor.decrypt(piece));
                    prop_assert!(data == text, "decrypted");
                    cfb_mode::BufDecryptor::inner_iv_init(&ours, &iv.into()).decrypt(&mut theirs);
                    prop_assert!(theirs == text, "ours under their mode");
                }

                #[test]
                fn cbc_with_padding(key: [u8; 32], iv: [u8; $block], text in data(), backend: Index) {
                    let (key, iv) = (key, iv.into());
                    let padded = |mut data: Vec<u8>, bytes| {
                        data.resize(bytes + $block, 0);
                        data
                    };
                    let (mut theirs, mut data) = (padded(text.clone(), text.len()), padded(text.clone(), text.len()));
                    let theirs = ::cbc::Encryptor::<$theirs>::new(&key.into(), &iv)
                        .encrypt_padded::<block_padding::Pkcs7>(&mut theirs, text.len())
                        .expect("room for a block");
                    let ours = cipher(&key, backend);
                    let coded = cbc::Encryptor::inner_iv_init(&ours, &iv)
                        .encrypt_padded::<block_padding::Pkcs7>(&mut data, text.len())
                        .expect("room for a block");
                    prop_assert!(coded == theirs, "encrypted");
                    let mut coded = coded.to_vec();
                    let mut again = coded.clone();
                    let opened = ::cbc::Decryptor::inner_iv_init(&ours, &iv)
                        .decrypt_padded::<block_padding::Pkcs7>(&mut again);
                    prop_assert!(opened.expect("good padding") == text, "ours under their mode");
                    let opened = cbc::Decryptor::inner_iv_init(&ours, &iv)
                        .decrypt_padded::<block_padding::Pkcs7>(&mut coded);
                    prop_assert!(opened.expect("good padding") == text, "decrypted");
                }

                #[test]
                fn mac(
                    key: [u8; 32],
                    mut text in data(),
                    indices in prop::collection::vec(any::<Index>(), 0..6),
                    backend: Index,
                ) {
                    let theirs = cmac::Cmac::<$theirs>::new(&key.into()).chain_update(&text).finalize().into_bytes();
                    let ours = cipher(&key, backend);
                    let mut mac = Omac::inner_init(&ours);
                    pieces(&mut text, &indices).into_iter().for_each(|piece| mac.update(piece));
                    prop_assert_eq!(mac.finalize_reset().into_bytes(), theirs);
                    mac.update(&text);
                    prop_assert!(mac.verify(&theirs).is_ok(), "after a reset");
                    let mac = cmac::Cmac::inner_init(ours).chain_update(&text);
                    prop_assert!(mac.verify(&theirs).is_ok(), "ours under their mode");
                }

                #[test]
                fn mgm(
                    key: [u8; 32],
                    mut nonce: [u8; $block],
                    associated in prop::collection::vec(any::<u8>(), 0..100),
                    text in data(),
                    backend: Index,
                ) {
                    use ::mgm::aead::{AeadInPlace, KeyInit};

                    // What has neither is refused by us (RFC 9058 section 3) and not by them.
                    prop_assume!(!(associated.is_empty() && text.is_empty()));
                    nonce[0] &= 0x7f;
                    let mut theirs = text.clone();
                    let expected = ::mgm::Mgm::<$old>::new(&key.into())
                        .encrypt_in_place_detached(&nonce.into(), &associated, &mut theirs)
                        .expect("a short message");
                    let ours = Mgm::from(cipher(&key, backend));
                    let mut data = text.clone();
                    let tag = ours
                        .encrypt_inout_detached(&nonce.into(), &associated, data[..].as_mut().into())
                        .expect("a short message");
                    prop_assert!(data == theirs);
                    prop_assert_eq!(&tag[..], &expected[..]);
                    let opened = ours.decrypt_inout_detached(&nonce.into(), &associated, data[..].as_mut().into(), &tag);
                    prop_assert!(opened.is_ok());
                    prop_assert!(data == text);
                }

                #[test]
                fn many_messages(
                    key: [u8; 32],
                    starts in prop::collection::vec((any::<[u8; $block]>(), 0usize..400), 0..200),
                    backend: Index,
                ) {
                    let ours = cipher(&key, backend);
                    // Texts that differ from each other and from block to block; their content matters no further.
                    let texts: Vec<([u8; $block], Vec<u8>)> = starts
                        .iter()
                        .map(|(iv, bytes)| (*iv, (0..*bytes).map(|at| iv[at % $block] ^ at as u8).collect()))
                        .collect();
                    let whole = |text: &[u8]| text.len() / $block * $block;
                    type Many = fn(&$ours, &mut [many::Message<'_, $ours>]);
                    type One = fn(&$ours, &Block<$ours>, &mut [u8]);
                    let modes: [(&str, Many, One); 3] = [
                        ("cbc", |cipher, messages| many::cbc_encrypt(cipher, messages).unwrap(), |cipher, iv, data| {
                            cbc::Encryptor::inner_iv_init(cipher, iv).encrypt(data).unwrap();
                        }),
                        ("cfb", many::cfb_encrypt, |cipher, iv, data| {
                            cfb::Encryptor::inner_iv_init(cipher, iv).encrypt(data);
                        }),
                        ("ofb", many::ofb_apply, |cipher, iv, data| {
                            Ofb::inner_iv_init(cipher, iv).apply_keystream(data);
                        }),
                    ];
                    for (name, at_once, alone) in modes {
                        let mut data: Vec<Vec<u8>> = texts
                            .iter()
                            .map(|(_, text)| text[..if name == "cbc" { whole(text) } else { text.len() }].to_vec())
                            .collect();
                        let mut expected = data.clone();
                        for ((iv, _), data) in texts.iter().zip(&mut expected) {
                            alone(&ours, iv.into(), data);
                        }
                        let mut ivs: Vec<Block<$ours>> = texts.iter().map(|(iv, _)| (*iv).into()).collect();
                        let mut messages: Vec<_> =
                            data.iter_mut().zip(&mut ivs).map(|(text, iv)| many::Message::new(&mut text[..], iv)).collect();
                        at_once(&ours, &mut messages);
                        prop_assert!(data == expected, "{}", name);
                    }
                    let mut tags: Vec<Block<$ours>> = vec![Default::default(); texts.len()];
                    let mut messages: Vec<_> =
                        texts.iter().zip(&mut tags).map(|((_, text), tag)| many::MacMessage::new(text, tag)).collect();
                    many::omac(&ours, &mut messages);
                    for ((_, text), tag) in texts.iter().zip(&tags) {
                        prop_assert!(Omac::inner_init(&ours).chain_update(text).verify(tag).is_ok());
                    }
                }
            }
        }
    };
}

// The crate `mgm` goes with ciphers of its time.
against_rustcrypto!(kuznyechik_ours, Kuznyechik, kuznyechik::Kuznyechik, old_kuznyechik::Kuznyechik, 16, 8, Ctr64BE);
against_rustcrypto!(magma_ours, Magma, magma::Magma, old_magma::Magma, 8, 4, Ctr32BE);
