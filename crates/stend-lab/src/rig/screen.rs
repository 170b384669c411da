//! What a guest shows on its screen: a picture, by QEMU's monitor (QMP).

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

/// Why there is no picture. One line.
#[derive(Debug, Error)]
pub enum NoPicture {
    /// QEMU could not be asked, or its file not be read.
    #[error("QEMU cannot be asked for a picture of the screen: {0}")]
    Io(#[from] io::Error),
    /// It said something else than QMP.
    #[error("QEMU does not speak QMP: {0}")]
    NoQmp(#[from] serde_json::Error),
    /// It refused.
    #[error("QEMU makes no picture of the screen: {0}")]
    Refused(String),
}

/// The screen of the guest in this directory, as a PNG.
///
/// # Errors
/// There is no picture of it.
pub(super) fn picture(home: &Path) -> Result<Vec<u8>, NoPicture> {
    // An address has no more than 108 bytes, and a path may have.
    let directory = fs::File::open(home)?;
    let address = format!("/proc/self/fd/{}/{MONITOR}", directory.as_raw_fd());
    let mut monitor = UnixStream::connect(address)?;
    monitor.set_read_timeout(Some(PATIENCE))?;
    monitor.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(monitor.try_clone()?);
    // Its greeting.
    read(&mut lines)?;
    ask(&mut monitor, &mut lines, &json!({"execute": "qmp_capabilities"}))?;
    ask(
        &mut monitor,
        &mut lines,
        &json!({"execute": "screendump", "arguments": {"filename": PICTURE, "format": "png"}}),
    )?;
    let path = home.join(PICTURE);
    let mut picture = Vec::new();
    fs::File::open(&path)?.take(LARGEST).read_to_end(&mut picture)?;
    fs::remove_file(path)?;
    Ok(picture)
}

fn ask(monitor: &mut UnixStream, lines: &mut BufReader<UnixStream>, command: &Value) -> Result<(), NoPicture> {
    writeln!(monitor, "{command}")?;
    loop {
        let answer = read(lines)?;
        if let Some(error) = answer.get("error") {
            let said = error["desc"].as_str().unwrap_or_default();
            return Err(NoPicture::Refused(said.chars().filter(|sign| !sign.is_control()).take(200).collect()));
        }
        // In between come events.
        if answer.get("return").is_some() {
            return Ok(());
        }
    }
}

fn read(lines: &mut BufReader<UnixStream>) -> Result<Value, NoPicture> {
    let mut line = String::new();
    lines.take(LONGEST_LINE).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(serde_json::from_str(&line)?)
}
