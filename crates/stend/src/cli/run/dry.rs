//! `stend run --dry-run`: what would be done.

use std::collections::BTreeSet;
use std::time::Duration;

use stend_model::run::Skipped;
use stend_model::server::plain_name;
use stend_model::side::Side;
use stend_model::suite::{Gates, Scenario, Suite};
use stend_model::target::Target;

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::progress::in_words;
use stend_lab::run::{plan, prepare};
use stend_lab::side;
use stend_model::quantity::english_plural;
use stend_report::text::percent;
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::Host;
use stend_stand::host::stand::Compiler;
use stend_stand::machine;
use stend_stats::{DEFAULT_FLOOR, Design, LEAST_NUMBERS, visible_difference};

/// How what is measured will be compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    pub(super) design: Design,
    /// How many sessions there will be, if each is to give a number.
    pub(super) sessions: Option<u32>,
}

/// What difference such a comparison will show, by how much its numbers vary; of the scenario with the fewest repeats.
pub(super) fn sight(suite: &Suite, skipped: &[Skipped], compared: Compared) -> String {
    let measured = || {
        let is_figure = |scenario: &Scenario| !scenario.is_precondition() && !scenario.instrument.runs_tests();
        let is_skipped = |name: &str| skipped.iter().any(|skipped| skipped.scenario == name);
        suite.scenarios.iter().filter(move |scenario| is_figure(scenario) && !is_skipped(&scenario.name))
    };
    let repeats = measured().map(|scenario| scenario.repeats as usize).min().unwrap_or(0);
    let scenarios = measured().count();
    if scenarios == 0 && suite.scenarios.iter().any(|scenario| scenario.instrument.runs_tests()) {
        return "tests are compared by their names, which takes one repeat".into();
    }
    let Compared { design, sessions } = compared;
    let (count, [one, many]) = match sessions {
        Some(sessions) => (sessions as usize, ["session", "sessions"]),
        None if design == Design::InTurns => (repeats, ["pair", "pairs"]),
        None => (repeats, ["repeat", "repeats"]),
    };
    let numbers = english_plural(count, one, many);
    let vary = if sessions.is_some() { many } else { "repeats" };
    let beside = match design {
        Design::OneAfterTheOther => " beside another such run",
        Design::InTurns | Design::SessionsInTurns => "",
    };
    let floor = measured().filter_map(|scenario| scenario.metrics.first()?.floor).map(|floor| floor.0);
    let floor = floor.fold(DEFAULT_FLOOR, f64::max);
    let seen = |cv: f64| {
        let share = visible_difference(cv, count, design, floor, scenarios)?;
        Some(format!("{} if {vary} vary by {}", percent(share), percent(cv)))
    };
    let seen: Vec<String> = [0.01, 0.03, 0.1].into_iter().filter_map(seen).collect();
    if sessions.is_some_and(|sessions| (sessions as usize) < LEAST_NUMBERS) {
        return format!("{numbers} of a scenario{beside} give no solid mark: that takes {LEAST_NUMBERS}");
    }
    if seen.is_empty() {
        return format!("{numbers} of a scenario{beside} can show no difference: a verdict takes {LEAST_NUMBERS}");
    }
    let of = english_plural(scenarios, "scenario", "scenarios");
    format!("{numbers} of {of}{beside} can show a difference of {}", seen.join(", "))
}

/// About how long these scenarios take so many times, as far as the suite says; nothing where it says nothing.
fn duration<'a>(scenarios: impl Iterator<Item = &'a Scenario>, times: u32) -> String {
    let (mut known, mut unknown) = (Duration::ZERO, 0_usize);
    for scenario in scenarios {
        match scenario.expected {
            Some(expected) => known += expected.0 * (scenario.repeats + scenario.warmup) * times,
            None => unknown += 1,
        }
    }
    if known.is_zero() {
        return String::new();
    }
    let beside = if unknown > 0 {
        format!(" without {}, of which the suite does not say", english_plural(unknown, "scenario", "scenarios"))
    } else {
        String::new()
    };
    format!(": about {}{beside}", in_words(known))
}

/// Prints the plan of a suite on a machine. Sides that name no compiler are built by the usual one.
pub(super) fn print(
    host: &dyn Host,
    mut suite: Suite,
    sides: Vec<Side>,
    usual: &Compiler,
    target: Option<&Target>,
    compared: Compared,
) -> Result<(), Failure> {
    use std::fmt::Write as _;
    let work = prepare::work_directory(host).map_err(Failure::unusable)?;
    super::cut_to_processors(host, &mut suite);
    let skipped = prepare::skipped(host, &suite, &sides, &work);
    if let Some(reason) = prepare::common_reason(&suite, &skipped) {
        return Err(Failure::unusable(words::cause(reason, Language::English)));
    }
    let left_out = |name: &str| skipped.iter().find(|skipped| skipped.scenario == name);
    let plan = plan(&suite, &sides, suite.seed.unwrap_or(0), &skipped);
    let mut text = format!("{}: {}\n", suite.name, suite.title);
    let measured = || prepare::measured(&suite, &skipped);
    let files = prepare::files(host, measured(), &work, prepare::NEW, target).map_err(Failure::usage)?;
    files.check().map_err(Failure::usage)?;
    let spaces = files.spaces(None, &work);
    // To look takes half a second, and shows nothing where nothing is written.
    let look = || machine::check(host, &spaces, &Gates::DEFAULT).into_iter().find(|finding| finding.never);
    if let Some(full) = spaces.iter().any(|space| space.bytes > 0).then(look).flatten() {
        return Err(Failure::unusable(words::condition(&full.condition, Language::English).with_advice()));
    }
    for (name, server) in &suite.servers {
        let _ = writeln!(text, "server {}: {server}", plain_name(name));
    }
    let foreseen = side::foreseen(host, &work, usual, &sides);
    let foreseen = foreseen.map_err(|reason| Failure::unusable(format!("--ab: {reason}")))?;
    for (side, lines) in sides.iter().zip(foreseen) {
        let _ = writeln!(text, "side {}", side.in_full());
        for line in lines {
            let _ = writeln!(text, "      {line}");
        }
    }
    let repeats = if sides.is_empty() { ["repeat", "repeats"] } else { ["pair of repeats", "pairs of repeats"] };
    // The phases of a job file have all of it for a parameter.
    let mut shown = BTreeSet::new();
    for scenario in &suite.scenarios {
        let (texts, parameters): (Vec<_>, Vec<_>) =
            scenario.parameters.iter().partition(|(_, value)| value.contains('\n'));
        let parameters: Vec<_> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let state = left_out(&scenario.name)
            .map(|skipped| format!(" (skipped: {})", words::cause(&skipped.reason, Language::English)))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "  {}{state}\n      {} {} · {}",
            scenario.name,
            scenario.instrument,
            parameters.join(" "),
            english_plural(scenario.repeats as usize, repeats[0], repeats[1])
        );
        for (name, value) in texts.into_iter().filter(|(_, value)| shown.insert(value.as_str())) {
            let _ = writeln!(text, "      {name}:");
            value.lines().for_each(|line| _ = writeln!(text, "        {line}"));
        }
    }
    let sessions = compared.sessions.unwrap_or(1);
    let long = duration(measured(), sessions * if sides.is_empty() { 1 } else { 2 });
    let of = if sessions > 1 { format!("in each of {sessions} sessions") } else { "in all".into() };
    let _ = writeln!(text, "{} {of}, warm-ups included{long}", english_plural(plan.steps().len(), "repeat", "repeats"));
    let _ = writeln!(text, "{}", sight(&suite, &skipped, compared));
    output::print(&text)?;
    Ok(())
}
