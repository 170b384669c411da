//! Every case of the C library's vector files that speaks of a mode, through every backend that runs here, by way of
//! each type that this crate has for it.

mod common;

use std::collections::BTreeMap;

use cipher::array::Array;
use cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, Iv, Key, KeyInit,
    StreamCipher,
};
use common::{Case, cases};
use digest::Mac;
use digest::common::InnerInit;
use kuzma::aead::AeadInOut;
use kuzma::cipher::KeySizeUser;
use kuzma::{
    Backend, Cipher, Ctr, CtrAcpkm, Error, Kuznyechik, Magma, Mgm, MgmSealer, MgmVerifier, Ofb, Omac, OmacAcpkm, cbc,
    cfb, many,
};
use kuzma::{cipher, digest};

/// What a case needs of a cipher, beyond what the crate says in its sealed trait.
trait Tested: Cipher + KeySizeUser + KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + Clone {
    fn make(backend: Backend<Self>, key: &[u8]) -> Self;
}

impl Tested for Kuznyechik {
    fn make(backend: Backend<Self>, key: &[u8]) -> Self {
        Self::with_backend(backend, key.try_into().expect("32 bytes")).expect("a supported backend")
    }
}

impl Tested for Magma {
    fn make(backend: Backend<Self>, key: &[u8]) -> Self {
        Self::with_backend(backend, key.try_into().expect("32 bytes")).expect("a supported backend")
    }
}

fn blocks<C: Cipher>(bytes: &[u8]) -> Vec<Block<C>> {
    let (blocks, rest) = Array::slice_as_chunks(bytes);
    assert!(rest.is_empty());
    blocks.to_vec()
}

fn key<C: Tested>(case: &Case) -> Key<C> {
    case.bytes("key").as_slice().try_into().expect("32 bytes")
}

fn ecb<C: Tested>(cipher: &C, case: &Case) {
    let (plain, coded) = (blocks::<C>(&case.bytes("plain")), blocks::<C>(&case.bytes("coded")));
    let mut data = plain.clone();
    cipher.encrypt_blocks(&mut data);
    assert_eq!(data, coded);
    cipher.decrypt_blocks(&mut data);
    assert_eq!(data, plain);
    for (plain, coded) in plain.iter().zip(&coded) {
        let mut block = Block::<C>::default();
        cipher.encrypt_block_b2b(plain, &mut block);
        assert_eq!(&block, coded);
        cipher.decrypt_block(&mut block);
        assert_eq!(&block, plain);
    }
}

fn cbc<C: Tested>(cipher: &C, case: &Case) {
    let (plain, coded, iv) = (case.bytes("plain"), case.bytes("coded"), case.bytes("iv"));
    let mut data = plain.clone();
    cbc::Encryptor::with_register(cipher, &iv).unwrap().encrypt(&mut data).unwrap();
    assert_eq!(data, coded);
    cbc::Decryptor::with_register(cipher, &iv).unwrap().decrypt(&mut data).unwrap();
    assert_eq!(data, plain);
    // By the traits, a block at a time, and all at once.
    let mut data = blocks::<C>(&plain);
    let mut encryptor = cbc::Encryptor::with_register(cipher, &iv).unwrap();
    data.iter_mut().for_each(|block| encryptor.encrypt_block(block));
    assert_eq!(data, blocks::<C>(&coded));
    cbc::Decryptor::with_register(cipher, &iv).unwrap().decrypt_blocks(&mut data);
    assert_eq!(data, blocks::<C>(&plain));
    if let Ok(mut iv) = Block::<C>::try_from(&iv[..]) {
        let mut data = plain.clone();
        many::cbc_encrypt(cipher, &mut [many::Message::new(&mut data[..], &mut iv)]).unwrap();
        assert_eq!(data, coded);
        if let Some(last) = blocks::<C>(&coded).last() {
            assert_eq!(&iv, last);
        }
    }
}

