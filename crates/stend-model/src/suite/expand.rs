//! From the text of a suite to concrete scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use toml::Spanned;

use super::template::fill;
use super::text::{Axis, Range, RateText, Scalar, Scale, ScenarioText, SuiteText};
use super::{Changes, Family, Fault, Gates, Instrument, Order, Rate, Scenario, Steady, Suite, SuiteError};
use crate::metric::Metric;
use crate::position::{line_and_column, plain};
use crate::quantity::{Share, Span, format_size, parse_duration, parse_share, parse_size};

/// More scenarios than this are a mistake in a range, not a wish.
const MOST_SCENARIOS: usize = 10_000;
/// More repeats than this are a mistake too.
const MOST_REPEATS: u32 = 100_000;
const SHORTEST_SPAN: Duration = Duration::from_millis(1);
const LONGEST_SPAN: Duration = Duration::from_secs(365 * 86_400);
const MEBIBYTE: u64 = 1 << 20;

/// An adapter as a suite knows it.
pub(super) struct KnownAdapter {
    pub(super) name: &'static str,
    /// Its parameters that name a place and nothing else.
    pub(super) places: &'static [&'static str],
    /// Whether it can load a target at a given rate.
    pub(super) rates: bool,
    /// Whether it loads the LUNs of a run's target.
    pub(super) loads_targets: bool,
}

/// The adapters that there are. `stend` has one for each, and tests that it does: suites are read without it too.
pub(super) const ADAPTERS: [KnownAdapter; 3] = [
    KnownAdapter { name: "fio", places: &["directory"], rates: true, loads_targets: true },
    KnownAdapter { name: "openssl", places: &[], rates: false, loads_targets: false },
    KnownAdapter { name: "gzip", places: &[], rates: false, loads_targets: false },
];

/// All scenarios together have at most so many repeats: each is a step of the plan.
const MOST_REPEATS_IN_ALL: u64 = 1_000_000;
/// What a suite makes of its text, as scenarios or as combinations of axes, is at most so much, in bytes.
const MOST_TEXT: usize = 16 << 20;
/// What a combination takes besides its texts, in bytes, about.
const BYTES_OF_POINT: usize = 600;

/// The variable that holds where the suite's file lies.
const SUITE_DIRECTORY: &str = "suite_directory";

