//! `perf`: how it is started around an instrument, and what its samples say, folded by stack.

use std::time::Duration;

use inferno::collapse::Collapse as _;
use inferno::collapse::perf::{Folder, Options};
use stend_model::cause::Cause;
use stend_model::profile::NotSeen;
use stend_model::profile::Stacks;
use thiserror::Error;

use super::complaint;
use crate::run::prepare::remedy;
use stend_instrument::{Package, Tool};
use stend_stand::host::{Command, Host, HostError};

/// As `stend doctor` looks for it.
pub const TOOL: Tool =
    Tool { program: "perf", package: Package::Debian("linux-perf"), version_arguments: &["--version"], least: None };
/// What samples may be taken by, the best first. A virtual machine often counts no cycles.
const EVENTS: [&str; 2] = ["cycles", "cpu-clock"];
/// Something that takes time, to see whether samples come.
const TRIAL: [&str; 3] = ["sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done"];
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
const HIDING: &str = "/proc/sys/kernel/kptr_restrict";
/// What is wanted of each sample. Not its period: then each counts as one.
const FIELDS: &str = "comm,tid,time,event,ip,sym,dso";

/// About so many samples are wanted of one processor: shares of a percent are told apart, and the file stays small.
const SAMPLES_WANTED: f64 = 20_000.0;
/// No even numbers: a load that does something every millisecond would be met at the same point each time.
const HERTZ: (f64, f64) = (19.0, 3989.0);

/// Why perf takes no samples.
#[derive(Debug, Error)]
enum TrialError {
    /// It ends badly.
    #[error("{said}")]
    Refused {
        /// What it says.
        said: String,
    },
    /// It cannot be started.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// A `perf` that has shown that it works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perf {
    /// What samples are taken by.
    event: String,
}

/// How often to sample a load that takes so long.
pub fn hertz(wall: Duration) -> u32 {
    let wanted = SAMPLES_WANTED / wall.as_secs_f64().max(1e-3);
    wanted.clamp(HERTZ.0, HERTZ.1) as u32 | 1
}

impl Perf {
    /// Tries it on something short, whose samples are put into `directory` and removed.
    pub fn find(host: &dyn Host, directory: &str) -> Result<Self, NotSeen> {
        if host.find_program("perf").is_none() {
            return Err(NotSeen::new(Cause::ToolMissing { tool: TOOL.name() }, Some(&remedy(TOOL))));
        }
        let data = format!("{directory}/perf-trial");
        let mut refusal = None;
        for event in EVENTS {
            let tried = try_event(host, event, &data);
            // What it wrote is of no use any more, and a file that stays goes with the run's others.
            let _ = host.remove(&data);
            match tried {
                Ok(Some(found)) => return Self::seeing_the_kernel(host, &found),
                Ok(None) => {}
                Err(error) => refusal = Some(error.to_string()),
            }
        }
        Err(refusal
            .map_or_else(|| NotSeen::new(Cause::ToolSilent { tool: TOOL.name() }, None), |said| refused(host, said)))
    }

    /// `found` is the event as perf names it, with what it restricted it to behind a colon.
    fn seeing_the_kernel(host: &dyn Host, found: &str) -> Result<Self, NotSeen> {
        let (event, restricted) = found.split_once(':').unwrap_or((found, ""));
        if restricted.contains('u') {
            let level = setting(host, PARANOID).map_or_else(|| "?".into(), |level| level.to_string());
            return Err(NotSeen::new(Cause::KernelUnseen { level }, Some("sysctl kernel.perf_event_paranoid=1")));
        }
        let first = host.run(&Command::new(["head", "-n", "1", "/proc/kallsyms"])).unwrap_or_default().text();
        let address = first.split(' ').next().unwrap_or_default();
        if address.bytes().all(|digit| digit == b'0') {
            let level = setting(host, HIDING).map_or_else(|| "?".into(), |level| level.to_string());
            return Err(NotSeen::new(Cause::KernelNameless { level }, Some("sysctl kernel.kptr_restrict=0")));
        }
        Ok(Self { event: event.to_owned() })
    }

    /// The words before a command that make perf sample it and all that it starts.
    pub fn words(&self, hertz: u32, data: &str) -> Vec<String> {
        record(&self.event, hertz, data)
    }

    /// The samples in `data`, folded; only those of `stretch`, a moment of `CLOCK_MONOTONIC` and a length in nanoseconds, if it is
    /// known.
    pub fn fold(&self, host: &dyn Host, data: &str, hertz: u32, stretch: Option<(i64, u64)>) -> Result<Stacks, Cause> {
        // Without --no-inline it would ask addr2line about every address that it meets.
        let mut words: Vec<_> = ["perf", "script", "-i", data, "--no-inline", "-F", FIELDS].map(str::to_owned).into();
        if let Some((start, length)) = stretch {
            let end = start.saturating_add_unsigned(length);
            words.push("--time".into());
            words.push(format!("{},{}", seconds(start), seconds(end)));
        }
        let broken = |said| Cause::ToolBroken { tool: TOOL.name(), said };
        let output = host.run(&Command::new(words)).map_err(|error| broken(error.to_string()))?;
        if output.exit != Some(0) {
            return Err(broken(complaint(&output.stderr)));
        }
        let folded = fold(&output.stdout, &self.event).map_err(|error| broken(error.to_string()))?;
        if folded.is_empty() {
            return Err(Cause::ToolSilent { tool: TOOL.name() });
        }
        Ok(Stacks { event: self.event.clone(), hertz, measured_stretch: stretch.is_some(), folded })
    }
}

