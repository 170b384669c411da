use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::{ptr, slice};

use crate::options::Policy;
use crate::{Constant, Options, check, ffi};

/// Writes to a pipe (or to anything else) without copying where that is of use.
///
/// Fill [slabs](PipeWriter::reserve), or use it as [`std::io::Write`]: then small pieces are collected in a slab as in a
/// [`BufWriter`](std::io::BufWriter), and what is at least a chunk goes straight to `write()`. Dropping it sends what was
/// collected and ignores errors: [`flush`](std::io::Write::flush) or [`into_inner`](Self::into_inner) tell them.
///
/// After an error other than `WouldBlock` the stream has a hole, and every later call gives that error again.
///
/// A writer belongs to the process that made it: in a child, by `fork()` or otherwise, every call gives `PermissionDenied`.
pub struct PipeWriter<D: AsFd = OwnedFd> {
    writer: ptr::NonNull<ffi::Writer>,
    /// What `io::Write` is filling.
    collecting: ffi::Slab,
    collected: usize,
    descriptor: ManuallyDrop<D>,
}

// SAFETY: the C library ties nothing to a thread, and a slab is only reached by way of its writer.
unsafe impl<D: AsFd + Send> Send for PipeWriter<D> {}
// SAFETY: what takes &self only reads, and what writes takes &mut self.
unsafe impl<D: AsFd + Sync> Sync for PipeWriter<D> {}

/// What a writer did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes sent by `vmsplice()`.
    pub bytes_spliced: u64,
    /// Bytes sent by `write()`.
    pub bytes_written: u64,
    /// Bytes sent by `tee()`.
    pub bytes_teed: u64,
    /// Calls of `vmsplice()`.
    pub splices: u64,
    /// How often memory was asked of the system.
    pub regions: u64,
    /// Pages that a ring used again.
    pub pages_again: u64,
    /// How often a ring could not show that a page had left the pipe, and took fresh memory.
    pub not_again: u64,
}

const NO_SLAB: ffi::Slab = ffi::Slab { data: ptr::null_mut(), bytes: 0 };

impl<D: AsFd> PipeWriter<D> {
    /// A writer to `descriptor`, with [`Options::new`]. It keeps the descriptor.
    ///
    /// # Errors
    ///
    /// As [`Options::open`].
    pub fn new(descriptor: D) -> io::Result<Self> {
        Options::new().open(descriptor)
    }

    pub(crate) fn with_options(descriptor: D, options: &ffi::Options) -> io::Result<Self> {
        let mut writer = ptr::null_mut();
        // SAFETY: the options are there for the call; the descriptor is kept as long as the writer.
        check(unsafe { ffi::pipe_writer_open(&mut writer, descriptor.as_fd().as_raw_fd(), options) })?;
        Ok(Self {
            writer: ptr::NonNull::new(writer).expect("there was no error"),
            collecting: NO_SLAB,
            collected: 0,
            descriptor: ManuallyDrop::new(descriptor),
        })
    }

