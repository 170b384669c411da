//! What the documentation promises beyond right results: errors, limits, moves, threads, and that nothing is left.

use std::mem::MaybeUninit;

use kuzma::aead::AeadInOut;
use kuzma::cipher::inout::InOutBuf;
use kuzma::cipher::{
    Block, BlockCipherEncrypt, BlockModeEncrypt, InnerIvInit, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek,
};
use kuzma::digest::Mac;
use kuzma::{
    Backend, Ctr, CtrAcpkm, Error, Kuznyechik, Magma, Mgm, MgmSealer, MgmVerifier, Ofb, Omac, OmacAcpkm, cbc, cfb, many,
};

const KEY: [u8; 32] = *b"a key that is used in tests only";

fn kuznyechik() -> Kuznyechik {
    Kuznyechik::new(&KEY.into())
}

fn magma() -> Magma {
    Magma::new(&KEY.into())
}

#[test]
fn keys_and_initial_values_of_other_lengths_are_refused() {
    for bytes in [0, 16, 31, 33, 64] {
        assert!(Kuznyechik::new_from_slice(&vec![0; bytes]).is_err());
        assert!(Magma::new_from_slice(&vec![0; bytes]).is_err());
    }
    assert!(Ctr::<Kuznyechik>::new_from_slices(&KEY, &[0; 16]).is_err());
    assert!(Ctr::<Magma>::new_from_slices(&KEY, &[0; 8]).is_err());
    for bytes in [0, 15, 17, 257, 272] {
        let register = vec![0; bytes];
        assert_eq!(Ofb::with_register(kuznyechik(), &register).err(), Some(Error::Iv), "{bytes}");
        assert_eq!(cfb::Encryptor::with_register(kuznyechik(), &register).err(), Some(Error::Iv), "{bytes}");
        assert_eq!(cfb::Decryptor::with_register(kuznyechik(), &register).err(), Some(Error::Iv), "{bytes}");
        assert_eq!(cbc::Encryptor::with_register(kuznyechik(), &register).err(), Some(Error::Iv), "{bytes}");
        assert_eq!(cbc::Decryptor::with_register(kuznyechik(), &register).err(), Some(Error::Iv), "{bytes}");
    }
    assert!(cbc::Encryptor::with_register(magma(), &[0; 256]).is_ok());
}

#[test]
fn sections_are_whole_blocks() {
    for section in [0, 1, 15, 17] {
        assert_eq!(
            CtrAcpkm::<Kuznyechik>::new(&KEY.into(), &[0; 8].into(), section).err(),
            Some(Error::Length),
            "{section}"
        );
        assert_eq!(OmacAcpkm::<Kuznyechik>::new(&KEY.into(), section, 64).err(), Some(Error::Length), "{section}");
        assert_eq!(OmacAcpkm::<Kuznyechik>::new(&KEY.into(), 64, section).err(), Some(Error::Length), "{section}");
    }
}

#[test]
fn what_is_refused_is_left_alone() {
    let mut data = [7; 33];
    let mut encryptor = cbc::Encryptor::with_register(kuznyechik(), &[1; 32]).unwrap();
    assert_eq!(encryptor.encrypt(&mut data), Err(Error::Length));
    assert_eq!((data, encryptor.register()), ([7; 33], &[1; 32][..]));
    assert_eq!(encryptor.encrypt_b2b(&[0; 32], &mut data), Err(Error::Length));
    assert_eq!(data, [7; 33]);

    let (mut good, mut bad) = ([7; 32], [7; 31]);
    let mut ivs = [[1; 16].into(), [2; 16].into()];
    let [first, second] = &mut ivs;
    let mut messages = [many::Message::new(&mut good[..], first), many::Message::new(&mut bad[..], second)];
    assert_eq!(many::cbc_encrypt(&kuznyechik(), &mut messages), Err(Error::Length));
    assert_eq!((good, bad, ivs), ([7; 32], [7; 31], [[1; 16].into(), [2; 16].into()]));
}

