use core::ffi::CStr;
use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use crate::block::Cipher;
use crate::ffi;

/// One implementation of the cipher `C`, which is [`Kuznyechik`](crate::Kuznyechik) or [`Magma`](crate::Magma).
///
/// Constructors that take none use [`Backend::default`].
///
/// ```
/// use kuzma::{Backend, Kuznyechik};
///
/// for backend in Backend::<Kuznyechik>::all().filter(|backend| backend.is_supported()) {
///     let key = [0x42; 32].into();
///     let cipher = Kuznyechik::with_backend(backend, &key)?;
///     assert_eq!(cipher.backend().name(), backend.name());
/// }
/// # Ok::<(), kuzma::Error>(())
/// ```
pub struct Backend<C> {
    backend: &'static ffi::Backend,
    cipher: PhantomData<fn() -> C>,
}

impl<C: Cipher> Backend<C> {
    /// The backends that were compiled in: the constant-time ones, fastest first, and behind them the others. Also those
    /// that this processor cannot run.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..).map_while(|index| {
            // SAFETY: any number may be asked for; what comes back is null or lives for ever.
            unsafe { Self::from_raw(ffi::kuzma_backend_at(C::CIPHER, index)) }
        })
    }

    /// The backend called `name`, which may be unsupported here.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|backend| backend.name() == name)
    }

    /// As in [`by_name`](Self::by_name): `"avx512"`, `"gfni"`, `"table"`, …
    pub fn name(&self) -> &'static str {
        // SAFETY: a backend of the library has a name, a literal.
        let name = unsafe { CStr::from_ptr(ffi::kuzma_backend_name(self.backend)) };
        name.to_str().unwrap_or_default()
    }

    /// Whether this processor can run it.
    pub fn is_supported(&self) -> bool {
        // SAFETY: a backend of the library.
        unsafe { ffi::kuzma_backend_supported(self.backend) }
    }

    /// Whether neither branches nor addresses depend on key or data, so that time and caches tell nothing.
    pub fn is_constant_time(&self) -> bool {
        // SAFETY: a backend of the library.
        unsafe { ffi::kuzma_backend_constant_time(self.backend) }
    }

    /// # Safety
    ///
    /// `backend` is null or a backend of the cipher `C`.
    pub(crate) unsafe fn from_raw(backend: *const ffi::Backend) -> Option<Self> {
        // SAFETY: the library's backends are constants.
        unsafe { backend.as_ref() }.map(|backend| Self { backend, cipher: PhantomData })
    }

    pub(crate) fn as_raw(&self) -> *const ffi::Backend {
        self.backend
    }
}

/// The first of [`Backend::all`] that runs here and is constant-time, as one is everywhere. Variable time is had by
/// [`Backend::by_name`] alone.
impl<C: Cipher> Default for Backend<C> {
    fn default() -> Self {
        // SAFETY: a valid cipher always has a backend.
        unsafe { Self::from_raw(ffi::kuzma_backend_default(C::CIPHER)) }.expect("every cipher has a portable backend")
    }
}

impl<C> Clone for Backend<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Backend<C> {}

impl<C> PartialEq for Backend<C> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.backend, other.backend)
    }
}

impl<C> Eq for Backend<C> {}

impl<C: Cipher> fmt::Debug for Backend<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backend").field(&self.name()).finish()
    }
}

/// From now on, in the whole process and for good, constructors refuse backends that are not constant-time with
/// [`Error::Backend`](crate::Error::Backend), whoever names them. Keys that exist already are not affected.
pub fn require_constant_time() {
    ffi::kuzma_require_constant_time();
}

/// From now on the library measures nothing. Else, on a processor that it has no figures of, it times the two kernels that
/// Magma's backend `avx512` has for messages of 4 KiB and more, at the first of them, for some 0.1 ms of processor time.
pub fn forbid_measuring() {
    ffi::kuzma_forbid_measuring();
}
