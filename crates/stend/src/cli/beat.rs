//! A command that a node of a fleet has started: it ends when the node has not been heard of for most of a lease. Another node may measure the machine
//! then.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};

/// A file that a node changes as long as it is heard, and how long its lease is.
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
        std::thread::spawn(move || {
            let (mut last, mut since) = (None, Instant::now());
            let mut is_told = false;
            loop {
                // A file that cannot be read has not changed.
                if let Ok(now) = std::fs::read(&file)
                    && last.as_ref() != Some(&now)
                {
                    (last, since) = (Some(now), Instant::now());
                }
                let silence = since.elapsed();
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