fn ctr<C: Tested>(cipher: &C, case: &Case) {
    let iv = Iv::<Ctr<C>>::try_from(&case.bytes("iv")[..]).unwrap();
    let mut data = case.bytes("plain");
    Ctr::inner_iv_init(cipher.clone(), &iv).apply_keystream(&mut data);
    assert_eq!(data, case.bytes("coded"));
    Ctr::inner_iv_init(cipher, &iv).apply_keystream(&mut data);
    assert_eq!(data, case.bytes("plain"));
}

fn cfb<C: Tested>(cipher: &C, case: &Case) {
    let (plain, coded, iv) = (case.bytes("plain"), case.bytes("coded"), case.bytes("iv"));
    let mut data = plain.clone();
    cfb::Encryptor::with_register(cipher, &iv).unwrap().encrypt(&mut data);
    assert_eq!(data, coded);
    cfb::Decryptor::with_register(cipher, &iv).unwrap().decrypt(&mut data);
    assert_eq!(data, plain);
    if let Ok(mut iv) = Block::<C>::try_from(&iv[..]) {
        many::cfb_encrypt(cipher, &mut [many::Message::new(&mut data[..], &mut iv)]);
        assert_eq!(data, coded);
        assert_eq!(&iv[..], case.bytes("iv"));
    }
}

fn ofb<C: Tested>(cipher: &C, case: &Case) {
    let iv = case.bytes("iv");
    let mut data = case.bytes("plain");
    Ofb::with_register(cipher, &iv).unwrap().apply_keystream(&mut data);
    assert_eq!(data, case.bytes("coded"));
    if let Ok(mut iv) = Block::<C>::try_from(&iv[..]) {
        many::ofb_apply(cipher, &mut [many::Message::new(&mut data[..], &mut iv)]);
        assert_eq!(data, case.bytes("plain"));
    }
}

fn mac<C: Tested>(cipher: &C, case: &Case) {
    let (plain, tag) = (case.bytes("plain"), case.bytes("tag"));
    let mut mac = Omac::inner_init(cipher);
    mac.update(&plain);
    assert_eq!(mac.clone().finalize().into_bytes()[..tag.len()], tag);
    mac.clone().verify_tag(&tag).unwrap();
    mac.verify_truncated_left(&tag).unwrap();
    let mut whole = Block::<C>::default();
    many::omac(cipher, &mut [many::MacMessage::new(&plain, &mut whole)]);
    assert_eq!(whole[..tag.len()], tag);
}

/// The next key by itself: one that CTR-ACPKM, with sections of one block, uses for its second block.
fn acpkm<C: Tested>(backend: Backend<C>, case: &Case) {
    let block = size_of::<Block<C>>();
    let mut data = vec![0; 2 * block];
    CtrAcpkm::with_backend(backend, &key::<C>(case), &Iv::<Ctr<C>>::default(), block as u64)
        .unwrap()
        .apply_keystream(&mut data);
    let mut counter = Block::<C>::default();
    counter[block - 1] = 1;
    C::make(backend, &case.bytes("output")).encrypt_block(&mut counter);
    assert_eq!(data[block..], counter[..]);
}

fn ctr_acpkm<C: Tested>(backend: Backend<C>, case: &Case) {
    let iv = Iv::<Ctr<C>>::try_from(&case.bytes("iv")[..]).unwrap();
    let mut data = case.bytes("plain");
    let stream = CtrAcpkm::with_backend(backend, &key::<C>(case), &iv, case.number("section")).unwrap();
    stream.clone().apply_keystream(&mut data);
    assert_eq!(data, case.bytes("coded"));
    { stream }.apply_keystream(&mut data);
    assert_eq!(data, case.bytes("plain"));
}

fn mac_acpkm<C: Tested>(backend: Backend<C>, case: &Case) {
    let tag = case.bytes("tag");
    let (section, key_section) = (case.number("section"), case.number("key-section"));
    let mut mac = OmacAcpkm::with_backend(backend, &key::<C>(case), section, key_section).unwrap();
    mac.update(&case.bytes("plain")).unwrap();
    assert_eq!(mac.clone().finalize().unwrap()[..tag.len()], tag);
    mac.verify_tag(&tag).unwrap();
}

