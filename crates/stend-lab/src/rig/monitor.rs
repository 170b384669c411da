//! What a guest is asked by QEMU's monitor (QMP): a picture of its screen, and to shut down.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use serde_json::{Value, json};
use thiserror::Error;

/// The socket of the monitor, in the guest's directory. One at a time is answered.
pub(super) const MONITOR: &str = "qmp.sock";
/// The socket of the screen, by VNC, in the guest's directory.
pub(super) const SCREEN: &str = "screen.sock";
const PICTURE: &str = "screen.png";
/// A QEMU that has not answered so long does not.
const PATIENCE: Duration = Duration::from_secs(60);
/// A screen has no more, in bytes.
const LARGEST: u64 = 64 << 20;
/// What QEMU says at once is no longer, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// Why QEMU does not do what it is asked for. One line.
#[derive(Debug, Error)]
pub enum Unasked {
    /// QEMU could not be asked, or its file not be read.
    #[error("QEMU cannot be asked: {0}")]
    Io(#[from] io::Error),
    /// It said something else than QMP.
    #[error("QEMU does not speak QMP: {0}")]
    NoQmp(#[from] serde_json::Error),
    /// It refused.
    #[error("QEMU does not do it: {0}")]
    Refused(String),
}

/// The monitor of the guest in a directory.
struct Monitor {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

/// The screen of the guest in this directory, as a PNG.
///
/// # Errors
/// There is no picture of it.
pub(super) fn picture(home: &Path) -> Result<Vec<u8>, Unasked> {
    let mut monitor = Monitor::of(home)?;
    monitor.ask(&json!({"execute": "screendump", "arguments": {"filename": PICTURE, "format": "png"}}))?;
    let path = home.join(PICTURE);
    let mut picture = Vec::new();
    fs::File::open(&path)?.take(LARGEST).read_to_end(&mut picture)?;
    fs::remove_file(path)?;
    Ok(picture)
}

/// Presses the power button of the guest in this directory. What the guest does then is its own.
///
/// # Errors
/// QEMU cannot be asked.
pub(super) fn press_power_button(home: &Path) -> Result<(), Unasked> {
    Monitor::of(home)?.ask(&json!({"execute": "system_powerdown"}))
}

impl Monitor {
    fn of(home: &Path) -> Result<Self, Unasked> {
        // An address has no more than 108 bytes, and a path may have.
        let directory = fs::File::open(home)?;
        let address = format!("/proc/self/fd/{}/{MONITOR}", directory.as_raw_fd());
        let stream = UnixStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let lines = BufReader::new(stream.try_clone()?);
        let mut monitor = Self { stream, lines };
        // Its greeting.
        monitor.read()?;
        monitor.ask(&json!({"execute": "qmp_capabilities"}))?;
        Ok(monitor)
    }

    fn ask(&mut self, command: &Value) -> Result<(), Unasked> {
        writeln!(self.stream, "{command}")?;
        loop {
            let answer = self.read()?;
            if let Some(error) = answer.get("error") {
                let said = error["desc"].as_str().unwrap_or_default();
                return Err(Unasked::Refused(said.chars().filter(|sign| !sign.is_control()).take(200).collect()));
            }
            // In between come events.
            if answer.get("return").is_some() {
                return Ok(());
            }
        }
    }

    fn read(&mut self) -> Result<Value, Unasked> {
        let mut line = String::new();
        (&mut self.lines).take(LONGEST_LINE).read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}
