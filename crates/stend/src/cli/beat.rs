//! A command that a node of a fleet has started: it ends when the node has not been heard of for most of a lease. Another node may measure the machine
//! then.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use stend_server::since_boot;

/// The file in which a node says when it was last heard, and how long its lease is.
#[derive(Debug, Clone)]
pub(super) struct Beat {
    file: PathBuf,
    lease: Duration,
}

impl Beat {
    /// Reads `MILLISECONDS:FILE`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (lease, file) = text.split_once(':').ok_or("it is MILLISECONDS:FILE")?;
        let lease = lease.parse().map(Duration::from_millis).map_err(|error| format!("{error}"))?;
        Ok(Self { file: file.into(), lease })
    }

    /// Stops this command as Ctrl-C does, and kills it with all that it started when it does not end.
    pub(super) fn follow(&self) {
        let Self { file, lease } = self.clone();
        let (mut last, mut is_told) = (since_boot(), false);
        std::thread::spawn(move || {
            loop {
                // One that cannot be read says nothing new.
                let said = std::fs::read_to_string(&file).ok().and_then(|text| text.parse().ok());
                last = said.map_or(last, Duration::from_millis);
                let silence = since_boot().saturating_sub(last);
                if silence >= lease * 6 / 10 && !is_told {
                    is_told = true;
                    let _ = kill_process(getpid(), Signal::INT);
                }
                if silence >= lease * 8 / 10 {
                    let _ = kill_current_process_group(Signal::KILL);
                }
                std::thread::sleep(lease / 40);
            }
        });
    }
}