#[test]
fn ctr_ends_where_its_counter_does() {
    fn at_the_end(mut stream: impl StreamCipher + StreamCipherSeek, end: u128) {
        let mut data = [7; 24];
        stream.seek(end - 9);
        assert!(stream.check_remaining(9).is_ok());
        assert!(stream.check_remaining(10).is_err());
        assert!(stream.try_apply_keystream(&mut data[..10]).is_err());
        assert_eq!(data, [7; 24], "nothing was written");
        assert_eq!(stream.current_pos::<u128>(), end - 9);
        stream.apply_keystream(&mut data[..9]);
        assert_ne!(data[..9], [7; 9]);
        assert_eq!(stream.current_pos::<u128>(), end);
        assert!(stream.try_apply_keystream(&mut data[..1]).is_err());
    }
    at_the_end(Ctr::inner_iv_init(magma(), &[1; 4].into()), 8 << 32);
    let mut stream = Ctr::inner_iv_init(magma(), &[1; 4].into());
    assert!(stream.try_seek(8u64 << 32).is_ok(), "the end itself is a place");
    assert_eq!(stream.current_pos::<u64>(), 8 << 32);
    assert!(stream.try_seek((8u64 << 32) + 1).is_err());

    // The end of Kuznyechik's is past the last u64.
    at_the_end(Ctr::inner_iv_init(kuznyechik(), &[1; 8].into()), 1 << 64);
}

/// Wherever a stream is sought to, its counter is the block's number, every byte of it.
#[test]
fn ctr_counts_blocks_in_all_bytes_of_its_counter() {
    fn from<C: BlockCipherEncrypt>(
        cipher: C,
        mut stream: impl StreamCipherSeek + StreamCipher,
        iv: &[u8],
        numbers: u32,
    ) {
        let bytes = 2 * iv.len();
        for number in (0..numbers).map(|shift| 1_u128 << shift | 1) {
            let counter = number.to_be_bytes();
            let block = [iv, &counter[16 - iv.len()..]].concat();
            let mut expected = Block::<C>::try_from(&block[..]).unwrap();
            cipher.encrypt_block(&mut expected);
            let mut found = vec![0; bytes];
            stream.seek(number * bytes as u128);
            stream.apply_keystream(&mut found);
            assert_eq!(found, expected[..], "block {number:x}");
        }
    }
    from(magma(), Ctr::inner_iv_init(magma(), &[9; 4].into()), &[9; 4], 32);
    from(kuznyechik(), Ctr::inner_iv_init(kuznyechik(), &[9; 8].into()), &[9; 8], 60);
}

#[test]
fn mgm_takes_only_nonces_whose_first_bit_is_0() {
    let mgm = Mgm::from(kuznyechik());
    let mut nonce = [0x7f; 16];
    let mut data = [7; 20];
    let mut tag = [0; 16];
    mgm.seal(&nonce, b"", data[..].as_mut().into(), &mut tag).unwrap();
    let sealed = data;
    nonce[0] = 0xff;
    assert_eq!(mgm.seal(&nonce, b"", data[..].as_mut().into(), &mut tag), Err(Error::Iv));
    assert_eq!(mgm.open(&nonce, b"", data[..].as_mut().into(), &tag), Err(Error::Iv));
    assert!(mgm.encrypt_inout_detached(&nonce.into(), b"", data[..].as_mut().into()).is_err());
    assert_eq!(MgmSealer::new(&kuznyechik(), &nonce).err(), Some(Error::Iv));
    assert_eq!(MgmVerifier::new(&kuznyechik(), &[0; 15]).err(), Some(Error::Iv));
    assert_eq!(data, sealed);
}

#[test]
fn mgm_has_no_empty_message_and_tags_of_4_bytes_to_a_block() {
    let mgm = Mgm::from(magma());
    let nonce = [1; 8];
    assert_eq!(mgm.seal(&nonce, b"", (&mut [][..]).into(), &mut [0; 8]), Err(Error::Length));
    assert!(mgm.encrypt_inout_detached(&nonce.into(), b"", (&mut [][..]).into()).is_err());
    assert_eq!(MgmSealer::new(&magma(), &nonce).unwrap().finalize().err(), Some(Error::Length));
    for bytes in 0..=9 {
        let mut data = [7; 20];
        let mut tag = vec![0; bytes];
        let sealed = mgm.seal(&nonce, b"ad", data[..].as_mut().into(), &mut tag);
        if (4..=8).contains(&bytes) {
            assert_eq!(sealed, Ok(()));
            assert_eq!(mgm.open(&nonce, b"ad", data[..].as_mut().into(), &tag), Ok(()));
        } else {
            assert_eq!(sealed, Err(Error::TagLength));
            assert_eq!(mgm.open(&nonce, b"ad", data[..].as_mut().into(), &tag), Err(Error::TagLength));
        }
        assert_eq!(data, [7; 20]);
    }
}