pub(super) fn expand(
    text: &str,
    file: &str,
    directory: &Path,
    changes: &Changes,
    check: &dyn Fn(&Scenario) -> Result<(), String>,
) -> Result<Suite, SuiteError> {
    let place = Place { text, file };
    let suite: SuiteText = toml::from_str(text)
        .map_err(|error| place.error(error.span().map_or(0, |span| span.start), plain(error.message())))?;
    let values = variables(&suite, directory, changes)?;
    let scale = changes.scale.unwrap_or(1.0);
    let of_scale = |message: &str| in_flag(format!("--scale {scale}"), message);
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(of_scale("it must be above 0 and at most 1; 0.01 makes everything a hundred times smaller"));
    }
    if scale < 1.0 && suite.scale.sizes.is_empty() && suite.scale.durations.is_empty() {
        return Err(of_scale("this suite cannot be scaled; it has no [scale] that names sizes or durations"));
    }
    let sample_hertz = suite.sample_hertz.as_ref().map_or(10, |hertz| *hertz.get_ref());
    if let Some(hertz) = suite.sample_hertz.as_ref().filter(|hertz| *hertz.get_ref() > 100) {
        return Err(place
            .error(hertz.span().start, format!("sample_hertz is {sample_hertz}; it may be 1 to 100, or 0 for off")));
    }

    let (mut scenarios, mut text_bytes, mut repeats) = (Vec::new(), 0, 0);
    for family in &suite.scenario {
        let start = family.span().start;
        for point in points(&place, family)? {
            let mut values = values.clone();
            values.extend(point.clone());
            let mut scenario = scenario(&place, &suite, family, &values, scale, changes)?;
            if !point.is_empty() {
                scenario.family = Some(Family { name: family_name(&family.get_ref().name, &values, &point), point });
            }
            check(&scenario)
                .map_err(|message| place.error(start, format!("scenario \"{}\": {message}", scenario.name)))?;
            text_bytes += serde_json::to_string(&scenario).map_or(0, |text| text.len());
            repeats += u64::from(scenario.repeats) + u64::from(scenario.warmup);
            scenarios.push((start, scenario));
            let too_many = [
                (scenarios.len() > MOST_SCENARIOS, format!("{MOST_SCENARIOS} scenarios; are the ranges right?")),
                (text_bytes > MOST_TEXT, format!("{MOST_TEXT} bytes of scenarios")),
                (repeats > MOST_REPEATS_IN_ALL, format!("{MOST_REPEATS_IN_ALL} repeats of all scenarios together")),
            ];
            if let Some((_, what)) = too_many.into_iter().find(|(much, _)| *much) {
                return Err(place.error(start, format!("this makes more than {what}")));
            }
        }
    }
    let mut names = BTreeSet::new();
    for (start, scenario) in &scenarios {
        if !names.insert(scenario.name.clone()) {
            let message =
                format!("two scenarios are called \"{}\"; put the axes' names in braces into \"name\"", scenario.name);
            return Err(place.error(*start, message));
        }
    }
    for (start, scenario) in &scenarios {
        for ceiling in &scenario.ceiling {
            let message = if *ceiling == scenario.name {
                "\"ceiling\" names the scenario itself; it takes the names of others".into()
            } else if !names.contains(ceiling) {
                format!("\"ceiling\" names \"{ceiling}\", and there is no such scenario; there are: {}", quoted(&names))
            } else {
                continue;
            };
            return Err(place.error(*start, format!("scenario \"{}\": {message}", scenario.name)));
        }
    }
    for (number, (start, scenario)) in scenarios.iter().enumerate() {
        let before = scenarios[..number].iter().map(|(_, scenario)| scenario);
        sequence(scenario, before, suite.order)
            .map_err(|message| place.error(*start, format!("scenario \"{}\": {message}", scenario.name)))?;
    }
    if let Some(table) = &suite.table {
        let scenarios: Vec<_> = scenarios.iter().map(|(_, scenario)| scenario).collect();
        table.get_ref().check(&scenarios).map_err(|message| place.error(table.span().start, message))?;
    }
    let mut scenarios: Vec<_> = scenarios.into_iter().map(|(_, scenario)| scenario).collect();
    if !changes.only.is_empty() {
        keep_only(&mut scenarios, &changes.only);
        if scenarios.is_empty() {
            let flags: Vec<_> = changes.only.iter().map(|text| format!("--only \"{text}\"")).collect();
            return Err(in_flag(
                flags.join(" "),
                &format!("no scenario's name contains that; there are: {}", quoted(&names)),
            ));
        }
    }
    if scenarios.is_empty() {
        return Err(place.error(0, "there is no [[scenario]]; a suite needs at least one".into()));
    }
    Ok(Suite {
        name: suite.name,
        title: suite.title,
        titles: suite.titles,
        source: suite.source,
        order: suite.order,
        seed: changes.seed.or(suite.seed),
        sample_hertz,
        time_budget: changes.time_budget.or(suite.time_budget),
        scale,
        set: changes.variables.clone(),
        table: suite.table.map(Spanned::into_inner),
        scenarios,
    })
}

/// Whether what the scenario needs of those before it is there.
fn sequence<'a>(
    scenario: &Scenario,
    mut before: impl Iterator<Item = &'a Scenario>,
    order: Order,
) -> Result<(), String> {
    let needs = match scenario {
        _ if scenario.is_precondition() => "\"precondition\"",
        Scenario { steady: Some(_), .. } => "\"steady\"",
        Scenario { rate: Some(_), .. } => "\"rate\"",
        _ => return Ok(()),
    };
    if order != Order::Grouped {
        return Err(format!("{needs} needs order = \"grouped\", in which one scenario follows the other"));
    }
    let Some(rate) = &scenario.rate else { return Ok(()) };
    match before.find(|other| other.name == rate.of) {
        Some(other) if !other.is_precondition() => Ok(()),
        Some(_) => Err(format!("\"rate\" is of \"{}\", which only prepares and has no figure", rate.of)),
        None => Err(format!("\"rate\" is of \"{}\", and no scenario before it is called that", rate.of)),
    }
}

