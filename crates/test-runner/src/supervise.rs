//! One test, and all that it starts.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process};

/// What a test started and killed may take so long to go.
const GRACE: Duration = Duration::from_secs(10);

/// What the last line of what is said begins with; then come clock ticks.
pub(crate) const CPU: &str = "test-runner: clock ticks: ";

/// How often is looked whether the runner is still there, and whether the time is up.
const TICK: Duration = Duration::from_millis(100);

/// Runs a command, and ends as it did, once nothing that it started is there any more. What is there after `limit`, or goes on
/// when the command has ended, is said, and killed, and the command has failed.
pub(crate) fn supervise(program: &str, words: &[String], limit: Duration, patience: u32) -> ExitCode {
    let (limit, grace) = (limit * patience, GRACE * patience);
    // Whoever loses its parent below this process becomes its child, whatever session or group it is in.
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        eprintln!("test-runner: this system lets no process adopt orphans: {error}");
        return ExitCode::from(2);
    }
    let runner = getppid();
    let child = match Command::new(program).args(words).process_group(0).spawn() {
        Ok(child) => Pid::from_child(&child),
        Err(error) => {
            eprintln!("test-runner: {program}: {error}");
            return ExitCode::from(2);
        }
    };
    let ends = ends_of_children();
    let mut deadline = Instant::now() + limit;
    let mut status = None;
    let mut failed = false;
    let mut killing = false;
    loop {
        match ends.recv_timeout(TICK) {
            Ok((process, how)) if process == child => {
                status = how.exit_status();
                deadline = Instant::now() + grace;
            }
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if getppid() != runner {
            killing = true;
        }
        if Instant::now() >= deadline && !killing {
            (killing, failed) = (true, true);
            match status {
                None => eprintln!("did not end within {} s; ended with all that it started:", limit.as_secs()),
                Some(_) => eprintln!("left behind, {} s after it ended:", grace.as_secs()),
            }
            for process in descendants() {
                eprintln!("  {} {}", process.as_raw_nonzero(), command_line(process));
            }
        }
        if killing {
            for process in descendants() {
                let _ = kill_process(process, Signal::KILL);
            }
        }
    }
    eprintln!("{CPU}{}", processor_time());
    match status {
        Some(code) if !failed => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
        _ => ExitCode::FAILURE,
    }
}

/// Tells of each child that ends, adopted ones too, and hangs up when there is none left.
fn ends_of_children() -> mpsc::Receiver<(Pid, WaitStatus)> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some(end)) => {
                    let _ = tell.send(end);
                }
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
    });
    told
}

/// In clock ticks, a hundredth of a second each: that of all processes that were below this one.
fn processor_time() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<_> = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
    // `cutime` and `cstime`, the 16th and 17th field of all.
    fields.iter().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// All processes below this one.
fn descendants() -> Vec<Pid> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids: Vec<_> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let parents: Vec<(i32, i32)> = pids.into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&of) = found.get(next) {
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may have any character.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn command_line(process: Pid) -> String {
    let words = fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}
