//! Published test vectors that the `openssl` command can compute.

/// A vector: what to run, and what must come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownAnswer {
    /// A shell command that prints the answer as raw bytes.
    pub(super) command: String,
    /// The right answer, in hexadecimal.
    pub(super) answer: String,
    /// Where it was published, as [`stend_model::checked::Checked::AnswerRight`] has it.
    pub(super) vector: &'static str,
    /// Old versions lack the command; then there is no check.
    pub(super) optional: bool,
}

const KEY_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const KEY_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// Mode of AES, initialisation vector, and the encryption of [`PLAIN`], from NIST SP 800-38A, appendix F.
const AES: [(&str, &str, &str, &str); 6] = [
    (
        "aes-128-ecb",
        KEY_128,
        "",
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf\
         43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
    ),
    (
        "aes-256-ecb",
        KEY_256,
        "",
        "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870\
         b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
    ),
    (
        "aes-128-cbc",
        KEY_128,
        "000102030405060708090a0b0c0d0e0f",
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
         73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
    ),
    (
        "aes-256-cbc",
        KEY_256,
        "000102030405060708090a0b0c0d0e0f",
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
         39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
    ),
    (
        "aes-128-ctr",
        KEY_128,
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
         5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
    ),
    (
        "aes-256-ctr",
        KEY_256,
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
         2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ),
];

/// Cipher, key, initialisation vector, plain text, its encryption, and the document, of ciphers that engines and providers bring.
const BROUGHT: [(&str, &str, &str, &str, &str, &str); 4] = [
    (
        "rc4",
        "0102030405060708090a0b0c0d0e0f10",
        "",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "9ac7cc9a609d1ef7b2932899cde41b975248c4959014126a6e8a84f11d1a9e1c",
        "rfc-6229",
    ),
    (
        "kuznyechik-ecb",
        "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef",
        "",
        "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a",
        "7f679d90bebc24305a468d42b9d4edcdb429912c6e0032f9285452d76718d08b",
        "gost-34-13",
    ),
    (
        "kuznyechik-ctr",
        "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef",
        "1234567890abcef00000000000000000",
        "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a",
        "f195d8bec10ed1dbd57b5fa240bda1b885eee733f6a13e5df33ce4b33c45dee4",
        "gost-34-13",
    ),
    (
        "magma-ctr",
        "ffeeddccbbaa99887766554433221100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "1234567800000000",
        "92def06b3c130a59db54c704f8189d204a98fb2e67a8024c8912409b17b57e41",
        "4e98110c97b7b93c3e250d93d6e85d69136d868807b2dbef568eb680ab52a12d",
        "gost-34-13",
    ),
];

/// Cipher, key, nonce, additional data and tag of vectors without plain text. The `openssl` command has no AEAD, but since
/// 3.0 GMAC, which is GCM without plain text.
const GMAC: [(&str, &str, &str, &str, &str); 2] = [
    (
        "aes-128-gcm",
        "77be63708971c4e240d1cb79e8d77feb",
        "e0e00f19fed7ba0136a797f3",
        "7a43ec1d9c0a5a78a0b16533a6213cab",
        "209fcc8d3675ed938e9c7166709dd946",
    ),
    (
        "aes-256-gcm",
        "78dc4e0aaf52d935c3c01eea57428f00ca1fd475f5da86a49c8dd73d68c8e223",
        "d79cf22d504cc793c3fb6c8a",
        "b96baa8c1c75a671bfb2d08d06be5f36",
        "3e5d486aa2e30b22e040b85723a06e76",
    ),
];

/// Digests of `abc`, each with its standard.
const DIGESTS: [(&str, &str, &str); 4] = [
    ("md5", "900150983cd24fb0d6963f7d28e17f72", "RFC 1321"),
    ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d", "FIPS 180-4"),
    ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "FIPS 180-4"),
    (
        "sha512",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "FIPS 180-4",
    ),
];

impl KnownAnswer {
    /// The vector of an algorithm, if there is one.
    pub(super) fn of(algorithm: &str) -> Option<Self> {
        let name = algorithm.to_ascii_lowercase();
        let of_cipher = |cipher: &str, key: &str, iv: &str, plain: &str, answer: &str, vector| {
            let iv = if iv.is_empty() { String::new() } else { format!(" -iv {iv}") };
            Self {
                command: format!("{} | openssl enc -{cipher} -nopad -K {key}{iv}", printf(plain)),
                answer: answer.into(),
                vector,
                optional: false,
            }
        };
        let aes = AES.iter().find(|vector| vector.0 == name);
        let aes = aes.map(|(cipher, key, iv, answer)| of_cipher(cipher, key, iv, PLAIN, answer, "sp-800-38a"));
        let brought = BROUGHT.iter().find(|vector| vector.0 == name);
        let brought = brought
            .map(|(cipher, key, iv, plain, answer, document)| of_cipher(cipher, key, iv, plain, answer, document));
        let gmac = || {
            GMAC.iter().find(|vector| vector.0 == name).map(|(cipher, key, nonce, data, tag)| Self {
                command: format!(
                    "{} | openssl mac -cipher {cipher} -macopt hexkey:{key} -macopt hexiv:{nonce} -in /dev/stdin -binary GMAC",
                    printf(data)
                ),
                answer: (*tag).into(),
                vector: "cavp-gmac",
                optional: true,
            })
        };
        let digest = || {
            DIGESTS.iter().find(|vector| vector.0 == name).map(|(digest, answer, standard)| Self {
                command: format!("printf abc | openssl dgst -{digest} -binary"),
                answer: (*answer).into(),
                vector: standard,
                optional: false,
            })
        };
        aes.or(brought).or_else(gmac).or_else(digest)
    }
}

/// A `printf` command that prints bytes given in hexadecimal. Octal escapes are the ones that every shell knows.
fn printf(hexadecimal: &str) -> String {
    let digits = hexadecimal.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16).unwrap_or(0);
    format!("printf '{}'", digits.map(|pair| format!("\\{:03o}", byte(pair))).collect::<String>())
}