fn mgm<C: Tested>(cipher: &C, case: &Case) {
    let (nonce, ad, tag) = (case.bytes("iv"), case.bytes("ad"), case.bytes("tag"));
    let (plain, coded) = (case.bytes("plain"), case.bytes("coded"));
    let mgm = Mgm::from(cipher);
    let (mut data, mut made) = (plain.clone(), vec![0; tag.len()]);
    mgm.seal(&nonce, &ad, data[..].as_mut().into(), &mut made).unwrap();
    assert_eq!((&data, &made), (&coded, &tag));
    mgm.open(&nonce, &ad, data[..].as_mut().into(), &tag).unwrap();
    assert_eq!(data, plain);
    made[0] ^= 1;
    data.clone_from(&coded);
    assert_eq!(mgm.open(&nonce, &ad, data[..].as_mut().into(), &made), Err(Error::Tag));
    assert_eq!(data, coded);

    let nonce: Block<C> = nonce.as_slice().try_into().unwrap();
    let mut data = plain.clone();
    let whole = mgm.encrypt_inout_detached(&nonce, &ad, data[..].as_mut().into()).unwrap();
    assert_eq!((&data, &whole[..tag.len()]), (&coded, &tag[..]));
    mgm.decrypt_inout_detached(&nonce, &ad, data[..].as_mut().into(), &whole).unwrap();
    assert_eq!(data, plain);

    let mut sealer = MgmSealer::new(cipher, &nonce).unwrap();
    let mut verifier = MgmVerifier::new(cipher, &nonce).unwrap();
    for piece in ad.chunks(13) {
        sealer.associate(piece).unwrap();
        verifier.associate(piece).unwrap();
    }
    data.chunks_mut(29).for_each(|piece| sealer.encrypt(piece.into()).unwrap());
    assert_eq!((&data, sealer.finalize().unwrap()), (&coded, whole));
    data.chunks(31).for_each(|piece| verifier.absorb(piece).unwrap());
    verifier.verify(&tag).unwrap().decrypt(data[..].as_mut().into()).unwrap();
    assert_eq!(data, plain);
}

fn run<C: Tested>(case: &Case) -> bool {
    for backend in Backend::<C>::all().filter(Backend::is_supported) {
        // Shown only when an assertion fails.
        println!("{} by {}", case.title, backend.name());
        let cipher = || C::make(backend, &case.bytes("key"));
        match case.mode.as_str() {
            "ecb" => ecb(&cipher(), case),
            "cbc" => cbc(&cipher(), case),
            "ctr" => ctr(&cipher(), case),
            "cfb" => cfb(&cipher(), case),
            "ofb" => ofb(&cipher(), case),
            "mac" => mac(&cipher(), case),
            "acpkm" => acpkm(backend, case),
            "ctr-acpkm" => ctr_acpkm(backend, case),
            "mac-acpkm" => mac_acpkm(backend, case),
            "mgm" => mgm(&cipher(), case),
            // Parts of the ciphers and of MGM, which only the C library's own tests can reach.
            "multilinear" | "round-keys" | "s" | "r" | "l" | "t" | "g" => return false,
            other => panic!("{}: no mode {other}", case.title),
        }
    }
    true
}

#[test]
fn every_case_comes_out_right_through_every_backend() {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for case in cases() {
        let ran = match case.cipher.as_str() {
            "kuznyechik" => run::<Kuznyechik>(&case),
            "magma" => run::<Magma>(&case),
            other => panic!("{}: no cipher {other}", case.title),
        };
        *counts.entry((case.cipher, case.mode)).or_default() += usize::from(ran);
    }
    let modes = ["ecb", "cbc", "ctr", "cfb", "ofb", "mac", "acpkm", "ctr-acpkm", "mac-acpkm", "mgm"];
    for cipher in ["kuznyechik", "magma"] {
        for mode in modes {
            let count = counts.get(&(cipher.to_owned(), mode.to_owned()));
            assert!(count.is_some_and(|count| *count > 0), "no cases of {cipher} {mode}");
        }
    }
}
