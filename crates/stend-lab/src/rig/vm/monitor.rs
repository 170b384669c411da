//! What a guest's QEMU is asked by its monitor (QMP): a picture of the screen, to shut down, and to keep or take a snapshot.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use serde_json::{Value, json};
use stend_stand::socket::connected;
use thiserror::Error;

/// The socket of the monitor, in the guest's directory. One at a time is answered.
pub(super) const MONITOR: &str = "qmp.sock";
/// The socket of the screen, by VNC, in the guest's directory.
pub(super) const SCREEN: &str = "screen.sock";
const PICTURE: &str = "screen.png";
/// A QEMU that has not answered so long does not.
const PATIENCE: Duration = Duration::from_secs(60);
/// A guest's memory may be large, and its disk slow.
const LONGEST_JOB: Duration = Duration::from_secs(3600);
const LOOK: Duration = Duration::from_millis(50);
/// What QEMU calls the one job that it has at a time.
const JOB: &str = "stend";
/// QEMU's name for the disk that a guest boots from.
pub(super) const SYSTEM: &str = "system";
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

impl Unasked {
    fn refused(said: &Value) -> Self {
        let said = said.as_str().unwrap_or_default();
        Self::Refused(said.chars().filter(|sign| !sign.is_control()).take(200).collect())
    }
}

/// The monitor of the guest in a directory.
pub(super) struct Monitor {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Monitor {
    /// # Errors
    /// It cannot be reached.
    pub(super) fn of(home: &Path) -> Result<Self, Unasked> {
        let stream = connected(&home.join(MONITOR))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let lines = BufReader::new(stream.try_clone()?);
        let mut monitor = Self { stream, lines };
        // Its greeting.
        monitor.read()?;
        monitor.ask("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// What is on the guest's screen, as a PNG. It goes by a file in `home`, the guest's directory, because QEMU gives it in no other way.
    ///
    /// # Errors
    /// There is no picture of it.
    pub(super) fn picture(&mut self, home: &Path) -> Result<Vec<u8>, Unasked> {
        self.ask("screendump", &json!({"filename": PICTURE, "format": "png"}))?;
        let path = home.join(PICTURE);
        let mut picture = Vec::new();
        fs::File::open(&path)?.take(LARGEST).read_to_end(&mut picture)?;
        fs::remove_file(path)?;
        Ok(picture)
    }

    /// Presses the guest's power button. What the guest does then is its own.
    ///
    /// # Errors
    /// QEMU cannot be asked.
    pub(super) fn press_power_button(&mut self) -> Result<(), Unasked> {
        self.ask("system_powerdown", &json!({})).map(drop)
    }

    /// Keeps what is on the guest's disks and in its memory, under this name. It stands still meanwhile.
    ///
    /// # Errors
    /// QEMU cannot do it; nothing is kept then.
    pub(super) fn keep(&mut self, snapshot: &str) -> Result<(), Unasked> {
        let (disks, system) = self.disks()?;
        self.job("snapshot-save", &json!({"job-id": JOB, "tag": snapshot, "vmstate": system, "devices": disks}))
    }

    /// The same, and the guest stands still from then on.
    ///
    /// # Errors
    /// QEMU cannot do it. The guest goes on then.
    pub(super) fn suspend(&mut self, snapshot: &str) -> Result<(), Unasked> {
        self.ask("stop", &json!({}))?;
        let kept = self.forget(snapshot).and_then(|()| self.keep(snapshot));
        if kept.is_err() {
            self.ask("cont", &json!({}))?;
        }
        kept
    }

    /// Gives the guest the disks and the memory that it had at a snapshot, and it goes on from there.
    ///
    /// # Errors
    /// QEMU cannot do it. The guest stands still then, and what it has is not known.
    pub(super) fn revert(&mut self, snapshot: &str) -> Result<(), Unasked> {
        let (disks, system) = self.disks()?;
        self.ask("stop", &json!({}))?;
        self.job("snapshot-load", &json!({"job-id": JOB, "tag": snapshot, "vmstate": system, "devices": disks}))?;
        self.ask("cont", &json!({})).map(drop)
    }

    /// Removes a snapshot from the guest's disks.
    ///
    /// # Errors
    /// QEMU cannot do it.
    pub(super) fn forget(&mut self, snapshot: &str) -> Result<(), Unasked> {
        let (disks, _) = self.disks()?;
        self.job("snapshot-delete", &json!({"job-id": JOB, "tag": snapshot, "devices": disks}))
    }

    /// QEMU's names for the disks that the guest writes on, and for the one that it boots from, which holds the memory of snapshots.
    fn disks(&mut self) -> Result<(Vec<String>, String), Unasked> {
        let answer = self.ask("query-block", &json!({}))?;
        let mut disks: Vec<String> = Vec::new();
        let mut system = String::new();
        for device in answer.as_array().into_iter().flatten() {
            let node = device["inserted"]["node-name"].as_str().unwrap_or_default();
            if device["device"] == SYSTEM {
                node.clone_into(&mut system);
            }
            if device["inserted"]["ro"] == false {
                disks.push(node.to_owned());
            }
        }
        Ok((disks, system))
    }

    /// Has a job done to its end.
    fn job(&mut self, command: &str, arguments: &Value) -> Result<(), Unasked> {
        // QEMU does not answer while it writes or reads a guest's memory.
        self.stream.set_read_timeout(Some(LONGEST_JOB))?;
        self.ask(command, arguments)?;
        loop {
            let jobs = self.ask("query-jobs", &json!({}))?;
            let job = jobs.as_array().and_then(|jobs| jobs.iter().find(|job| job["id"] == JOB)).cloned();
            let Some(job) = job else { return Ok(()) };
            if job["status"] == "concluded" {
                self.ask("job-dismiss", &json!({"id": JOB}))?;
                return job.get("error").map_or(Ok(()), |said| Err(Unasked::refused(said)));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks for something, and gives the answer.
    fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value, Unasked> {
        writeln!(self.stream, "{}", json!({"execute": command, "arguments": arguments}))?;
        loop {
            let mut answer = self.read()?;
            if let Some(error) = answer.get("error") {
                return Err(Unasked::refused(&error["desc"]));
            }
            // In between come events.
            if let Some(answer) = answer.get_mut("return") {
                return Ok(answer.take());
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
