//! The profilers of the machine: how they are started, and what is read of what they left.

pub mod perf;
pub mod strace;

/// What a tool says is wrong: the first line that says something.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Error:");
    lines.map(str::to_owned).next().unwrap_or_else(|| "it does not say why".into())
}
