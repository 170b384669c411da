//! Where a scenario's time goes, as the page shows it.

use anyhow::Result;

use super::Input;
use crate::flame::{Flame, NARROWEST, for_page};
use crate::phrase::Phrase;
use crate::profile::{MOST_LISTED, part, samples, share, time_of};
use crate::text::{duration, grouped};
use crate::words;
use stend_model::profile::{Observed, Profile, Stacks, SystemCall};

/// A profile.
pub(super) struct ProfileView {
    /// Why there is not more, and what would change that.
    pub(super) lacks: Vec<(Phrase, String)>,
    pub(super) stacks: Option<StacksView>,
    pub(super) calls: Vec<CallView>,
}

/// Samples.
pub(super) struct StacksView {
    pub(super) samples: Phrase,
    pub(super) flame: Flame,
    /// Parts with their shares, and how long a bar for each is, in percent of the longest.
    pub(super) parts: Vec<(Phrase, String, f64)>,
    pub(super) functions: Vec<FunctionView>,
    /// Whether samples were taken by a timer, which does not reach everywhere.
    pub(super) by_timer: bool,
}

pub(super) struct FunctionView {
    pub(super) name: String,
    pub(super) part: Phrase,
    pub(super) own: String,
    pub(super) with_callees: String,
}

pub(super) struct CallView {
    pub(super) name: String,
    pub(super) share: String,
    pub(super) time: String,
    pub(super) calls: String,
    pub(super) errors: String,
    pub(super) each: String,
}

/// So many flame graphs may have all their frames; beyond that the narrow ones are left out, so that the page stays small.
const FLAMES_WITH_ALL_FRAMES: f64 = 20.0;
/// In percent of the width.
const WIDEST_LEFT_OUT: f64 = 1.0;

pub(super) fn view(profile: &Profile, input: &Input) -> Result<ProfileView> {
    let lacks = profile
        .lacks
        .iter()
        .map(|lack| (words::causes(std::slice::from_ref(&lack.why)), lack.remedy.clone().unwrap_or_default()));
    let mut view = ProfileView { lacks: lacks.collect(), stacks: None, calls: Vec::new() };
    match &profile.observed {
        Observed::Stacks(stacks) => {
            let flames: usize = input.runs.iter().map(|data| data.profiles.len()).sum();
            let many = (flames as f64 / FLAMES_WITH_ALL_FRAMES).max(1.0);
            view.stacks = Some(of_stacks(stacks, (NARROWEST * many).min(WIDEST_LEFT_OUT))?);
        }
        Observed::SystemCalls { calls } => view.calls = of_calls(calls),
        Observed::Nothing => {}
    }
    Ok(view)
}

fn of_stacks(stacks: &Stacks, narrowest: f64) -> Result<StacksView> {
    let summary = stacks.summary();
    let longest = summary.parts.first().map_or(1, |(_, count)| *count).max(1);
    let parts = summary.parts.iter().map(|(name, count)| {
        (part(*name), share(*count, summary.samples), (*count as f64 / longest as f64 * 1000.0).round() / 10.0)
    });
    let functions = summary.functions.iter().take(MOST_LISTED).filter(|function| function.own > 0);
    let functions = functions.map(|function| FunctionView {
        name: function.name.clone(),
        part: part(function.part),
        own: share(function.own, summary.samples),
        with_callees: share(function.with_callees, summary.samples),
    });
    Ok(StacksView {
        samples: samples(stacks, summary.samples),
        flame: for_page(stacks, narrowest)?,
        parts: parts.collect(),
        functions: functions.collect(),
        by_timer: stacks.event == "cpu-clock",
    })
}

fn of_calls(calls: &[SystemCall]) -> Vec<CallView> {
    let all = time_of(calls);
    let view = |call: &SystemCall| CallView {
        name: call.name.clone(),
        share: share(call.time_ns, all),
        time: duration(call.time_ns as f64),
        calls: grouped(call.calls as usize),
        errors: grouped(call.errors as usize),
        each: duration(call.time_ns as f64 / call.calls.max(1) as f64),
    };
    calls.iter().take(MOST_LISTED).map(view).collect()
}