    /// Memory for at least `bytes` bytes, or, for 0, of about [`chunk_size`](Self::chunk_size). It may be longer. Its content
    /// is anything.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`; `WouldBlock` ([`Options::no_wait`]) until a flush succeeds; an earlier error.
    pub fn reserve(&mut self, bytes: usize) -> io::Result<Slab<'_>> {
        self.send_collected()?;
        let slab = self.reserve_raw(bytes)?;
        Ok(Slab { writer: self.writer, slab, of: std::marker::PhantomData })
    }

    /// Sends `bytes` bytes of the constant repeated without end, beginning with byte `offset` of that. Returns how many were
    /// sent: all, unless [`Options::no_wait`] is set.
    ///
    /// # Errors
    ///
    /// As [`Slab::commit`]; `WouldBlock` if nothing at all was sent.
    pub fn repeat(&mut self, constant: &Constant, offset: u64, bytes: u64) -> io::Result<u64> {
        let mut sent = 0;
        self.send_collected()?;
        // SAFETY: both are there, and the constant is not changed.
        let result = check(unsafe {
            ffi::pipe_writer_repeat(self.writer.as_ptr(), constant.as_ptr(), offset, bytes, &mut sent)
        });
        part(sent, result)
    }

    /// The policy in use: [`Policy::Write`] if another was asked for and would not go well.
    pub fn policy(&self) -> Policy {
        // SAFETY: the writer is there.
        match unsafe { ffi::pipe_writer_policy(self.writer.as_ptr()) } {
            ffi::FRESH => Policy::Fresh,
            ffi::RING => Policy::Ring,
            _ => Policy::Write,
        }
    }

    /// Bytes of a slab if no size is asked for.
    pub fn chunk_size(&self) -> usize {
        // SAFETY: the writer is there.
        unsafe { ffi::pipe_writer_chunk_bytes(self.writer.as_ptr()) }
    }

    /// The pipe's capacity when the writer was made; 0 if it is no pipe.
    pub fn pipe_size(&self) -> usize {
        // SAFETY: the writer is there.
        unsafe { ffi::pipe_writer_pipe_bytes(self.writer.as_ptr()) }
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        // SAFETY: the writer is there.
        let ffi::Statistics { bytes_spliced, bytes_written, bytes_teed, splices, regions, pages_again, not_again } =
            unsafe { ffi::pipe_writer_statistics(self.writer.as_ptr()) };
        Statistics { bytes_spliced, bytes_written, bytes_teed, splices, regions, pages_again, not_again }
    }

    /// The descriptor. What is sent by way of it does not wait for what is collected here.
    pub fn get_ref(&self) -> &D {
        &self.descriptor
    }

    /// Sends what was collected, and gives the descriptor back.
    ///
    /// # Errors
    ///
    /// What the writer met; the descriptor is closed then. `WouldBlock`: something was never sent, and is lost.
    pub fn into_inner(self) -> io::Result<D> {
        let mut this = ManuallyDrop::new(self);
        let sent = this.send_collected();
        let closed = this.close();
        // SAFETY: `this` is not dropped, so the descriptor is taken once.
        let descriptor = unsafe { ManuallyDrop::take(&mut this.descriptor) };
        sent.and(closed).map(|()| descriptor)
    }

    fn reserve_raw(&mut self, bytes: usize) -> io::Result<ffi::Slab> {
        let mut slab = NO_SLAB;
        // SAFETY: the writer is there.
        check(unsafe { ffi::pipe_writer_reserve(self.writer.as_ptr(), bytes, &mut slab) })?;
        Ok(slab)
    }

    /// All is taken; with `no_wait`, not all may be sent yet.
    fn send_collected(&mut self) -> io::Result<()> {
        if self.collected == 0 {
            return Ok(());
        }
        let mut slab = std::mem::replace(&mut self.collecting, NO_SLAB);
        let bytes = std::mem::take(&mut self.collected);
        // SAFETY: it is the slab that was reserved last, and nobody else has it.
        taken(unsafe { ffi::pipe_writer_commit(self.writer.as_ptr(), &mut slab, bytes) })
    }

    fn close(&mut self) -> io::Result<()> {
        let mut writer = self.writer.as_ptr();
        // SAFETY: called once, by who drops or takes apart.
        check(unsafe { ffi::pipe_writer_close(&mut writer) })
    }
}

/// A commit takes all bytes, also when it says that some have to wait: the next call will say so.
fn taken(errno: std::ffi::c_int) -> io::Result<()> {
    match check(errno) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        result => result,
    }
}

/// A part is a success, as with `write()`.
fn part<N: PartialEq + Default>(sent: N, result: io::Result<()>) -> io::Result<N> {
    match result {
        Err(error) if sent == N::default() || error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(sent),
    }
}