/// The moments are those of the wire, so samples can be told by them.
fn record(event: &str, hertz: u32, data: &str) -> Vec<String> {
    let hertz = hertz.to_string();
    let words = ["perf", "record", "--quiet", "--clockid", "CLOCK_MONOTONIC", "-e", event, "-F", &hertz];
    // Stacks by frame pointers: the kernel's are whole, and nothing is copied while it runs. No copies of programs in the user's home.
    let rest = ["--call-graph", "fp", "--no-buildid", "--no-buildid-cache", "-o", data, "--"];
    words.into_iter().chain(rest).map(str::to_owned).collect()
}

/// The event that samples came from, if any came.
fn try_event(host: &dyn Host, event: &str, data: &str) -> Result<Option<String>, TrialError> {
    let words = record(event, HERTZ.1 as u32, data).into_iter().chain(TRIAL.map(str::to_owned));
    let output = host.run(&Command::new(words))?;
    if output.exit != Some(0) {
        return Err(TrialError::Refused { said: complaint(&output.stderr) });
    }
    let output = host.run(&Command::new(["perf", "script", "-i", data, "-F", "event"]))?;
    if output.exit != Some(0) {
        return Err(TrialError::Refused { said: complaint(&output.stderr) });
    }
    let text = output.text();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    Ok(first.map(|line| line.trim_end_matches(':').to_owned()))
}

/// Why perf does not start, with what would help if the system forbids it.
fn refused(host: &dyn Host, said: String) -> NotSeen {
    let forbidden = ["ermission", "ermitted", "Access to performance"].iter().any(|word| said.contains(word));
    if !forbidden {
        return NotSeen::new(Cause::ToolBroken { tool: TOOL.name(), said }, None);
    }
    let remedy = if setting(host, PARANOID).is_some_and(|level| level > 1) {
        "sysctl kernel.perf_event_paranoid=1"
    } else {
        // As in a container without the right to it.
        "start the container with --cap-add PERFMON --security-opt seccomp=unconfined"
    };
    NotSeen::new(Cause::ToolForbidden { tool: TOOL.name(), said }, Some(remedy))
}

fn setting(host: &dyn Host, path: &str) -> Option<i64> {
    host.read_text(path).ok()?.trim().parse().ok()
}

/// Nanoseconds as perf wants moments.
fn seconds(nanoseconds: i64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

/// What `perf script` printed, as a line for each stack, in the order of the alphabet.
fn fold(script: &[u8], event: &str) -> std::io::Result<String> {
    let mut options = Options::default();
    options.annotate_kernel = true;
    options.event_filter = Some(event.to_owned());
    let mut folded = Vec::new();
    Folder::from(options).collapse(script, &mut folded)?;
    let mut lines: Vec<_> = String::from_utf8_lossy(&folded).lines().map(unmark_vdso).collect();
    lines.sort_unstable();
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

/// The vdso is called like a module of the kernel, in brackets, but runs in the program.
fn unmark_vdso(line: &str) -> String {
    let (stack, count) = line.rsplit_once(' ').unwrap_or((line, ""));
    let unmarked = stack.split(';').map(|frame| match frame.strip_suffix("_[k]") {
        Some(name) if name.starts_with("__vdso_") => name,
        _ => frame,
    });
    format!("{} {count}", unmarked.collect::<Vec<_>>().join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As perf 6.1 prints samples of two processes that share a pipe; the third is of another event.
    const SCRIPT: &str = "\
stend-probe 21210 23910.859996: cpu-clock:pppH: 
\tffffffff81b6b78a copy_page_from_iter ([kernel.kallsyms])
\tffffffff816c72a3 anon_pipe_write ([kernel.kallsyms])
\t           f8350 __GI___libc_write (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t               0 [unknown] ([unknown])

stend-probe 21212 23910.860956: cpu-clock:pppH: 
\tffffffff81b6b78a copy_page_from_iter ([kernel.kallsyms])
\tffffffff816c72a3 anon_pipe_write ([kernel.kallsyms])
\t           f8350 __GI___libc_write (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t               0 [unknown] ([unknown])

stend-probe 21212 23910.861956: faults: 
\t           20c0 main (/usr/bin/stend-probe)

";

    #[test]
    fn equal_stacks_are_one_line_and_the_kernels_functions_are_marked() {
        let expected = "stend-probe;[unknown];__GI___libc_write;anon_pipe_write_[k];copy_page_from_iter_[k] 2\n";
        assert_eq!(fold(SCRIPT.as_bytes(), "cpu-clock").unwrap(), expected);
        assert_eq!(fold(b"", "cpu-clock").unwrap(), "");
        let clock = "a 1 2.0: cpu-clock: \n\t7ff __vdso_clock_gettime ([vdso])\n\n";
        assert_eq!(fold(clock.as_bytes(), "cpu-clock").unwrap(), "a;__vdso_clock_gettime 1\n", "no code of the kernel");
        assert_eq!(fold(b"what is this\nno samples at all\n", "cpu-clock").unwrap(), "");
    }

    #[test]
    fn long_loads_are_sampled_less_often() {
        let at = |seconds| hertz(Duration::from_secs_f64(seconds));
        assert_eq!((at(0.0), at(0.1), at(5.0)), (3989, 3989, 3989));
        assert_eq!((at(60.0), at(2400.0), at(1e9)), (333, 19, 19));
    }

    #[test]
    fn moments_keep_their_nanoseconds() {
        assert_eq!((seconds(51_000_000_007), seconds(9)), ("51.000000007".to_owned(), "0.000000009".to_owned()));
    }
}
