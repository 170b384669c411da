use std::io;
use std::os::fd::AsFd;

use crate::{PipeWriter, ffi};

/// How bytes get into the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `vmsplice()` of memory that is used once.
    Fresh,
    /// `vmsplice()` of memory that is used again: [`Options::ring`].
    Ring,
    /// `write()`.
    Write,
}

/// How a [`PipeWriter`] is to work. The default is a good choice: policy *fresh*, and `write()` where that goes better.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Options {
    options: ffi::Options,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The default.
    pub const fn new() -> Self {
        Self {
            options: ffi::Options {
                policy: ffi::FRESH,
                chunk_bytes: 0,
                pipe_bytes: 0,
                strict: false,
                no_wait: false,
                trap: false,
                small_pages: false,
            },
        }
    }

    /// All bytes are copied, by `write()`.
    pub const fn write(mut self) -> Self {
        self.options.policy = ffi::WRITE;
        self
    }

    /// Memory is used again once it provably left the pipe: the pages spliced after it are at least as many as the pipe's
    /// capacity (asked after the last `vmsplice()`) has slots, or the pipe holds no more bytes than were sent after it.
    /// If neither holds, memory is fresh.
    ///
    /// # Safety
    ///
    /// Every process that reads from this pipe, as long as it exists, uses `read()` and nothing else. If one uses
    /// `splice()`, `tee()` or `vmsplice()` on it (as `pv` does, and sometimes `cat`), pages live on outside of this pipe,
    /// where the writer cannot see them, and **bytes change after they were sent**.
    pub const unsafe fn ring(mut self) -> Self {
        self.options.policy = ffi::RING;
        self
    }

    /// Bytes of a slab if no size is asked for. Otherwise it is chosen from the size of the pipe and the number of cores that
    /// this process may run on.
    pub const fn chunk_size(mut self, bytes: usize) -> Self {
        self.options.chunk_bytes = bytes;
        self
    }

    /// The pipe is enlarged to this, as far as the system allows. Otherwise the size is chosen, 1 MiB as a rule.
    pub const fn pipe_size(mut self, bytes: usize) -> Self {
        self.options.pipe_bytes = bytes;
        self
    }

    /// The pipe is left as large as it is.
    pub const fn keep_pipe_size(mut self) -> Self {
        self.options.pipe_bytes = 1;
        self
    }

    /// The policy is kept: no `write()` instead where there are no huge pages, or for small commits. What is no pipe is an
    /// error, and so is a filter for system calls that refuses `vmsplice()` or `tee()`: `Unsupported`, here or, if it comes
    /// later, from the call that needed it. For measurements and tests.
    pub const fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    /// `WouldBlock` instead of waiting; the descriptor must be non-blocking.
    pub const fn no_wait(mut self) -> Self {
        self.options.no_wait = true;
        self
    }

    /// Memory that was committed cannot even be read, in any policy: for finding errors in unsafe code. Slow.
    pub const fn trap(mut self) -> Self {
        self.options.trap = true;
        self
    }

    /// No huge pages; with [`strict`](Self::strict), for measurements.
    pub const fn small_pages(mut self) -> Self {
        self.options.small_pages = true;
        self
    }

    /// A writer to `descriptor`, which it keeps.
    ///
    /// # Errors
    ///
    /// `InvalidInput`: no pipe and [`strict`](Self::strict), or [`no_wait`](Self::no_wait) with a descriptor that blocks.
    /// `Unsupported`: [`strict`](Self::strict) where there is no `vmsplice()`.
    /// Otherwise what the system says: a descriptor that is not for writing, no memory.
    pub fn open<D: AsFd>(self, descriptor: D) -> io::Result<PipeWriter<D>> {
        PipeWriter::with_options(descriptor, &self.options)
    }
}
