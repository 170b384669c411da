//! The names of the page's fixed texts, and sentences of it that are made of several parts.

use std::sync::LazyLock;

use stend_stats::Reason;

use super::phrase::Phrase;
use super::text;
use crate::words::language::Language;
use crate::words::{self, Given};
use stend_compare::table::AgainstBase;
use stend_stats::LEAST_NUMBERS;

macro_rules! texts {
    ($($name:ident),* $(,)?) => {
        /// The fixed texts: `better` is the message `text-better`.
        pub struct Texts {
            $(pub $name: Phrase,)*
        }

        /// The fixed texts, in all languages.
        pub static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts { $($name: words::text(stringify!($name)),)* });

        #[cfg(test)]
        pub const NAMES: &[&str] = &[$(stringify!($name),)*];
    };
}

texts! {
    report, skip, machine, details, differs, no_difference, what, missing, session, results, each_figure, sweeps,
    heat_caption, curve_title, curve_caption, sweep_caption, bars_caption, at_points, logarithmic, closed, closed_caption, legend_wide, filter,
    all_metrics, scenario, metric, median, spread, interval, base, base_is, other_runs, published, unsorted, better,
    worse, same, unresolved, legend_delta, legend_published, legend_count, nothing, too_few, left_out, notes,
    not_measured, remedy, scenarios, expand, collapse, to_top, measures, instrument, parameters, higher, lower,
    figures, run_or_machine, against, note, repeats, repeats_caption, repeats_band, not_from_zero, latency,
    latency_steps_caption, latency_curve_caption, latency_steps_short, latency_percentiles, latency_curve_short,
    latency_untold, operations, longest, history, history_caption, history_changes, history_runs, history_run,
    history_change, number, started, value, wall, outcome, check, warmup, valid, invalid, failed, check_passed,
    check_failed, check_none, error_output, command, faults, evidence, each_repeat, build, series_instrument,
    series_machine, series_caption, no_series, constant, charts_by_script, nothing_differs, some_unresolved,
    all_unresolved, when_made, when_made_caption, processor, memory, kernel, compiler, system_and_ids, forest_caption, largest_first, change, differing_first, weighing, tests, tests_passed, tests_failed, tests_flaky, tests_skipped, tests_repeats, tests_cut, timeline, timeline_caption, timeline_iops, timeline_luns,
    timeline_bytes, timeline_latency, timeline_shares, timeline_memory, timeline_queue, timeline_busy, together,
    reads, writes, trims, load, controllers, others, machine_used, pool_disks, lun_devices, happened, repeat_word,
    cpu, each_cpu, each_lun, each_cpu_busy, lowest, mean, highest, busy, user, system, iowait, steal, slope,
    time_goes, not_seen, flame_caption, flame_timer, function, in_itself, with_callees, part, system_call, share,
    time, calls, call_errors, each_call, calls_caption, sources, method, method_point, method_verdict, method_pairs,
    method_invalid, legend_turns, method_charts, questions, questions_source, ask_double, ask_limits, ask_errors,
    ask_reproduce, ask_matter, ask_happened, no_profile, see_profiles, no_loader, below_ceilings, one_boot, none_sure,
    not_compared, how_computed, same_machine, same_machine_in_turns, show_only, only_better, only_worse, only_same,
    only_unresolved, rows_shown, none_shown, why, histogram, histogram_caption, gate_steal, gate_foreign, gate_fall,
    gate_swapping, gate_throttling, gates_caption, close, copy, job_file, copied, series, on_paper, moment, zoom_in,
    zoom_out, earlier, later, whole, axis_hint, none_of_these, generated, open_on_paper, language, of_languages,
}

impl Texts {
    /// For the templates: the code of each language, its own name, and its word for languages.
    pub(super) fn languages(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        let told =
            |language: &Language| (language.code(), self.language.say(*language), self.of_languages.say(*language));
        Language::ALL.iter().map(told)
    }
}

/// The page's first sentence.
pub struct Summary<'a> {
    /// Scenarios with a figure.
    pub measured: usize,
    /// Scenarios without one.
    pub skipped: usize,
    /// Scenarios of which so few repeats count that no verdict can rest on them.
    pub few: usize,
    /// Why most have none, where no scenario has one.
    pub why: Option<Phrase>,
    /// The machine's title.
    pub machine: &'a str,
    /// When the run began.
    pub moment: Option<String>,
    /// In how many sessions it was measured.
    pub sessions: Phrase,
}

