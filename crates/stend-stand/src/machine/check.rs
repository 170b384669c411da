//! Is the machine fit to measure?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use stend_model::condition::Condition;
use stend_model::plain;
use stend_model::suite::Gates;

use super::command;
use super::judge::{Finding, Space, State, judge};
use super::texts::Texts;
use crate::host::{Command, Host, Output};

/// What looks at the machine.
pub(super) const SCRIPT: &str = concat!(include_str!("texts.sh"), include_str!("check.sh"));

/// Looks at the machine for half a second and judges what would disturb a measurement. What `gates` would refuse in a repeat makes
/// the machine unfit, and so does too little space.
///
/// A machine that cannot be asked has one finding, which is unfit and says why.
pub fn check(host: &dyn Host, spaces: &[Space], gates: &Gates) -> Vec<Finding> {
    let directories: Vec<_> = spaces.iter().map(|space| space.directory.as_str()).collect();
    match host.run(&command(SCRIPT, &directories)) {
        Ok(output) => {
            let mut findings = judge(&Texts::parse(&output), spaces, gates);
            for finding in findings.iter_mut().filter(|finding| finding.state == State::Unfit) {
                if let Condition::ForeignLoad { said, .. } = &mut finding.condition {
                    *said = host.run(&command(PROGRAMS, &[])).ok().and_then(|output| busiest(&output.text()));
                }
            }
            findings
        }
        Err(error) => {
            let out_of_reach = Finding::of(State::Unfit, Condition::Machine { said: error.to_string() });
            vec![Finding { lasting: true, ..out_of_reach }]
        }
    }
}

/// The counters of all programs, twice. It is asked of a busy machine only, because there may be thousands.
const PROGRAMS: &str =
    "cat /proc/[0-9]*/stat 2>/dev/null; echo; sleep 0.5 2>/dev/null || sleep 1; cat /proc/[0-9]*/stat 2>/dev/null";
/// So many programs are named, and only those that used a tenth of what all used.
const MOST_NAMED: usize = 3;

/// The names of the programs that used most CPU time between both halves of an answer.
pub(super) fn busiest(answer: &str) -> Option<String> {
    let (before, after) = answer.split_once("\n\n")?;
    let before: BTreeMap<_, _> = before.lines().filter_map(used).map(|(pid, _, ticks)| (pid, ticks)).collect();
    let mut programs: BTreeMap<&str, u64> = BTreeMap::new();
    for (pid, name, ticks) in after.lines().filter_map(used) {
        *programs.entry(name).or_default() += ticks.saturating_sub(before.get(pid).copied().unwrap_or(0));
    }
    let all: u64 = programs.values().sum();
    let mut programs: Vec<_> = programs.into_iter().filter(|(_, ticks)| *ticks > 0 && ticks * 10 >= all).collect();
    programs.sort_by_key(|(_, ticks)| Reverse(*ticks));
    let names: Vec<_> = programs.iter().take(MOST_NAMED).map(|(name, _)| plain::one_line(name)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Of a line of `/proc/PID/stat` the process, its name, which may have spaces and parentheses, and the ticks that it used.
fn used(line: &str) -> Option<(&str, &str, u64)> {
    let (pid, rest) = line.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let mut ticks = rest.split(' ').skip(11).map(|field| field.parse::<u64>().ok());
    Some((pid, name, ticks.next()?? + ticks.next()??))
}

/// What looks at a machine that no lab reaches, whose directories nobody knows.
pub fn conditions_question() -> Command {
    command(SCRIPT, &[])
}

/// What [`check`] makes of a machine that answered to [`conditions_question`].
pub fn conditions_answered(answer: &Output, gates: &Gates) -> Vec<Finding> {
    judge(&Texts::parse(answer), &[], gates)
}
