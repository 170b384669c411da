//! `strace -c`: how it is started around an instrument, and its table of system calls.

use stend_model::cause::Cause;
use stend_model::profile::NotSeen;
use stend_model::profile::SystemCall;

use super::complaint;
use crate::run::prepare::remedy;
use stend_instrument::{Package, Tool};
use stend_stand::host::{Command, Host};

/// As `stend doctor` looks for it.
pub const TOOL: Tool =
    Tool { program: "strace", package: Package::Debian("strace"), version_arguments: &["--version"], least: None };

/// Whether it works here.
pub fn find(host: &dyn Host, directory: &str) -> Result<(), NotSeen> {
    if host.find_program("strace").is_none() {
        return Err(NotSeen::new(Cause::ToolMissing { tool: TOOL.name() }, Some(&remedy(TOOL))));
    }
    let table = format!("{directory}/strace-trial");
    let tried = host.run(&Command::new(words(&table).into_iter().chain(["true".to_owned()])));
    let _ = host.remove(&table);
    match tried {
        Ok(output) if output.exit == Some(0) => Ok(()),
        Ok(output) => Err(NotSeen::new(
            Cause::ToolForbidden { tool: TOOL.name(), said: complaint(&output.stderr) },
            Some("start the container with --cap-add SYS_PTRACE"),
        )),
        Err(error) => Err(NotSeen::new(Cause::ToolBroken { tool: TOOL.name(), said: error.to_string() }, None)),
    }
}

/// The words before a command that make strace count the system calls of it and of all that it starts. Times are from a call's
/// begin to its end, so waiting is in them.
pub fn words(table: &str) -> Vec<String> {
    ["strace", "-f", "-c", "-w", "-o", table, "--"].map(str::to_owned).into()
}

/// Reads the table, most time first.
pub fn parse(text: &str) -> Result<Vec<SystemCall>, Cause> {
    let unknown = |line: &str| Cause::ToolLine { output: "strace's table".into(), said: line.into() };
    let mut lines = text.lines();
    let head = lines.find(|line| line.trim_start().starts_with("% time"));
    let head = head.ok_or_else(|| Cause::ToolSilent { tool: TOOL.name() })?;
    let columns: Vec<_> = head.trim().trim_start_matches("% ").split_whitespace().collect();
    if columns != ["time", "seconds", "usecs/call", "calls", "errors", "syscall"] {
        return Err(unknown(head));
    }
    let mut calls = Vec::new();
    // Between the two rules; behind them stands the total.
    for line in lines.skip_while(|line| is_rule(line)).take_while(|line| !is_rule(line)) {
        calls.push(call(line).ok_or_else(|| unknown(line))?);
    }
    calls.sort_by(|one, other| other.time_ns.cmp(&one.time_ns).then_with(|| one.name.cmp(&other.name)));
    Ok(calls)
}

fn is_rule(line: &str) -> bool {
    line.starts_with("---")
}

fn call(line: &str) -> Option<SystemCall> {
    let words: Vec<_> = line.split_whitespace().collect();
    // The column of errors is empty where there were none.
    let (calls, errors, name) = match words[..] {
        [_, _, _, calls, errors, name] => (calls, errors, name),
        [_, _, _, calls, name] => (calls, "0", name),
        _ => return None,
    };
    let seconds: f64 = words[1].parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)?;
    Some(SystemCall {
        name: name.into(),
        calls: calls.parse().ok()?,
        errors: errors.parse().ok()?,
        time_ns: (seconds * 1e9).round() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As strace 6.1 writes it.
    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 49.56    0.563550          28     20000           write
 50.24    0.571294          28     20002           read
  0.00    0.000007           7         1         1 access
------ ----------- ----------- --------- --------- ----------------
100.00    1.137137          28     40037         1 total
";

    #[test]
    fn the_table_is_read_most_time_first() {
        let calls = parse(TABLE).unwrap();
        let read = SystemCall { name: "read".into(), calls: 20_002, errors: 0, time_ns: 571_294_000 };
        let access = SystemCall { name: "access".into(), calls: 1, errors: 1, time_ns: 7_000 };
        assert_eq!((calls.len(), &calls[0], &calls[2]), (3, &read, &access), "and the total is no call");
    }

    #[test]
    fn what_is_no_table_is_quoted() {
        assert_eq!(parse(""), Err(Cause::ToolSilent { tool: "strace".into() }));
        for (from, to) in [("usecs/call", "shortest"), ("20000 ", "twenty "), ("0.000007", "nan")] {
            let parsed = parse(&TABLE.replace(from, to));
            assert!(matches!(&parsed, Err(Cause::ToolLine { said, .. }) if said.contains(to)), "{parsed:?}");
        }
    }
}