/// Every single bit of nonce, associated data, text and tag; by the trait, in place and from buffer to buffer.
fn every_flipped_bit_is_found<C: kuzma::Cipher>(cipher: C) {
    let block = size_of::<kuzma::cipher::Block<C>>();
    let mgm = Mgm::from(cipher);
    let (nonce, associated, mut text) = (vec![0x11; block], vec![0x22; 21], vec![0x33; 37]);
    let mut tag = vec![0; block];
    mgm.seal(&nonce, &associated, text[..].as_mut().into(), &mut tag).unwrap();
    let whole = [nonce, associated, text, tag];
    for part in 0..whole.len() {
        for bit in 0..8 * whole[part].len() {
            let mut changed = whole.clone();
            changed[part][bit / 8] ^= 0x80 >> (bit % 8);
            let [nonce, associated, text, tag] = &mut changed;
            let before = text.clone();
            let expected = if (part, bit) == (0, 0) { Error::Iv } else { Error::Tag };
            assert_eq!(mgm.open(nonce, associated, text[..].as_mut().into(), tag), Err(expected));
            let (nonce, tag) = (nonce.as_slice().try_into().unwrap(), tag.as_slice().try_into().unwrap());
            assert!(mgm.decrypt_inout_detached(nonce, associated, text[..].as_mut().into(), tag).is_err());
            assert_eq!(*text, before, "the buffer is as it was");
            let mut apart = vec![0xa5; text.len()];
            let buffer = InOutBuf::new(&before, &mut apart).unwrap();
            assert_eq!(mgm.open(nonce, associated, buffer, tag), Err(expected));
            let left = if expected == Error::Tag { 0 } else { 0xa5 };
            assert_eq!(apart, vec![left; text.len()], "nothing comes out");
        }
    }
}

#[test]
fn mgm_finds_every_flipped_bit() {
    for backend in Backend::all().filter(Backend::is_supported) {
        every_flipped_bit_is_found(Kuznyechik::with_backend(backend, &KEY.into()).unwrap());
    }
    for backend in Backend::all().filter(Backend::is_supported) {
        every_flipped_bit_is_found(Magma::with_backend(backend, &KEY.into()).unwrap());
    }
}

#[test]
fn mgm_in_pieces_keeps_its_order_and_opens_what_was_verified() {
    let cipher = kuznyechik();
    let mut data = [7; 40];
    let mut sealer = MgmSealer::new(&cipher, &[1; 16]).unwrap();
    sealer.encrypt(data[..].as_mut().into()).unwrap();
    assert_eq!(sealer.associate(b"late"), Err(Error::Order));
    let tag = sealer.finalize().unwrap();

    let mut verifier = MgmVerifier::new(&cipher, &[1; 16]).unwrap();
    verifier.absorb(&data).unwrap();
    assert_eq!(verifier.associate(b"late"), Err(Error::Order));
    assert_eq!(verifier.clone().verify(&tag[..3]).err(), Some(Error::TagLength));
    assert_eq!(verifier.clone().verify(&[0; 16]).err(), Some(Error::Tag));
    let opener = verifier.verify(&tag).unwrap();
    assert_eq!(opener.clone().decrypt(data[..39].as_mut().into()), Err(Error::Length));
    assert_eq!(opener.clone().decrypt([0; 41].as_mut().into()), Err(Error::Length));
    let mut changed = data;
    changed[20] ^= 1;
    assert_eq!(opener.clone().decrypt(changed.as_mut().into()), Err(Error::Tag));
    assert_eq!(changed, [0; 40]);
    opener.decrypt(data[..].as_mut().into()).unwrap();
    assert_eq!(data, [7; 40]);
}

#[test]
fn a_wrong_mac_is_refused() {
    let mac = || Omac::<Magma>::new(&KEY.into()).chain_update(b"message");
    let tag = mac().finalize().into_bytes();
    assert_eq!(mac().verify_tag(&tag), Ok(()));
    assert_eq!(mac().verify_tag(&tag[..4]), Ok(()));
    assert_eq!(mac().verify_tag(&tag[..3]), Err(Error::TagLength));
    assert_eq!(mac().verify_tag(&[tag.as_slice(), &[0]].concat()), Err(Error::TagLength));
    let mut acpkm = OmacAcpkm::<Magma>::new(&KEY.into(), 64, 64).unwrap();
    acpkm.update(&[7; 200]).unwrap();
    let long = acpkm.clone().finalize().unwrap();
    assert_eq!(acpkm.clone().verify_tag(&long), Ok(()));
    for bit in 0..64 {
        let (mut forged, mut long_forged) = (tag, long);
        forged[bit / 8] ^= 1 << (bit % 8);
        long_forged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(mac().verify_tag(&forged), Err(Error::Tag));
        assert!(mac().verify(&forged).is_err());
        assert_eq!(acpkm.clone().verify_tag(&long_forged), Err(Error::Tag));
    }
}

