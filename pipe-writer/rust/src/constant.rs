use std::{io, ptr};

use crate::{check, ffi};

/// Data that is sent again and again: [`PipeWriter::repeat`](crate::PipeWriter::repeat).
///
/// It is copied once, into pages of the kernel that nobody can change, and `tee()` puts references to them into other
/// pipes: safe with every reader. Best are lengths of which a few repetitions fill whole pages (a divisor or multiple of
/// 4096, to 1 MiB); of others a part is copied each time, and longer ones as a whole.
#[derive(Debug)]
pub struct Constant {
    constant: ptr::NonNull<ffi::Constant>,
}

// SAFETY: it is not changed after it was made; tee() locks the pipe it takes from.
unsafe impl Send for Constant {}
// SAFETY: the same.
unsafe impl Sync for Constant {}

impl Constant {
    /// # Errors
    ///
    /// `InvalidInput` if there are no bytes; otherwise what the system says if it has no pipe or memory for it.
    pub fn new(data: &[u8]) -> io::Result<Self> {
        let mut constant = ptr::null_mut();
        // SAFETY: the data is there for the call, and is copied.
        check(unsafe { ffi::pipe_writer_constant_open(&mut constant, data.as_ptr().cast(), data.len()) })?;
        Ok(Self { constant: ptr::NonNull::new(constant).expect("there was no error") })
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::Constant {
        self.constant.as_ptr()
    }
}

impl Drop for Constant {
    fn drop(&mut self) {
        let mut constant = self.as_ptr();
        // SAFETY: nobody else has it.
        unsafe { ffi::pipe_writer_constant_close(&mut constant) }
    }
}