impl<D: AsFd> io::Write for PipeWriter<D> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.collected > 0 && self.collected == self.collecting.bytes {
            self.send_collected()?;
        }
        if self.collected == 0 {
            if data.len() >= self.chunk_size() {
                let mut sent = 0;
                // SAFETY: the data is there for the call, and is copied.
                let result = check(unsafe {
                    ffi::pipe_writer_write(self.writer.as_ptr(), data.as_ptr().cast(), data.len(), &mut sent)
                });
                return part(sent, result);
            }
            self.collecting = self.reserve_raw(0)?;
        }
        // In a child after fork() the slab is not there: C says so.
        // SAFETY: the writer is there; nothing is sent, as a slab is only reserved when nothing waits.
        check(unsafe { ffi::pipe_writer_flush(self.writer.as_ptr()) })?;
        let count = data.len().min(self.collecting.bytes - self.collected);
        // SAFETY: the slab has room for `count` bytes more, and no one else has it.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), self.collecting.data.add(self.collected), count) };
        self.collected += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_collected()?;
        // SAFETY: the writer is there.
        check(unsafe { ffi::pipe_writer_flush(self.writer.as_ptr()) })
    }
}

impl<D: AsFd> Drop for PipeWriter<D> {
    fn drop(&mut self) {
        // An error has nowhere to go; whoever wants it calls flush() or into_inner().
        let _ = self.send_collected();
        let _ = self.close();
        // SAFETY: the last use.
        unsafe { ManuallyDrop::drop(&mut self.descriptor) };
    }
}

impl<D: AsFd> fmt::Debug for PipeWriter<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeWriter")
            .field("descriptor", &self.descriptor.as_fd())
            .field("policy", &self.policy())
            .field("chunk_size", &self.chunk_size())
            .field("pipe_size", &self.pipe_size())
            .finish_non_exhaustive()
    }
}

/// Memory that the holder alone may touch. [`commit`](Self::commit) sends it and takes it away; dropping it sends nothing.
///
/// Once committed it cannot be reached any more:
///
/// ```compile_fail,E0382
/// # let (_reader, pipe) = std::io::pipe()?;
/// let mut writer = pipe_writer::PipeWriter::new(pipe)?;
/// let mut slab = writer.reserve(0)?;
/// slab[0] = 1;
/// slab.commit(1)?;
/// slab[0] = 2; // error: `slab` was moved
/// # std::io::Result::Ok(())
/// ```
#[must_use = "a slab that is dropped is not sent"]
pub struct Slab<'a> {
    writer: ptr::NonNull<ffi::Writer>,
    slab: ffi::Slab,
    of: std::marker::PhantomData<&'a mut ffi::Writer>,
}

// SAFETY: it stands for a `&mut` of the writer and of its memory, and the writer is `Send`.
unsafe impl Send for Slab<'_> {}
// SAFETY: `&Slab` only reads memory.
unsafe impl Sync for Slab<'_> {}

impl Slab<'_> {
    /// Sends the first `bytes` bytes, waiting for room if need be. With [`Options::no_wait`] it takes them all the same, and
    /// the next call to the writer, or [`flush`](std::io::Write::flush), says `WouldBlock` until they are in the pipe.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` if no reader is left; `Unsupported` if `vmsplice()` is refused and [`Options::strict`] is set; what the
    /// system says. What was sent before the error is not known.
    ///
    /// # Panics
    ///
    /// If the slab has fewer bytes.
    pub fn commit(self, bytes: usize) -> io::Result<()> {
        assert!(bytes <= self.slab.bytes, "{bytes} bytes of a slab of {}", self.slab.bytes);
        let mut this = ManuallyDrop::new(self);
        // SAFETY: it is the slab that was reserved last: the writer was borrowed since.
        taken(unsafe { ffi::pipe_writer_commit(this.writer.as_ptr(), &mut this.slab, bytes) })
    }
}

impl Drop for Slab<'_> {
    fn drop(&mut self) {
        // Gives it back; that an earlier error is told again is of no interest here.
        // SAFETY: as in `commit`.
        let _ = unsafe { ffi::pipe_writer_commit(self.writer.as_ptr(), &mut self.slab, 0) };
    }
}

impl Deref for Slab<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the system gave the memory with a content, and this is its only holder.
        unsafe { slice::from_raw_parts(self.slab.data, self.slab.bytes) }
    }
}

impl DerefMut for Slab<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the same.
        unsafe { slice::from_raw_parts_mut(self.slab.data, self.slab.bytes) }
    }
}

impl fmt::Debug for Slab<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("bytes", &self.slab.bytes).finish_non_exhaustive()
    }
}
