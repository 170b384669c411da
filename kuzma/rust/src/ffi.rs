//! The C library as `kuzma.h` declares it; `tests` below hold the layouts and numbers against the header itself.
//!
//! The content of a state is private to the C library, but its size is not, so the fields are here, and only the pointer
//! to the context is ever written from Rust.

// The fields are there for their size, and some of the numbers for the test below.
#![allow(dead_code)]

use core::ffi::{c_char, c_uint, c_void};
use core::mem::MaybeUninit;

pub(crate) const KEY_BYTES: usize = 32;
pub(crate) const BLOCK_BYTES_MAX: usize = 16;
pub(crate) const IV_BYTES_MAX: usize = 256;
pub(crate) const TAG_BYTES_MIN: usize = 4;

pub(crate) type Status = c_uint;
pub(crate) const OK: Status = 0;
pub(crate) const ERROR_ARGUMENT: Status = 1;
pub(crate) const ERROR_LENGTH: Status = 2;
pub(crate) const ERROR_KEY: Status = 3;
pub(crate) const ERROR_IV: Status = 4;
pub(crate) const ERROR_OVERLAP: Status = 5;
pub(crate) const ERROR_BACKEND: Status = 6;
pub(crate) const ERROR_CONTEXT: Status = 7;
pub(crate) const ERROR_LIMIT: Status = 8;
pub(crate) const ERROR_ORDER: Status = 9;
pub(crate) const ERROR_TAG_LENGTH: Status = 10;
pub(crate) const ERROR_TAG: Status = 11;

pub(crate) type Cipher = c_uint;
pub(crate) const KUZNYECHIK: Cipher = 0;
pub(crate) const MAGMA: Cipher = 1;

/// `struct kuzma_backend`, which the header does not define.
#[repr(C)]
pub(crate) struct Backend {
    private: [u8; 0],
}

