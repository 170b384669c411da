//! `--on`: which machine is measured, and how it is reached.

use clap::Args;

use super::failure::Failure;
use crate::host::stand::{self, Compiler};
use crate::host::{Host, HostError, Local, Lock, Ssh};
use crate::run::prepare;

/// The name of the machine that stend itself runs on.
const HERE: &str = "local";

#[derive(Debug, Clone, Args)]
pub(super) struct On {
    /// Another machine than this one, which ssh reaches: user@host, or a name of ~/.ssh/config. It takes a shell, tar and a C compiler there
    #[arg(long, value_name = "HOST", help_heading = "Another machine (docs/hosts.md)")]
    on: Option<String>,
}

/// How `stend-probe` is built on a machine that ssh reaches.
#[derive(Debug, Clone, Args)]
pub(super) struct Building {
    /// The C compiler that builds stend-probe there
    #[arg(long, value_name = "PROGRAM", default_value = "cc", help_heading = "Another machine (docs/hosts.md)")]
    cc: String,
    /// What it is told beside -std=c11 -O2, as in "-march=native"
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "",
        allow_hyphen_values = true,
        help_heading = "Another machine (docs/hosts.md)"
    )]
    cflags: String,
}

/// A machine with what every run needs there.
pub(super) struct Reached {
    pub(super) host: Box<dyn Host>,
    /// The path of `stend-probe`.
    pub(super) probe: String,
    /// The directory for runs' files.
    pub(super) work: String,
}

impl On {
    /// The machine's name, as a run keeps it.
    pub(super) fn name(&self) -> &str {
        self.on.as_deref().unwrap_or(HERE)
    }

    /// Reaches the machine.
    pub(super) fn host(&self) -> Result<Box<dyn Host>, Failure> {
        Ok(match self.on.as_deref() {
            None | Some(HERE) => Box::new(Local),
            Some(destination) => {
                Box::new(Ssh::connect(destination).map_err(|error| Failure::unusable(error.to_string()))?)
            }
        })
    }

    /// Reaches the machine, and gives the path of a `stend-probe` there if one is ready: nothing is built for it.
    pub(super) fn host_with_probe(&self) -> Result<(Box<dyn Host>, Option<String>), Failure> {
        let (host, probe): (Box<dyn Host>, _) = match self.on.as_deref() {
            None | Some(HERE) => (Box::new(Local), prepare::find_probe(&Local).ok()),
            Some(destination) => {
                let ssh = Ssh::connect(destination).map_err(|error| Failure::unusable(error.to_string()))?;
                let work = prepare::work_directory(&ssh).ok();
                let probe = work.and_then(|work| stand::built(&ssh, &work));
                (Box::new(ssh), probe)
            }
        };
        Ok((host, probe))
    }

    /// Reaches the machine to see to what was left in the directory for runs' files, which nobody uses meanwhile. Nothing if there is no such
    /// directory.
    pub(super) fn to_clean(&self) -> Result<Option<Cleaned>, Failure> {
        let unusable = |error: HostError| Failure::unusable(error.to_string());
        let mut lockable = true;
        let (host, work): (Box<dyn Host>, _) = match self.on.as_deref() {
            None | Some(HERE) => (Box::new(Local), prepare::work_directory(&Local).map_err(Failure::unusable)?),
            Some(destination) => {
                let ssh = Ssh::connect(destination).map_err(unusable)?;
                let work = prepare::work_directory(&ssh).map_err(Failure::unusable)?;
                // Where nothing was ever built nobody measures, and there is nothing that could hold a lock.
                lockable = stand::built(&ssh, &work).map(|probe| ssh.set_probe(&probe)).is_some();
                (Box::new(ssh), work)
            }
        };
        if host.list(&work).is_err() {
            return Ok(None);
        }
        let lock = lockable.then(|| prepare::lock(&*host, &work)).transpose().map_err(Failure::unusable)?;
        Ok(Some(Cleaned { host, work, lock }))
    }
}

/// A machine that is being cleaned.
pub(super) struct Cleaned {
    pub(super) host: Box<dyn Host>,
    /// The directory for runs' files.
    pub(super) work: String,
    pub(super) lock: Option<Box<dyn Lock>>,
}

impl Building {
    /// Reaches the machine of this name, and sees to it that `stend-probe` is there.
    pub(super) fn reach(&self, name: &str) -> Result<Reached, Failure> {
        if name == HERE {
            let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
            let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
            return Ok(Reached { host: Box::new(Local), probe, work });
        }
        let of_link =
            |words: String| Failure::unusable(if words.starts_with(name) { words } else { format!("{name}: {words}") });
        let ssh = Ssh::connect(name).map_err(|error| of_link(error.to_string()))?;
        let work = prepare::work_directory(&ssh).map_err(of_link)?;
        let flags = self.cflags.split_whitespace().map(str::to_owned).collect();
        let compiler = Compiler { program: self.cc.clone(), flags };
        let probe = stand::probe(&ssh, &work, &compiler, &mut |words| talk!("{name}: {words}")).map_err(of_link)?;
        ssh.set_probe(&probe);
        Ok(Reached { host: Box::new(ssh), probe, work })
    }
}