impl Summary<'_> {
    /// In plain words.
    pub fn phrase(&self) -> Phrase {
        let Self { measured, skipped, few, why, machine, moment, sessions } = self;
        let why = why.as_ref().map_or(Given::Text(""), Given::Said);
        words::say(
            "summary",
            &[
                ("measured", Given::Count(*measured)),
                ("machine", Given::Text(machine)),
                ("moment", Given::Text(moment.as_deref().unwrap_or_default())),
                ("skipped", Given::Count(*skipped)),
                ("few", Given::Count(*few)),
                ("least", Given::Count(LEAST_NUMBERS)),
                ("why", why),
                ("sessions", Given::Said(sessions)),
            ],
        )
    }
}

/// What an unresolved comparison would take.
pub fn to_settle(against: &AgainstBase) -> Option<Phrase> {
    // Of too few it is said already how many a verdict takes.
    let numbers = against.needed.filter(|_| against.reason != Reason::TooFew)?;
    Some(words::say(
        "to-settle",
        &[("numbers", Given::Count(numbers)), ("counted", Given::Text(text::counted(against.counted)))],
    ))
}

/// How long a series is, and how much of it is drawn.
pub fn drawn(lowest: &str, highest: &str, samples: &str, points: Option<&str>) -> Phrase {
    let (lowest, highest) = (Given::Figure(lowest), Given::Figure(highest));
    let (samples, points) = (Given::Text(samples), Given::Text(points.unwrap_or_default()));
    words::say("drawn", &[("lowest", lowest), ("highest", highest), ("samples", samples), ("points", points)])
}

/// A caption, with a warning where the axis begins elsewhere than at zero.
pub(super) fn with_axis(caption: &Phrase, bottom: f64) -> Phrase {
    if bottom == 0.0 { caption.clone() } else { Phrase::joined(&[caption.clone(), TEXTS.not_from_zero.clone()], " ") }
}

/// How many operations a histogram has, and in how many repeats.
pub(super) fn merged_of(operations: u64, repeats: usize) -> Phrase {
    let count = text::grouped(usize::try_from(operations).unwrap_or(usize::MAX));
    words::say("merged-of", &[("count", Given::Text(&count)), ("repeats", Given::Count(repeats))])
}

/// Curves that are not drawn, because more could not be told apart.
pub(super) fn curves_left_out(count: usize) -> Phrase {
    words::say("curves-left-out", &[("count", Given::Count(count))])
}

/// Which axis goes down and which goes across.
pub(super) fn axes(down: &str, across: &str) -> Phrase {
    words::say("axes", &[("down", Given::Text(down)), ("across", Given::Text(across))])
}

/// What a drawing shows of a family: a figure along its axis.
pub(super) fn along(metric: &str, axis: &str) -> Phrase {
    words::say("along", &[("metric", Given::Text(metric)), ("axis", Given::Text(axis))])
}

/// The name of a curve: the figure, and of which value of another axis.
pub(super) fn curve_of(metric: &str, of: Option<(&str, &str)>) -> Phrase {
    match of {
        Some((axis, value)) => format!("{metric}, {axis} {value}").into(),
        None => metric.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_in_both_languages() {
        let summary = |measured, skipped, sessions: [u32; 2]| {
            let sessions = text::sessions_of(sessions[0], sessions[1]);
            let moment = Some("2026-11-21 05:55 UTC".into());
            Summary { measured, skipped, few: skipped, why: None, machine: "pc-7", moment, sessions }.phrase()
        };
        let two = summary(14, 2, [1, 1]);
        assert_eq!(
            two.english(),
            "14 scenarios measured on pc-7, 2026-11-21 05:55 UTC; 2 have no figure; 2 have fewer than 5 valid repeats; one session."
        );
        assert_eq!(
            two.russian(),
            "Измерено 14 сценариев на машине pc-7, 2026-11-21 05:55 UTC; 2 без результата; в 2 учтено меньше 5 повторов; одна сессия."
        );
        let one = summary(1, 0, [6, 1]);
        assert!(
            one.russian().starts_with("Измерен 1 сценарий ")
                && one.english().ends_with("; 6 sessions, no boot seen in between.")
        );
        assert!(one.russian().ends_with("; 6 сессий, перезагрузок между ними не видно."), "{}", one.russian());
        let over_boots = summary(1, 0, [3, 2]);
        assert!(
            over_boots.english().ends_with("; 3 sessions over 2 boots.")
                && over_boots.russian().ends_with("; 3 сессии, 2 загрузки.")
        );
    }
}
