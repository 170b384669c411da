//! Seals a stream of records with MGM and opens them again, as a protocol would: the nonce holds a number that never
//! comes twice, and the record's header is authenticated with it.
//!
//! `cargo run -p kuzma --example seal_records [-- BACKEND]`; without a backend's name it says which there are.

use std::process::ExitCode;

use kuzma::cipher::KeyInit;
use kuzma::{Backend, Error, Kuznyechik, Mgm};

const TAG_BYTES: usize = 16;

/// Four bytes are fixed for a connection and the last eight hold the number of the record, so that none comes twice under
/// the connection's key.
fn nonce(connection: u32, record: u64) -> [u8; 16] {
    let mut nonce = [0; 16];
    // MGM wants the first bit to be 0.
    nonce[..4].copy_from_slice(&(connection & 0x7fff_ffff).to_be_bytes());
    nonce[8..].copy_from_slice(&record.to_be_bytes());
    nonce
}

fn seal(mgm: &Mgm<&Kuznyechik>, number: u64, header: &[u8], text: &mut Vec<u8>) -> Result<(), Error> {
    let mut tag = [0; TAG_BYTES];
    mgm.seal(&nonce(1, number), header, text.as_mut_slice().into(), &mut tag)?;
    text.extend(tag);
    Ok(())
}

fn open(mgm: &Mgm<&Kuznyechik>, number: u64, header: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
    let bytes = sealed.len().checked_sub(TAG_BYTES).ok_or(Error::TagLength)?;
    let (text, tag) = sealed.split_at_mut(bytes);
    mgm.open(&nonce(1, number), header, text.into(), tag)?;
    sealed.truncate(bytes);
    Ok(())
}

fn run(cipher: &Kuznyechik) -> Result<(), Error> {
    let mgm = Mgm::from(cipher);
    for (number, text) in (0..).zip(["the first record", "the second, which is longer", "3"]) {
        let header = [number as u8, text.len() as u8];
        let mut record = text.as_bytes().to_vec();
        seal(&mgm, number, &header, &mut record)?;
        println!("{number}: {} bytes sealed", record.len());

        // Under another number, as a replay would come, it does not open.
        assert_eq!(open(&mgm, number + 1, &header, &mut record.clone()), Err(Error::Tag));
        open(&mgm, number, &header, &mut record)?;
        assert_eq!(record, text.as_bytes());
    }
    Ok(())
}

fn main() -> ExitCode {
    // Of a real key nobody writes down a byte.
    let key = [0x42; 32].into();
    let cipher = match std::env::args().nth(1) {
        None => {
            for backend in Backend::<Kuznyechik>::all() {
                println!(
                    "{}{}{}",
                    backend.name(),
                    if backend.is_supported() { "" } else { ", not on this processor" },
                    if backend.is_constant_time() { ", constant-time" } else { "" },
                );
            }
            Ok(Kuznyechik::new(&key))
        }
        Some(name) => {
            Backend::by_name(&name).ok_or(Error::Argument).and_then(|backend| Kuznyechik::with_backend(backend, &key))
        }
    };
    match cipher.and_then(|cipher| run(&cipher)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("seal_records: {error}");
            ExitCode::FAILURE
        }
    }
}
