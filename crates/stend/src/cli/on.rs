//! `--on`: which machine is measured, and how it is reached.

use clap::Args;
use stend_model::run::Build;

use super::failure::Failure;
use crate::host::stand::{self, Compiler};
use crate::host::{HERE, Host, HostError, Local, Lock, Ssh};
use crate::run::prepare;

#[derive(Debug, Clone, Args)]
pub(super) struct On {
    /// Another machine than this one, which ssh reaches: user@host, or a name of ~/.ssh/config. It takes a shell, tar and a C compiler there
    #[arg(long, value_name = "HOST", help_heading = "Another machine (docs/hosts.md)")]
    on: Option<String>,
}

/// How `stend-probe` is built.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Building {
    /// Build stend-probe by this C compiler [default: cc on another machine; on this one the stend-probe that is there is taken]
    #[arg(long, value_name = "PROGRAM", help_heading = "Another machine (docs/hosts.md)")]
    cc: Option<String>,
    /// What the compiler is told beside -std=c11 -O2, as in "-march=native"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Another machine (docs/hosts.md)")]
    cflags: Option<String>,
}

/// A machine with what every run needs there.
pub(super) struct Reached {
    pub(super) host: Box<dyn Host>,
    /// The path of `stend-probe`.
    pub(super) probe: String,
    /// What that was built of.
    pub(super) build: Build,
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
            Some(_) => self.host_with_probe()?.0,
        })
    }

    /// Reaches the machine, and gives the path of a `stend-probe` there if one is ready. It is built only where nothing else tells what machine
    /// it is.
    pub(super) fn host_with_probe(&self) -> Result<(Box<dyn Host>, Option<String>), Failure> {
        let Some(destination) = self.on.as_deref().filter(|name| *name != HERE) else {
            return Ok((Box::new(Local), prepare::find_probe(&Local).ok()));
        };
        let ssh = Ssh::connect(destination).map_err(|error| Failure::unusable(error.to_string()))?;
        let work = prepare::work_directory(&ssh).map_err(Failure::unusable)?;
        let probe = stand::built(&ssh, &work);
        if let Some(probe) = &probe {
            ssh.set_probe(probe);
        } else if ["cat", "getconf", "uname"].iter().any(|program| ssh.find_program(program).is_none()) {
            let Reached { host, probe, .. } = Building::default().reach(destination)?;
            return Ok((host, Some(probe)));
        }
        Ok((Box::new(ssh), probe))
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
    /// The build that a run was made with, again.
    pub(super) fn of(build: Option<&Build>) -> Self {
        let asked = build.filter(|build| build.program.is_some());
        Self {
            cc: asked.and_then(|build| build.program.clone()),
            cflags: asked.map(|build| build.asked_flags.clone()).filter(|flags| !flags.is_empty()),
        }
    }

    /// The compiler that builds what is built.
    pub(super) fn compiler(&self) -> Compiler {
        let usual = Compiler::default();
        Compiler {
            program: self.cc.clone().unwrap_or(usual.program),
            flags: self.cflags.clone().unwrap_or(usual.flags),
        }
    }

    /// Reaches the machine of this name, and sees to it that `stend-probe` is there.
    pub(super) fn reach(&self, name: &str) -> Result<Reached, Failure> {
        if name == HERE {
            let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
            let (probe, build) = if self.cc.is_none() && self.cflags.is_none() {
                let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
                let build = stand::build_of(&Local, &probe);
                (probe, build)
            } else {
                let built = stand::build(&Local, &work, &self.compiler(), &mut |words| talk!("{words}"));
                built.map(|built| (built.probe, built.build)).map_err(Failure::unusable)?
            };
            return Ok(Reached { host: Box::new(Local), probe, build, work });
        }
        let of_link =
            |words: String| Failure::unusable(if words.starts_with(name) { words } else { format!("{name}: {words}") });
        let ssh = Ssh::connect(name).map_err(|error| of_link(error.to_string()))?;
        let work = prepare::work_directory(&ssh).map_err(of_link)?;
        // What an earlier build has instead of rm removes what this one leaves if it fails.
        if ssh.find_program("rm").is_none()
            && let Some(probe) = stand::built(&ssh, &work)
        {
            ssh.set_probe(&probe);
        }
        let built = stand::build(&ssh, &work, &self.compiler(), &mut |words| talk!("{name}: {words}"));
        let stand::Built { probe, build, .. } = built.map_err(of_link)?;
        ssh.set_probe(&probe);
        Ok(Reached { host: Box::new(ssh), probe, build, work })
    }
}
