//! How a state of the C library lives in a Rust value: it may be moved, and is wiped when it is dropped.

use core::mem::MaybeUninit;

use crate::block::Cipher;
use crate::error::check;
use crate::{Error, ffi};

/// Key material of the C library, wiped when dropped.
#[derive(Clone)]
pub(crate) struct Wiped<S: Copy>(pub(crate) S);

impl<S: Copy> Drop for Wiped<S> {
    fn drop(&mut self) {
        // SAFETY: the bytes of a value that nobody uses any more, without a destructor (it is Copy).
        unsafe { ffi::kuzma_wipe_state((&raw mut self.0).cast(), size_of::<S>()) };
    }
}

impl<S: Copy> Wiped<S> {
    /// What `init`, one of kuzma_…_init, writes. It writes to a place of its own, which is wiped; so what is left behind
    /// is no more than what moving the result leaves.
    ///
    /// # Safety
    ///
    /// A success of `init` has written all that need be initialised.
    pub(crate) unsafe fn make(init: impl FnOnce(*mut S) -> ffi::Status) -> Result<Self, Error> {
        let mut place = MaybeUninit::uninit();
        check(init(place.as_mut_ptr()))?;
        // SAFETY: as the caller promises.
        let made = Self(unsafe { place.assume_init() });
        // SAFETY: the bytes of a copy that nobody uses any more.
        unsafe { ffi::kuzma_wipe_state(place.as_mut_ptr().cast(), size_of::<S>()) };
        Ok(made)
    }
}

/// A state whose pointers lead to constants of the library, or are set anew before each use.
///
/// # Safety
///
/// That is so.
pub(crate) unsafe trait Portable: Copy {}

// SAFETY: the pointer is to a backend, a constant.
unsafe impl Portable for ffi::Context {}
// SAFETY: `Bound::call` sets the pointer.
unsafe impl Portable for ffi::Ctr {}
// SAFETY: `Bound::call` sets the pointer.
unsafe impl Portable for ffi::Feedback {}
// SAFETY: `Bound::call` sets the pointer.
unsafe impl Portable for ffi::Mac {}
// SAFETY: `Bound::call` sets the pointer, which is in `text`.
unsafe impl Portable for ffi::Mgm {}
// SAFETY: it owns its context, and kuzma_ctr_acpkm_xor sets the pointer to that.
unsafe impl Portable for ffi::CtrAcpkm {}
// SAFETY: it owns its contexts; the only pointer to one is that of its CTR-ACPKM.
unsafe impl Portable for ffi::MacAcpkm {}

// SAFETY: no function of the library keeps anything tied to a thread, and a shared state is only read.
unsafe impl<S: Portable> Send for Wiped<S> {}
// SAFETY: as above; kuzma.h allows any number of threads to use a context at once.
unsafe impl<S: Portable> Sync for Wiped<S> {}

/// A state that points to the context it was made with.
pub(crate) trait Pointing: Portable {
    fn context(&mut self) -> &mut *const ffi::Context;
}

impl Pointing for ffi::Ctr {
    fn context(&mut self) -> &mut *const ffi::Context {
        &mut self.context
    }
}

impl Pointing for ffi::Feedback {
    fn context(&mut self) -> &mut *const ffi::Context {
        &mut self.context
    }
}

impl Pointing for ffi::Mac {
    fn context(&mut self) -> &mut *const ffi::Context {
        &mut self.context
    }
}

impl Pointing for ffi::Mgm {
    fn context(&mut self) -> &mut *const ffi::Context {
        &mut self.text.context
    }
}

/// A cipher, owned or borrowed, and beside it the state of a mode.
#[derive(Clone)]
pub(crate) struct Bound<C, S: Pointing> {
    cipher: C,
    state: Wiped<S>,
}

impl<C: Cipher, S: Pointing> Bound<C, S> {
    /// `init` is the state's kuzma_…_init.
    pub(crate) fn new(cipher: C, init: impl FnOnce(*mut S, *const ffi::Context) -> ffi::Status) -> Result<Self, Error> {
        // SAFETY: a success has written the whole state: each kuzma_…_init begins with zeros.
        let state = unsafe { Wiped::make(|state| init(state, cipher.context())) }?;
        Ok(Self { cipher, state })
    }

    /// Begins again. `init` as in [`new`](Self::new).
    pub(crate) fn renew(&mut self, init: impl FnOnce(*mut S, *const ffi::Context) -> ffi::Status) -> Result<(), Error> {
        // SAFETY: as in `new`. Only a state that was made takes the place of the old one.
        self.state = unsafe { Wiped::make(|state| init(state, self.cipher.context())) }?;
        Ok(())
    }

    /// Calls the library with a state that points to the context where it is now.
    #[inline]
    pub(crate) fn call(&mut self, function: impl FnOnce(*mut S) -> ffi::Status) -> Result<(), Error> {
        *self.state.0.context() = self.cipher.context();
        check(function(&raw mut self.state.0))
    }
}