/// Public because the sealed trait speaks of it; nobody can name it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Context {
    pub(crate) backend: *const Backend,
    /// A backend writes as much of it as it needs.
    state: [MaybeUninit<u64>; 640],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Ctr {
    pub(crate) context: *const Context,
    blocks_used: u64,
    keystream_used: u32,
    counter_is_secret: u16,
    block_bytes: u16,
    counter: [u8; BLOCK_BYTES_MAX],
    keystream: [u8; BLOCK_BYTES_MAX],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Feedback {
    pub(crate) context: *const Context,
    iv_bytes: u32,
    at: u32,
    keystream_used: u32,
    block_bytes: u32,
    keystream: [u8; BLOCK_BYTES_MAX],
    iv: [u8; IV_BYTES_MAX],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Mac {
    pub(crate) context: *const Context,
    pending_bytes: u32,
    finished: u16,
    block_bytes: u16,
    chain: [u8; BLOCK_BYTES_MAX],
    pending: [u8; BLOCK_BYTES_MAX],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CtrAcpkm {
    section_key: Context,
    ctr: Ctr,
    section_bytes: u64,
    section_left: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct MacAcpkm {
    master: CtrAcpkm,
    section_key: Context,
    section_bytes: u64,
    section_left: u64,
    pending_bytes: u32,
    finished: u32,
    chain: [u8; BLOCK_BYTES_MAX],
    pending: [u8; BLOCK_BYTES_MAX],
    final_key: [u8; BLOCK_BYTES_MAX],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Mgm {
    pub(crate) text: Ctr,
    associated_bytes: u64,
    text_bytes: u64,
    stage: u32,
    pending_bytes: u32,
    hash_counter: [u8; BLOCK_BYTES_MAX],
    pending: [u8; BLOCK_BYTES_MAX],
    sum: [u8; BLOCK_BYTES_MAX],
    text_counter: [u8; BLOCK_BYTES_MAX],
    text_sum: [u8; BLOCK_BYTES_MAX],
    verified: [u8; BLOCK_BYTES_MAX],
}

#[repr(C)]
pub(crate) struct Message {
    pub(crate) output: *mut u8,
    pub(crate) input: *const u8,
    pub(crate) bytes: usize,
    pub(crate) iv: *mut u8,
}

unsafe extern "C" {
    pub(crate) fn kuzma_status_text(status: Status) -> *const c_char;
    pub(crate) fn kuzma_backend_at(cipher: Cipher, index: usize) -> *const Backend;
    pub(crate) fn kuzma_backend_default(cipher: Cipher) -> *const Backend;
    pub(crate) safe fn kuzma_require_constant_time();
    pub(crate) safe fn kuzma_forbid_measuring();
    pub(crate) fn kuzma_backend_name(backend: *const Backend) -> *const c_char;
    pub(crate) fn kuzma_backend_supported(backend: *const Backend) -> bool;
    pub(crate) fn kuzma_backend_constant_time(backend: *const Backend) -> bool;

    pub(crate) fn kuzma_init(
        context: *mut Context,
        backend: *const Backend,
        key: *const u8,
        key_bytes: usize,
    ) -> Status;
    pub(crate) fn kuzma_wipe_state(state: *mut c_void, bytes: usize);

    pub(crate) fn kuzma_ecb_encrypt(context: *const Context, output: *mut u8, input: *const u8, bytes: usize)
    -> Status;
    pub(crate) fn kuzma_ecb_decrypt(context: *const Context, output: *mut u8, input: *const u8, bytes: usize)
    -> Status;
    pub(crate) fn kuzma_cbc_encrypt(
        context: *const Context,
        iv: *mut u8,
        iv_bytes: usize,
        output: *mut u8,
        input: *const u8,
        bytes: usize,
    ) -> Status;
    pub(crate) fn kuzma_cbc_decrypt(
        context: *const Context,
        iv: *mut u8,
        iv_bytes: usize,
        output: *mut u8,
        input: *const u8,
        bytes: usize,
    ) -> Status;

    pub(crate) fn kuzma_ctr_init(ctr: *mut Ctr, context: *const Context, iv: *const u8, iv_bytes: usize) -> Status;
    pub(crate) fn kuzma_ctr_xor(ctr: *mut Ctr, output: *mut u8, input: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_ctr_seek(ctr: *mut Ctr, offset: u64) -> Status;

    pub(crate) fn kuzma_feedback_init(
        state: *mut Feedback,
        context: *const Context,
        iv: *const u8,
        iv_bytes: usize,
    ) -> Status;
    pub(crate) fn kuzma_cfb_encrypt(state: *mut Feedback, output: *mut u8, input: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_cfb_decrypt(state: *mut Feedback, output: *mut u8, input: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_ofb_xor(state: *mut Feedback, output: *mut u8, input: *const u8, bytes: usize) -> Status;

    pub(crate) fn kuzma_mac_init(mac: *mut Mac, context: *const Context) -> Status;
    pub(crate) fn kuzma_mac_update(mac: *mut Mac, data: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mac_final(mac: *mut Mac, tag: *mut u8, tag_bytes: usize) -> Status;
    pub(crate) fn kuzma_mac_verify(mac: *mut Mac, tag: *const u8, tag_bytes: usize) -> Status;

    pub(crate) fn kuzma_ctr_acpkm_init(
        ctr: *mut CtrAcpkm,
        backend: *const Backend,
        key: *const u8,
        key_bytes: usize,
        iv: *const u8,
        iv_bytes: usize,
        section_bytes: u64,
    ) -> Status;
    pub(crate) fn kuzma_ctr_acpkm_xor(ctr: *mut CtrAcpkm, output: *mut u8, input: *const u8, bytes: usize) -> Status;

    pub(crate) fn kuzma_mac_acpkm_init(
        mac: *mut MacAcpkm,
        backend: *const Backend,
        key: *const u8,
        key_bytes: usize,
        section_bytes: u64,
        master_section_bytes: u64,
    ) -> Status;
    pub(crate) fn kuzma_mac_acpkm_update(mac: *mut MacAcpkm, data: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mac_acpkm_final(mac: *mut MacAcpkm, tag: *mut u8, tag_bytes: usize) -> Status;
    pub(crate) fn kuzma_mac_acpkm_verify(mac: *mut MacAcpkm, tag: *const u8, tag_bytes: usize) -> Status;

    pub(crate) fn kuzma_mgm_init(
        mgm: *mut Mgm,
        context: *const Context,
        nonce: *const u8,
        nonce_bytes: usize,
    ) -> Status;
    pub(crate) fn kuzma_mgm_associate(mgm: *mut Mgm, data: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_encrypt(mgm: *mut Mgm, output: *mut u8, input: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_absorb(mgm: *mut Mgm, ciphertext: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_decrypt(mgm: *mut Mgm, output: *mut u8, input: *const u8, bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_final(mgm: *mut Mgm, tag: *mut u8, tag_bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_verify(mgm: *mut Mgm, tag: *const u8, tag_bytes: usize) -> Status;
    pub(crate) fn kuzma_mgm_seal(
        context: *const Context,
        nonce: *const u8,
        nonce_bytes: usize,
        associated: *const u8,
        associated_bytes: usize,
        output: *mut u8,
        input: *const u8,
        bytes: usize,
        tag: *mut u8,
        tag_bytes: usize,
    ) -> Status;
    pub(crate) fn kuzma_mgm_open(
        context: *const Context,
        nonce: *const u8,
        nonce_bytes: usize,
        associated: *const u8,
        associated_bytes: usize,
        output: *mut u8,
        input: *const u8,
        bytes: usize,
        tag: *const u8,
        tag_bytes: usize,
    ) -> Status;

    pub(crate) fn kuzma_cbc_encrypt_many(context: *const Context, messages: *const Message, count: usize) -> Status;
    pub(crate) fn kuzma_cfb_encrypt_many(context: *const Context, messages: *const Message, count: usize) -> Status;
    pub(crate) fn kuzma_ofb_xor_many(context: *const Context, messages: *const Message, count: usize) -> Status;
    pub(crate) fn kuzma_mac_many(
        context: *const Context,
        messages: *const Message,
        count: usize,
        tag_bytes: usize,
    ) -> Status;
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;
    use core::mem::{align_of, offset_of, size_of};

    #[repr(C)]
    struct Fact {
        name: *const c_char,
        value: usize,
    }

    unsafe extern "C" {
        /// Ends with a null name; src/layout.c.
        static kuzma_layout: [Fact; 0];
    }

    macro_rules! layout {
        ($($rust:ident = $c:literal { $($field:ident),* })*) => {
            vec![$(
                (concat!("sizeof ", $c), size_of::<$rust>()),
                (concat!("_Alignof ", $c), align_of::<$rust>()),
                $((concat!($c, ".", stringify!($field)), offset_of!($rust, $field)),)*
            )*]
        };
    }

    #[test]
    fn the_declarations_are_those_of_the_header() {
        let mut ours: Vec<(&str, usize)> = layout! {
            Context = "kuzma_context" { backend, state }
            Ctr = "kuzma_ctr" { context, blocks_used, keystream_used, counter_is_secret, block_bytes, counter, keystream }
            Feedback = "kuzma_feedback" { context, iv_bytes, at, keystream_used, block_bytes, keystream, iv }
            Mac = "kuzma_mac" { context, pending_bytes, finished, block_bytes, chain, pending }
            CtrAcpkm = "kuzma_ctr_acpkm" { section_key, ctr, section_bytes, section_left }
            MacAcpkm = "kuzma_mac_acpkm" {
                master, section_key, section_bytes, section_left, pending_bytes, finished, chain, pending, final_key
            }
            Mgm = "kuzma_mgm" {
                text, associated_bytes, text_bytes, stage, pending_bytes, hash_counter, pending, sum, text_counter, text_sum,
                verified
            }
            Message = "kuzma_message" { output, input, bytes, iv }
        };
        let status = |name, value: Status| (name, value as usize);
        ours.extend([
            ("sizeof enum kuzma_status", size_of::<Status>()),
            ("sizeof enum kuzma_cipher", size_of::<Cipher>()),
            ("sizeof bool", size_of::<bool>()),
            ("KUZMA_KEY_BYTES", KEY_BYTES),
            ("KUZMA_BLOCK_BYTES_MAX", BLOCK_BYTES_MAX),
            ("KUZMA_IV_BYTES_MAX", IV_BYTES_MAX),
            ("KUZMA_TAG_BYTES_MIN", TAG_BYTES_MIN),
            status("KUZMA_OK", OK),
            status("KUZMA_ERROR_ARGUMENT", ERROR_ARGUMENT),
            status("KUZMA_ERROR_LENGTH", ERROR_LENGTH),
            status("KUZMA_ERROR_KEY", ERROR_KEY),
            status("KUZMA_ERROR_IV", ERROR_IV),
            status("KUZMA_ERROR_OVERLAP", ERROR_OVERLAP),
            status("KUZMA_ERROR_BACKEND", ERROR_BACKEND),
            status("KUZMA_ERROR_CONTEXT", ERROR_CONTEXT),
            status("KUZMA_ERROR_LIMIT", ERROR_LIMIT),
            status("KUZMA_ERROR_ORDER", ERROR_ORDER),
            status("KUZMA_ERROR_TAG_LENGTH", ERROR_TAG_LENGTH),
            status("KUZMA_ERROR_TAG", ERROR_TAG),
            status("KUZMA_KUZNYECHIK", KUZNYECHIK),
            status("KUZMA_MAGMA", MAGMA),
        ]);
        assert_eq!(ours, theirs());
    }

    fn theirs() -> Vec<(&'static str, usize)> {
        let mut facts = Vec::new();
        // SAFETY: src/layout.c defines an array of such elements, of which the last has a null name.
        unsafe {
            let mut fact = (&raw const kuzma_layout).cast::<Fact>();
            while !(*fact).name.is_null() {
                facts.push((CStr::from_ptr((*fact).name).to_str().expect("ASCII"), (*fact).value));
                fact = fact.add(1);
            }
        }
        facts
    }
}