/// Leaves the scenarios whose name contains one of these texts, and those that they need: what prepares them, and of whose figure their rate
/// is a share.
fn keep_only(scenarios: &mut Vec<Scenario>, texts: &[String]) {
    let wanted = |scenario: &Scenario| texts.iter().any(|text| scenario.name.contains(text.as_str()));
    // From the last one on, because a rate is of a scenario before, which may have a rate itself.
    let mut rates = BTreeSet::new();
    for scenario in scenarios.iter().rev() {
        if wanted(scenario) || rates.contains(&scenario.name) {
            rates.extend(scenario.rate.as_ref().map(|rate| rate.of.clone()));
        }
    }
    let last = scenarios.iter().rposition(|scenario| wanted(scenario) && !scenario.is_precondition());
    let mut place = 0;
    scenarios.retain(|scenario| {
        place += 1;
        let prepares = scenario.is_precondition() && last.is_some_and(|last| place <= last);
        wanted(scenario) || rates.contains(&scenario.name) || prepares
    });
}

/// A text and its file, for errors that say where.
struct Place<'a> {
    text: &'a str,
    file: &'a str,
}

impl Place<'_> {
    fn error(&self, offset: usize, message: String) -> SuiteError {
        let (line, column) = line_and_column(self.text, offset);
        SuiteError::InFile { file: self.file.into(), line, column, message }
    }
}

fn in_flag(flag: String, message: &str) -> SuiteError {
    SuiteError::InFlag { flag, message: message.into() }
}