/// Puts a value somewhere else and overwrites where it was, so that a pointer that still led there would show.
fn moved<T>(mut value: Box<T>) -> Box<T> {
    let mut other = Box::new(MaybeUninit::<T>::uninit());
    // SAFETY: the value is copied out and the copy alone is used; the old place holds no destructor any more.
    unsafe {
        let from: *mut T = &raw mut *value;
        from.copy_to_nonoverlapping(other.as_mut_ptr(), 1);
        from.cast::<u8>().write_bytes(0xa5, size_of::<T>());
        // Not freed, so that nobody else writes there.
        Box::leak(Box::from_raw(Box::into_raw(value).cast::<MaybeUninit<T>>()));
        other.assume_init()
    }
}

#[test]
fn streams_may_be_moved_between_calls() {
    fn check<T>(make: impl Fn() -> T, step: impl Fn(&mut T, usize) -> Vec<u8>) {
        let mut still = make();
        let mut moving = Box::new(make());
        for number in 0..6 {
            moving = moved(moving);
            assert_eq!(step(&mut moving, number), step(&mut still, number));
        }
    }
    fn xor<S: StreamCipher>(stream: &mut S, number: usize) -> Vec<u8> {
        let mut data = vec![7; 100 * number + 5];
        stream.apply_keystream(&mut data);
        data
    }
    let data = |number: usize| vec![7; 100 * number + 5];
    check(|| Ctr::<Kuznyechik>::new(&KEY.into(), &[1; 8].into()), xor);
    check(|| CtrAcpkm::<Kuznyechik>::new(&KEY.into(), &[1; 8].into(), 64).unwrap(), xor);
    check(|| Ofb::<Magma>::new(&KEY.into(), &[1; 8].into()), xor);
    check(
        || cfb::Encryptor::<Magma>::new(&KEY.into(), &[1; 8].into()),
        |cfb, number| {
            let mut data = data(number);
            cfb.encrypt(&mut data);
            data
        },
    );
    check(
        || cbc::Encryptor::<Magma>::new(&KEY.into(), &[1; 8].into()),
        |cbc, number| {
            let mut blocks = vec![[7; 8].into(); number + 1];
            cbc.encrypt_blocks(&mut blocks);
            blocks.concat()
        },
    );
    check(
        || Omac::<Kuznyechik>::new(&KEY.into()),
        |mac, number| {
            mac.update(&data(number));
            mac.clone().finalize().into_bytes().to_vec()
        },
    );
    check(
        || OmacAcpkm::<Kuznyechik>::new(&KEY.into(), 64, 96).unwrap(),
        |mac, number| {
            mac.update(&data(number)).unwrap();
            mac.clone().finalize().unwrap().to_vec()
        },
    );
    check(
        || MgmSealer::new(kuznyechik(), &[1; 16]).unwrap(),
        |sealer, number| {
            let mut data = data(number);
            sealer.encrypt(data[..].as_mut().into()).unwrap();
            data
        },
    );
}

#[test]
fn a_key_is_used_by_several_threads_at_once() {
    fn shared<T: Send + Sync>(_: &T) {}
    let cipher = kuznyechik();
    let mut expected = vec![7; 100_000];
    Ctr::inner_iv_init(&cipher, &[1; 8].into()).apply_keystream(&mut expected);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut stream = Ctr::inner_iv_init(&cipher, &[1; 8].into());
            shared(&stream);
            let expected = &expected;
            scope.spawn(move || {
                let mut data = vec![7; expected.len()];
                stream.apply_keystream(&mut data);
                assert!(data == *expected);
            });
        }
    });
    shared(&CtrAcpkm::<Magma>::new(&KEY.into(), &[1; 4].into(), 64).unwrap());
    shared(&OmacAcpkm::<Magma>::new(&KEY.into(), 64, 64).unwrap());
    shared(&MgmSealer::new(cipher.clone(), &[1; 16]).unwrap());
}

