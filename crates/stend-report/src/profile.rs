//! Where the time goes, in words: the names of the parts, and a profile for the terminal.

use super::grid::{Grid, Style, piece, wrap};
use super::phrase::Phrase;
use super::text::{duration, grouped, percent};
use crate::words;
use crate::words::Given;
use stend_model::profile::parts::Part;
use stend_model::profile::{Observed, Profile, Stacks, SystemCall};

/// So many functions or system calls are listed.
pub(super) const MOST_LISTED: usize = 15;

/// What a part is called.
pub(super) fn part(part: Part) -> Phrase {
    let name = match part {
        Part::User => "part-user",
        Part::Copy => "part-copy",
        Part::Pages => "part-pages",
        Part::MemoryCgroup => "part-memory-cgroup",
        Part::Mappings => "part-mappings",
        Part::Scheduling => "part-scheduling",
        Part::Locks => "part-locks",
        Part::Entry => "part-entry",
        Part::Pipes => "part-pipes",
        Part::Network => "part-network",
        Part::Files => "part-files",
        Part::OtherKernel => "part-other-kernel",
    };
    words::say(name, &[])
}

/// How many samples there are, and by what they were taken.
pub(super) fn samples(stacks: &Stacks, samples: u64) -> Phrase {
    let (count, stretch) = (grouped(samples as usize), if stacks.measured_stretch { "measured" } else { "whole" });
    let (count, stretch) = (Given::Text(&count), Given::Text(stretch));
    words::say("stack-samples", &[("samples", count), ("stretch", stretch), ("event", Given::Text(&stacks.event))])
}

/// The share of a whole, for people.
pub(super) fn share(part: u64, whole: u64) -> String {
    percent(part as f64 / (whole as f64).max(1.0))
}

/// Time in all system calls together.
pub(super) fn time_of(calls: &[SystemCall]) -> u64 {
    calls.iter().map(|call| call.time_ns).sum()
}

/// A profile for the terminal.
pub fn render(profile: &Profile, width: usize, colour: bool) -> String {
    let bold = piece(profile.scenario.as_str(), Style::Bold);
    let mut out = format!("{}\n", bold.styled(&bold.text, colour));
    let mut say = |text: &str| wrap(text, width).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    for lack in &profile.lacks {
        say(&format!("not seen: {}", words::lack_of_profile(lack)));
    }
    let grid = match &profile.observed {
        Observed::Nothing => return out,
        Observed::Stacks(stacks) => {
            let summary = stacks.summary();
            say(samples(stacks, summary.samples).english());
            let mut parts = Grid::new(["part", "share"]);
            for (name, count) in &summary.parts {
                parts.push(vec![part(*name).english().to_owned().into(), share(*count, summary.samples).into()]);
            }
            out.push_str(&parts.write(width, colour));
            out.push('\n');
            let mut functions = Grid::new(["function", "in itself", "with what it calls", "part"]);
            for function in summary.functions.iter().take(MOST_LISTED).filter(|function| function.own > 0) {
                functions.push(vec![
                    function.name.clone().into(),
                    share(function.own, summary.samples).into(),
                    share(function.with_callees, summary.samples).into(),
                    part(function.part).english().to_owned().into(),
                ]);
            }
            functions
        }
        Observed::SystemCalls { calls } => {
            let all = time_of(calls);
            let mut grid = Grid::new(["system call", "share", "time", "calls", "errors", "each"]);
            for call in calls.iter().take(MOST_LISTED) {
                grid.push(vec![
                    call.name.clone().into(),
                    share(call.time_ns, all).into(),
                    duration(call.time_ns as f64).into(),
                    grouped(call.calls as usize).into(),
                    grouped(call.errors as usize).into(),
                    duration(call.time_ns as f64 / call.calls.max(1) as f64).into(),
                ]);
            }
            grid
        }
    };
    out.push_str(&grid.write(width, colour));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn shares_and_counts_are_listed() {
        let profiles = example::profiles();
        let text = render(&profiles[0], 100, false);
        for line in
            ["pipe write, 32 KiB", "000 samples of the measured part, by cpu-clock", "kernel: copying      60 %"]
        {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let function = text.lines().find(|line| line.starts_with("_copy_to_iter")).unwrap();
        assert_eq!(function.split_whitespace().collect::<Vec<_>>()[1..5], ["60", "%", "60", "%"], "{text}");
        let text = render(&profiles[1], 100, false);
        assert!(
            text.contains("not seen: perf is not on the machine's PATH; to have it: apt-get install -y linux-perf")
        );
        assert!(text.contains("read") && text.contains("75 %") && text.contains("20\u{a0}002"), "{text}");
    }
}
