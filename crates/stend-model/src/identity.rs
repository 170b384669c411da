//! Identities: the same content has the same id, on any machine and in any year.

use std::io::{self, Read};

use serde::Serialize;
use sha2::{Digest, Sha256};

/// SHA-256 of the canonical JSON of `value`, as 64 lower-case hexadecimal digits.
///
/// Canonical means: object keys sorted, no white space. Struct fields are sorted too, because the value goes through
/// [`serde_json::Value`], whose maps are ordered by key.
///
/// # Panics
/// Never for the types of this crate: all of them have string keys and finite numbers.
pub fn identity_of<T: Serialize>(value: &T) -> String {
    let value = serde_json::to_value(value).expect("a noun of the model is always valid JSON");
    hexadecimal(&Sha256::digest(value.to_string().as_bytes()))
}

/// SHA-256 of raw bytes, as 64 lower-case hexadecimal digits.
pub fn digest_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of all that a reader gives, as 64 lower-case hexadecimal digits.
///
/// # Errors
/// It cannot be read to its end.
pub fn digest_of_stream(mut from: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match from.read(&mut block)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            length => digest.update(&block[..length]),
        }
    }
}

/// The first 12 digits of an identity: enough to tell machines apart on a screen.
pub fn short(identity: &str) -> &str {
    identity.get(..12).unwrap_or(identity)
}

/// Two digits a byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let a: serde_json::Value = serde_json::from_str(r#"{"b":1,"a":{"d":2,"c":3}}"#).unwrap();
        let b: serde_json::Value = serde_json::from_str(r#"{"a":{"c":3,"d":2},"b":1}"#).unwrap();
        assert_eq!(identity_of(&a), identity_of(&b));
    }

    #[test]
    fn the_digest_is_sha256() {
        // FIPS 180-4, example of a one-block message.
        assert_eq!(digest_of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_stream_has_the_digest_of_its_bytes() {
        for length in [0, 3, 1 << 16, (1 << 16) + 1, 200_000] {
            let bytes: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
            assert_eq!(digest_of_stream(&bytes[..]).unwrap(), digest_of(&bytes));
        }
    }
}