/// The bytes of a value after its destructor has run.
fn remains<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    let mut place = Box::new(MaybeUninit::<T>::zeroed());
    place.write(make());
    let bytes = place.as_ptr().cast::<u8>();
    let count = || {
        // SAFETY: the place was all zeros before the value, so every byte is initialised; volatile, because the value
        // is dead after its destructor and the compiler could know.
        (0..size_of::<T>()).filter(|at| unsafe { bytes.add(*at).read_volatile() } != 0).count()
    };
    let before = count();
    // SAFETY: the value is whole, and not used again.
    unsafe { place.as_mut_ptr().drop_in_place() };
    (before, count())
}

#[test]
fn nothing_of_a_key_is_left_after_drop() {
    for backend in Backend::<Kuznyechik>::all().filter(Backend::is_supported) {
        let (before, after) = remains(|| Kuznyechik::with_backend(backend, &KEY.into()).unwrap());
        assert!(before > 100, "{backend:?} expands the key: {before}");
        assert_eq!(after, 0, "{backend:?}");
    }
    for backend in Backend::<Magma>::all().filter(Backend::is_supported) {
        let (before, after) = remains(|| Magma::with_backend(backend, &KEY.into()).unwrap());
        assert!(before > 20, "{backend:?} keeps the key: {before}");
        assert_eq!(after, 0, "{backend:?}");
    }
    assert_eq!(remains(|| Omac::new_from_slice(&KEY).map(|mac: Omac<Magma>| mac.chain_update([7; 9])).unwrap()).1, 0);
    assert_eq!(remains(|| OmacAcpkm::<Magma>::new(&KEY.into(), 64, 64).unwrap()).1, 0);
    assert_eq!(remains(|| MgmSealer::new(kuznyechik(), &[1; 16]).unwrap()).1, 0);
    assert_eq!(remains(|| Ofb::<Kuznyechik>::new(&KEY.into(), &[1; 16].into())).1, 0);
}

#[cfg(feature = "zeroize")]
#[test]
fn types_with_keys_are_marked() {
    fn marked<T: kuzma::cipher::zeroize::ZeroizeOnDrop>() {}
    marked::<Kuznyechik>();
    marked::<Magma>();
    marked::<Ctr<Kuznyechik>>();
    marked::<CtrAcpkm<Kuznyechik>>();
    marked::<Ofb<Kuznyechik>>();
    marked::<cfb::Encryptor<Kuznyechik>>();
    marked::<cbc::Decryptor<Kuznyechik>>();
    marked::<Omac<Kuznyechik>>();
    marked::<OmacAcpkm<Kuznyechik>>();
    marked::<Mgm<Kuznyechik>>();
}

#[test]
fn backends_are_found_by_name() {
    for backend in Backend::<Kuznyechik>::all() {
        assert_eq!(Backend::by_name(backend.name()), Some(backend));
        let made = Kuznyechik::with_backend(backend, &KEY.into());
        assert_eq!(made.map(|cipher| cipher.backend()).ok(), backend.is_supported().then_some(backend));
    }
    let names: Vec<_> = Backend::<Magma>::all().map(|backend| backend.name()).collect();
    assert!(names.contains(&"table") && names.contains(&"compact"), "{names:?}");
    assert_eq!(Backend::<Magma>::by_name("none of them"), None);
    assert!(Backend::<Kuznyechik>::by_name("constant-time").is_some_and(|backend| backend.is_constant_time()));
    assert!(Backend::<Kuznyechik>::by_name("table").is_some_and(|backend| !backend.is_constant_time()));
    assert_eq!(
        format!("{:?}", kuznyechik()),
        format!("Kuznyechik {{ backend: {:?}, .. }}", kuznyechik().backend().name())
    );
}

#[test]
fn one_block_and_many_are_the_same() {
    let cipher = magma();
    for count in [1, 2, 63, 64, 65, 127, 129, 600] {
        let mut together: Vec<Block<Magma>> = vec![[9; 8].into(); count];
        together.iter_mut().enumerate().for_each(|(number, block)| block[0] = number as u8);
        let mut apart = together.clone();
        cipher.encrypt_blocks(&mut together);
        apart.iter_mut().for_each(|block| cipher.encrypt_block(block));
        assert_eq!(together, apart, "{count}");
    }
}