/// A mistake in a suite with changes, where the suite alone has none: the flags are named that make it.
pub(super) fn blame(
    error: SuiteError,
    changes: &Changes,
    expand: impl Fn(&Changes) -> Result<Suite, SuiteError>,
) -> SuiteError {
    let SuiteError::InFile { message, .. } = &error else { return error };
    if expand(&Changes::default()).is_err() {
        return error;
    }
    let set = |name: &String, value: &String| Changes {
        variables: BTreeMap::from([(name.clone(), value.clone())]),
        ..Changes::default()
    };
    let mut each: Vec<_> =
        changes.variables.iter().map(|(name, value)| (format!("--set {name}={value}"), set(name, value))).collect();
    each.extend(
        changes.scale.map(|scale| (format!("--scale {scale}"), Changes { scale: Some(scale), ..Changes::default() })),
    );
    each.extend(
        changes
            .repeats
            .map(|repeats| (format!("--repeats {repeats}"), Changes { repeats: Some(repeats), ..Changes::default() })),
    );
    for (flag, alone) in &each {
        if let Err(SuiteError::InFile { message, .. }) = expand(alone) {
            return in_flag(flag.clone(), &message);
        }
    }
    if each.is_empty() {
        return error;
    }
    // Each is right by itself, and all together are not.
    in_flag(each.into_iter().map(|(flag, _)| flag).collect::<Vec<_>>().join(" "), message)
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn variables(suite: &SuiteText, directory: &Path, changes: &Changes) -> Result<BTreeMap<String, String>, SuiteError> {
    let mut values: BTreeMap<_, _> =
        suite.variables.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    for (name, value) in &changes.variables {
        match values.get_mut(name) {
            Some(old) => old.clone_from(value),
            None => {
                let known = if values.is_empty() { "none".into() } else { quoted(values.keys()) };
                let message = format!("the suite has no variable \"{name}\"; it has: {known}");
                return Err(in_flag(format!("--set {name}={value}"), &message));
            }
        }
    }
    values.insert(SUITE_DIRECTORY.into(), directory.display().to_string());
    Ok(values)
}

/// Every combination of the axes' values that is not excluded; a scenario without a matrix has one, which is empty.
fn points(place: &Place, family: &Spanned<ScenarioText>) -> Result<Vec<BTreeMap<String, String>>, SuiteError> {
    let text = family.get_ref();
    for excluded in &text.exclude {
        if let Some(axis) = excluded.keys().find(|axis| !text.matrix.contains_key(*axis)) {
            return Err(place
                .error(family.span().start, format!("\"exclude\" names \"{axis}\", which is no axis of the matrix")));
        }
    }
    let mut points = vec![BTreeMap::new()];
    for (name, axis) in &text.matrix {
        let values = axis_values(axis.get_ref())
            .map_err(|message| place.error(axis.span().start, format!("axis \"{name}\": {message}")))?;
        let mut combined = Vec::new();
        let mut bytes = 0;
        for (point, value) in points.iter().flat_map(|point| values.iter().map(move |value| (point, value))) {
            let point = with(point, name, value);
            bytes += BYTES_OF_POINT + point.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
            if bytes > MOST_TEXT {
                let message = format!(
                    "axis \"{name}\": with the axes before it there are more combinations than {MOST_TEXT} bytes hold"
                );
                return Err(place.error(axis.span().start, message));
            }
            combined.push(point);
        }
        points = combined;
    }
    let matches = |point: &BTreeMap<String, String>, excluded: &BTreeMap<String, Scalar>| {
        excluded.iter().all(|(axis, value)| point[axis] == value.to_string())
    };
    points.retain(|point| !text.exclude.iter().any(|excluded| matches(point, excluded)));
    Ok(points)
}

/// A family's name: all of the suite's variables filled in, and axes as their names, in capitals where there are other words beside them.
fn family_name(name: &str, values: &BTreeMap<String, String>, point: &BTreeMap<String, String>) -> String {
    let filled = |axis_as: fn(&str) -> String| {
        let mut values = values.clone();
        values.extend(point.keys().map(|axis| (axis.clone(), axis_as(axis))));
        // The scenarios' own names were filled in from the same text.
        fill(name, &values).unwrap_or_else(|_| name.into())
    };
    let has_words = filled(|_| String::new()).contains(char::is_alphanumeric);
    filled(if has_words { str::to_uppercase } else { str::to_owned })
}

fn with(point: &BTreeMap<String, String>, name: &str, value: &str) -> BTreeMap<String, String> {
    let mut point = point.clone();
    point.insert(name.into(), value.into());
    point
}

fn axis_values(axis: &Axis) -> Result<Vec<String>, String> {
    match axis {
        Axis::List(values) if values.is_empty() => Err("the list is empty".into()),
        Axis::List(values) => Ok(values.iter().map(ToString::to_string).collect()),
        Axis::Range(range) => range_values(range),
    }
}

fn range_values(range: &Range) -> Result<Vec<String>, String> {
    let is_size = matches!((&range.from, &range.to), (Scalar::Text(_), _) | (_, Scalar::Text(_)));
    let number = |scalar: &Scalar| match scalar {
        Scalar::Integer(value) => u64::try_from(*value).map_err(|_| format!("{value} is negative")),
        Scalar::Text(text) => parse_size(text).map_err(|error| error.to_string()),
        other => Err(format!("{other} is neither a whole number nor a size")),
    };
    let (from, to) = (number(&range.from)?, number(&range.to)?);
    if from > to {
        return Err(format!(
            "the range goes from {} down to {}; \"from\" must not be above \"to\"",
            range.from, range.to
        ));
    }
    let next: Box<dyn Fn(u64) -> Option<u64>> = match (&range.step, range.times) {
        (Some(step), None) => match number(step)? {
            0 => return Err("\"step\" is 0; the range would never end".into()),
            step => Box::new(move |value| value.checked_add(step)),
        },
        (None, Some(times)) if times >= 2 && from > 0 => Box::new(move |value| value.checked_mul(times)),
        (None, Some(times)) if times < 2 => return Err(format!("\"times\" is {times}; it must be at least 2")),
        (None, Some(_)) => {
            return Err("\"from\" is 0, which stays 0 however often it is multiplied; use \"step\"".into());
        }
        _ => return Err("a range has either \"step\" or \"times\"".into()),
    };
    let values = std::iter::successors(Some(from), |&value| next(value)).take_while(|&value| value <= to);
    let values: Vec<_> = values
        .take(MOST_SCENARIOS + 1)
        .map(|value| if is_size { format_size(value) } else { value.to_string() })
        .collect();
    if values.len() > MOST_SCENARIOS {
        Err(format!("the range has more than {MOST_SCENARIOS} values"))
    } else {
        Ok(values)
    }
}

fn scenario(
    place: &Place,
    suite: &SuiteText,
    family: &Spanned<ScenarioText>,
    values: &BTreeMap<String, String>,
    scale: f64,
    changes: &Changes,
) -> Result<Scenario, SuiteError> {
    let text = family.get_ref();
    let at = |message: String| place.error(family.span().start, format!("scenario \"{}\": {message}", text.name));
    let mut parameters = BTreeMap::new();
    let mut places = BTreeMap::new();
    for (name, value) in &text.parameters {
        let value = fill_noting_place(&value.to_string(), values, &mut places).map_err(at)?;
        parameters.insert(name.clone(), scaled(name, value, &suite.scale, scale).map_err(at)?);
    }
    let metrics = metrics(suite, text).map_err(at)?;
    for metric in &metrics {
        metric.check().map_err(|error| at(format!("metric \"{}\": {error}", metric.name)))?;
    }
    if let Some(main) = metrics.first().filter(|metric| metric.optional) {
        return Err(at(format!("metric \"{}\" is the main one, being the first, and cannot be optional", main.name)));
    }
    let repeats_at = text.repeats.as_ref().or(suite.repeats.as_ref());
    if let Some(zero) = repeats_at.filter(|repeats| *repeats.get_ref() == 0) {
        return Err(place.error(
            zero.span().start,
            "\"repeats\" is 0; it must be at least 1, and at least 6 for an interval".into(),
        ));
    }
    let (repeats, warmup) = match (text.precondition, &text.steady, text.warmup) {
        (true, Some(_), _) => return Err(at("has both \"precondition\" and \"steady\"; one of them".into())),
        (true, None, Some(_)) => {
            return Err(at("has both \"precondition\" and \"warmup\"; \"repeats\" says how often it is run".into()));
        }
        (false, Some(_), Some(_)) => return Err(at("has both \"steady\" and \"warmup\"; one of them".into())),
        (true, None, None) => (0, text.repeats.as_ref().map_or(1, |repeats| *repeats.get_ref())),
        (false, steady, warmup) => (
            changes.repeats.unwrap_or_else(|| repeats_at.map_or(10, |repeats| *repeats.get_ref())),
            steady.map_or_else(|| warmup.or(suite.warmup).unwrap_or(1), |steady| steady.most),
        ),
    };
    if let Some(steady) = &text.steady {
        check_steady(steady).map_err(at)?;
    }
    if let Some(many) = [repeats, warmup].into_iter().find(|&number| number > MOST_REPEATS) {
        return Err(at(format!("{many} repeats are more than {MOST_REPEATS}")));
    }
    let timeout = text.timeout.or(suite.timeout).unwrap_or(Span(Duration::from_secs(60)));
    let expected = text.expected.or(suite.expected);
    for (name, span) in [("timeout", Some(timeout)), ("expected", expected)] {
        if let Some(span) = span.filter(|span| !(SHORTEST_SPAN..=LONGEST_SPAN).contains(&span.0)) {
            return Err(at(format!("\"{name}\" is {span}; it may be 1ms to 365d")));
        }
    }
    Ok(Scenario {
        name: fill(&text.name, values).map_err(at)?,
        family: None,
        measures: text.measures.as_ref().map(|words| fill(words, values)).transpose().map_err(at)?,
        rate: text.rate.as_ref().map(|rate| self::rate(rate, text, values)).transpose().map_err(at)?,
        faults: faults(text, &parameters, values).map_err(at)?,
        steady: text.steady,
        instrument: instrument(text, values, &mut places).map_err(at)?,
        parameters,
        metrics,
        repeats,
        warmup,
        precision: text.precision.or(suite.precision),
        timeout,
        expected,
        gates: text.gates.or(suite.gates).or(Gates::DEFAULT),
        verification: text.verification,
        needs: text.needs.clone(),
        ceiling: text.ceiling.iter().map(|name| fill(name, values)).collect::<Result<_, _>>().map_err(at)?,
        places,
        files: BTreeMap::new(),
    })
}

/// Fills a text. Where the suite's directory is in it, what the suite says there is noted in `places` under the filled text.
fn fill_noting_place(
    text: &str,
    values: &BTreeMap<String, String>,
    places: &mut BTreeMap<String, String>,
) -> Result<String, String> {
    let filled = fill(text, values)?;
    let without_place = fill(text, &with(values, SUITE_DIRECTORY, "{suite_directory}"))?;
    if filled != without_place {
        places.insert(filled.clone(), without_place);
    }
    Ok(filled)
}

fn metrics(suite: &SuiteText, text: &ScenarioText) -> Result<Vec<Metric>, String> {
    match (&text.metric_set, &text.metrics[..]) {
        (None, []) => Err("has neither \"metrics\" nor \"metric_set\"; say what is computed from a repeat".into()),
        (None, metrics) => Ok(metrics.to_vec()),
        (Some(_), [_, ..]) => Err("has both \"metrics\" and \"metric_set\"; one of them".into()),
        (Some(name), []) => match suite.metric_sets.get(name).map(Vec::as_slice) {
            Some([]) => Err(format!("the metric set \"{name}\" is empty")),
            Some(metrics) => Ok(metrics.to_vec()),
            None => Err(format!("there is no metric set \"{name}\"; there are: {}", quoted(suite.metric_sets.keys()))),
        },
    }
}

fn instrument(
    text: &ScenarioText,
    values: &BTreeMap<String, String>,
    places: &mut BTreeMap<String, String>,
) -> Result<Instrument, String> {
    match (&text.instrument, &text.command) {
        (Some(name), None) => match name.split_once(' ') {
            Some(("stend-probe", subcommand)) => Ok(Instrument::Probe(fill(subcommand.trim(), values)?)),
            None if ADAPTERS.iter().any(|known| known.name == name) => Ok(Instrument::Adapter(name.clone())),
            _ => Err(format!(
                "unknown instrument \"{name}\"; there are \"stend-probe SUBCOMMAND\", {}, or \"command\"",
                quoted(&ADAPTERS.map(|known| known.name.to_owned()))
            )),
        },
        (None, Some(words)) if words.is_empty() => Err("\"command\" is empty".into()),
        (None, Some(words)) => {
            let words = words.iter().map(|word| fill_noting_place(word, values, places));
            words.collect::<Result<_, _>>().map(Instrument::Command)
        }
        (Some(_), Some(_)) => Err("has both \"instrument\" and \"command\"; one of them".into()),
        (None, None) => Err("has neither \"instrument\" nor \"command\"".into()),
    }
}

fn faults(
    text: &ScenarioText,
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Vec<Fault>, String> {
    let able = ADAPTERS.iter().find(|known| text.instrument.as_deref() == Some(known.name));
    if !text.faults.is_empty() && !able.is_some_and(|known| known.loads_targets) {
        let able = ADAPTERS.iter().filter(|known| known.loads_targets).map(|known| known.name.to_owned());
        return Err(format!(
            "\"faults\" needs an instrument that loads a target: {}",
            quoted(&able.collect::<Vec<_>>())
        ));
    }
    super::faults::faults(&text.faults, parameters, values)
}

fn check_steady(steady: &Steady) -> Result<(), String> {
    if steady.rounds < 3 || steady.most < steady.rounds {
        return Err(format!(
            "\"steady\" wants {} rounds of {} at most; it takes 3 or more, and at least as many at most",
            steady.rounds, steady.most
        ));
    }
    for (name, share) in [("range", steady.range), ("slope", steady.slope)] {
        if share.0 <= 0.0 || share.0 > 1.0 {
            return Err(format!("\"steady\" has the {name} {share}; it must be above 0% and at most 100%"));
        }
    }
    Ok(())
}

fn rate(rate: &RateText, text: &ScenarioText, values: &BTreeMap<String, String>) -> Result<Rate, String> {
    let able = ADAPTERS.iter().filter(|known| known.rates).map(|known| known.name.to_owned()).collect::<Vec<_>>();
    if text.instrument.as_ref().is_none_or(|name| !able.contains(name)) {
        return Err(format!("\"rate\" needs an instrument that can keep one: {}", quoted(&able)));
    }
    if text.parameters.contains_key("rate_iops") {
        return Err("has both \"rate\" and the parameter \"rate_iops\"; one of them".into());
    }
    let share = fill(&rate.share.to_string(), values)?;
    let share = parse_share(&share).map_err(|error| format!("\"rate\": {error}"))?;
    if share <= 0.0 || share > 1.0 {
        return Err(format!("\"rate\" has the share {}; it must be above 0% and at most 100%", Share(share)));
    }
    Ok(Rate { of: fill(&rate.of, values)?, share: Share(share) })
}

/// A parameter after `--scale`. Whole seconds and whole MiB, because that is what tools take; never less than one.
fn scaled(name: &str, value: String, names: &Scale, scale: f64) -> Result<String, String> {
    let error = |error: crate::quantity::QuantityError| format!("parameter \"{name}\": {error}");
    if names.durations.iter().any(|duration| duration == name) {
        let duration = parse_duration(&value).map_err(error)?;
        if scale < 1.0 {
            let seconds = (duration.as_secs_f64() * scale).round().max(1.0);
            return Ok(Span(Duration::from_secs_f64(seconds).min(duration)).to_string());
        }
    }
    if names.sizes.iter().any(|size| size == name) {
        let bytes = parse_size(&value).map_err(error)?;
        if scale < 1.0 {
            let mebibytes = (bytes as f64 * scale / MEBIBYTE as f64).round().max(1.0) as u64;
            return Ok(format_size((mebibytes * MEBIBYTE).min(bytes)));
        }
    }
    Ok(value)
}
