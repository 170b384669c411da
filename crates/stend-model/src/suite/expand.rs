//! From the text of a suite to concrete scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use toml::Spanned;

use super::error::{AxisError, Mistake, ScenarioError};
use super::template::{TemplateError, fill};
use super::text::{Axis, CeilingText, Range, RateText, Scalar, Scale, ScenarioText, SuiteText, TimesText};
use super::{Ceiling, Changes, Family, Fault, Gates, Instrument, Order, Rate, Scenario, Steady, Suite, SuiteError};
use crate::metric::Metric;
use crate::position::{line_and_column, plain};
use crate::quantity::{Share, Span, format_size, parse_duration, parse_share, parse_size};
use crate::server::OF_SERVERS;

/// More scenarios than this are a mistake in a range, not a wish.
pub(super) const MOST_SCENARIOS: usize = 10_000;
/// More repeats than this are a mistake too.
pub(super) const MOST_REPEATS: u32 = 100_000;
const SHORTEST_SPAN: Duration = Duration::from_millis(1);
const LONGEST_SPAN: Duration = Duration::from_secs(365 * 86_400);
const MEBIBYTE: u64 = 1 << 20;

/// An adapter as a suite knows it.
pub(super) struct KnownAdapter {
    pub(super) name: &'static str,
    /// Its parameters that name a place and nothing else.
    pub(super) places: &'static [&'static str],
    /// The parameter that is its rate, if it can load at one.
    pub(super) rate: Option<&'static str>,
    /// Whether it loads the LUNs of a run's target.
    pub(super) loads_targets: bool,
    /// Whether it runs a test suite. What is not said of such a scenario is then as for facts, not figures.
    pub(super) runs_tests: bool,
}

/// The adapters that there are. `stend` has one for each, and tests that it does: suites are read without it too.
pub(super) const ADAPTERS: [KnownAdapter; 14] = [
    KnownAdapter { places: &["directory"], rate: Some("rate_iops"), loads_targets: true, ..adapter("fio") },
    adapter("openssl"),
    adapter("s_time"),
    adapter("gzip"),
    adapter("pigz"),
    adapter("zstd"),
    adapter("brotli"),
    adapter("hdparm"),
    KnownAdapter { places: &["directory"], ..adapter("time") },
    KnownAdapter { places: &["directory"], runs_tests: true, ..adapter("tests") },
    adapter("wrk"),
    adapter("ab"),
    adapter("h2load"),
    KnownAdapter { rate: Some("rate"), ..adapter("oha") },
];

/// An adapter of which nothing else is to be known.
const fn adapter(name: &'static str) -> KnownAdapter {
    KnownAdapter { name, places: &[], rate: None, loads_targets: false, runs_tests: false }
}

/// All scenarios together have at most so many repeats: each is a step of the plan.
pub(super) const MOST_REPEATS_IN_ALL: u64 = 1_000_000;
/// What a suite makes of its text, as scenarios or as combinations of axes, is at most so much, in bytes.
pub(super) const MOST_TEXT: usize = 16 << 20;
/// What a combination takes besides its texts, in bytes, about.
const BYTES_OF_POINT: usize = 600;

/// The variable that holds where the suite's file lies.
const SUITE_DIRECTORY: &str = "suite_directory";

pub(super) fn expand<E: Display>(
    text: &str,
    file: &str,
    directory: &Path,
    changes: &Changes,
    check: &dyn Fn(&Scenario) -> Result<(), E>,
) -> Result<Suite, SuiteError> {
    let place = Place { text, file };
    let suite: SuiteText = toml::from_str(text).map_err(|error| {
        let said = plain(error.message());
        place.error(error.span().map_or(0, |span| span.start), Mistake::Toml { said })
    })?;
    let values = variables(&place, &suite, directory, changes)?;
    let guest = suite.guest.as_ref().map(|guest| {
        let wrong = |(key, source)| place.error(guest.span().start, Mistake::Guest { key, source });
        guest.get_ref().vm.checked().map_err(wrong)
    });
    let scale = changes.scale.unwrap_or(1.0);
    let of_scale = |mistake| in_flag(format!("--scale {scale}"), mistake);
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(of_scale(Mistake::Scale));
    }
    if scale < 1.0 && suite.scale.sizes.is_empty() && suite.scale.durations.is_empty() {
        return Err(of_scale(Mistake::NotScalable));
    }
    let sample_hertz = suite.sample_hertz.as_ref().map_or(10, |hertz| *hertz.get_ref());
    if let Some(hertz) = suite.sample_hertz.as_ref().filter(|hertz| *hertz.get_ref() > 100) {
        return Err(place.error(hertz.span().start, Mistake::SampleHertz(sample_hertz)));
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
            // Once the figures of the scenario itself bound nothing: the first point of a sweep.
            scenario.ceiling.retain(|ceiling| *ceiling != Ceiling::Times { of: scenario.name.clone(), times: 1 });
            check(&scenario).map_err(|why| {
                place.scenario(start, &scenario.name, ScenarioError::Refused { said: why.to_string() })
            })?;
            text_bytes += serde_json::to_string(&scenario).map_or(0, |text| text.len());
            repeats += u64::from(scenario.repeats) + u64::from(scenario.warmup);
            scenarios.push((start, scenario));
            let too_many = [
                (scenarios.len() > MOST_SCENARIOS, Mistake::TooManyScenarios),
                (text_bytes > MOST_TEXT, Mistake::TooMuchText),
                (repeats > MOST_REPEATS_IN_ALL, Mistake::TooManyRepeats),
            ];
            if let Some((_, mistake)) = too_many.into_iter().find(|(much, _)| *much) {
                return Err(place.error(start, mistake));
            }
        }
    }
    let mut names = BTreeSet::new();
    for (start, scenario) in &scenarios {
        if !names.insert(scenario.name.clone()) {
            return Err(place.error(*start, Mistake::SameName(scenario.name.clone())));
        }
    }
    for (start, scenario) in &scenarios {
        for ceiling in &scenario.ceiling {
            let why = if ceiling.of() == scenario.name {
                ScenarioError::OwnCeiling
            } else if !names.contains(ceiling.of()) {
                ScenarioError::NoCeiling { name: ceiling.of().into(), known: names.iter().cloned().collect() }
            } else {
                continue;
            };
            return Err(place.scenario(*start, &scenario.name, why));
        }
    }
    for (number, (start, scenario)) in scenarios.iter().enumerate() {
        let before = scenarios[..number].iter().map(|(_, scenario)| scenario);
        sequence(scenario, before, suite.order).map_err(|why| place.scenario(*start, &scenario.name, why))?;
    }
    if let Some(table) = &suite.table {
        let scenarios: Vec<_> = scenarios.iter().map(|(_, scenario)| scenario).collect();
        table.get_ref().check(&scenarios).map_err(|why| place.error(table.span().start, why.into()))?;
    }
    let mut scenarios: Vec<_> = scenarios.into_iter().map(|(_, scenario)| scenario).collect();
    if !changes.only.is_empty() {
        keep_only(&mut scenarios, &changes.only);
        if scenarios.is_empty() {
            let flags: Vec<_> = changes.only.iter().map(|text| format!("--only \"{text}\"")).collect();
            return Err(in_flag(flags.join(" "), Mistake::NoneLeft(names.into_iter().collect())));
        }
    }
    if scenarios.is_empty() {
        return Err(place.error(0, Mistake::NoScenario));
    }
    Ok(Suite {
        name: suite.name,
        title: suite.title,
        titles: suite.titles,
        note: suite.note,
        notes: suite.notes,
        source: suite.source,
        order: suite.order,
        seed: changes.seed.or(suite.seed),
        sample_hertz,
        time_budget: changes.time_budget.or(suite.time_budget),
        scale,
        set: changes.variables.clone(),
        table: suite.table.map(Spanned::into_inner),
        servers: BTreeMap::new(),
        images: BTreeMap::new(),
        files: BTreeMap::new(),
        guest: guest.transpose()?,
        scenarios,
    })
}

/// Whether what the scenario needs of those before it is there.
fn sequence<'a>(
    scenario: &Scenario,
    mut before: impl Iterator<Item = &'a Scenario>,
    order: Order,
) -> Result<(), ScenarioError> {
    let needs = match scenario {
        _ if scenario.is_precondition() => "precondition",
        Scenario { steady: Some(_), .. } => "steady",
        _ => "",
    };
    if !needs.is_empty() && order != Order::Grouped {
        return Err(ScenarioError::NotGrouped(needs));
    }
    let Some(rate) = &scenario.rate else { return Ok(()) };
    match before.find(|other| other.name == rate.of) {
        Some(other) if !other.is_precondition() => Ok(()),
        Some(_) => Err(ScenarioError::RateOfPrecondition(rate.of.clone())),
        None => Err(ScenarioError::RateOfNone(rate.of.clone())),
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
    fn error(&self, offset: usize, mistake: Mistake) -> SuiteError {
        let (line, column) = line_and_column(self.text, offset);
        SuiteError::InFile { file: self.file.into(), line, column, mistake: Box::new(mistake) }
    }

    fn scenario(&self, offset: usize, name: &str, source: ScenarioError) -> SuiteError {
        self.error(offset, Mistake::Scenario { name: name.into(), source })
    }
}

fn in_flag(flag: String, mistake: Mistake) -> SuiteError {
    SuiteError::InFlag { flag, mistake: Box::new(mistake) }
}

/// A mistake in a suite with changes, where the suite alone has none: the flags are named that make it.
pub(super) fn blame(
    error: SuiteError,
    changes: &Changes,
    expand: impl Fn(&Changes) -> Result<Suite, SuiteError>,
) -> SuiteError {
    let SuiteError::InFile { mistake, .. } = &error else { return error };
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
        if let Err(SuiteError::InFile { mistake, .. }) = expand(alone) {
            return in_flag(flag.clone(), *mistake);
        }
    }
    if each.is_empty() {
        return error;
    }
    // Each is right by itself, and all together are not.
    in_flag(each.into_iter().map(|(flag, _)| flag).collect::<Vec<_>>().join(" "), (**mistake).clone())
}

fn variables(
    place: &Place,
    suite: &SuiteText,
    directory: &Path,
    changes: &Changes,
) -> Result<BTreeMap<String, String>, SuiteError> {
    let mut values: BTreeMap<_, _> =
        suite.variables.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    if let Some(guest) = &suite.guest {
        for (name, value) in &guest.get_ref().variables {
            let Some(old) = values.get_mut(name) else {
                let known = values.into_keys().collect();
                return Err(place.error(guest.span().start, Mistake::NoVariable { name: name.clone(), known }));
            };
            if changes.in_guest {
                *old = value.to_string();
            }
        }
    }
    // Those of servers are set where they are known.
    for (name, value) in changes.variables.iter().filter(|(name, _)| !name.starts_with(OF_SERVERS)) {
        match values.get_mut(name) {
            Some(old) => old.clone_from(value),
            None => {
                let known = values.into_keys().collect();
                return Err(in_flag(
                    format!("--set {name}={value}"),
                    Mistake::NoVariable { name: name.clone(), known },
                ));
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
            return Err(place.error(family.span().start, Mistake::NoAxis(axis.clone())));
        }
    }
    let mut points = vec![BTreeMap::new()];
    for (name, axis) in &text.matrix {
        let wrong = |source| place.error(axis.span().start, Mistake::Axis { name: name.clone(), source });
        let values = axis_values(axis.get_ref()).map_err(wrong)?;
        let mut combined = Vec::new();
        let mut bytes = 0;
        for (point, value) in points.iter().flat_map(|point| values.iter().map(move |value| (point, value))) {
            let point = with(point, name, value);
            bytes += BYTES_OF_POINT + point.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
            if bytes > MOST_TEXT {
                return Err(wrong(AxisError::TooManyCombinations));
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

fn axis_values(axis: &Axis) -> Result<Vec<String>, AxisError> {
    match axis {
        Axis::List(values) if values.is_empty() => Err(AxisError::Empty),
        Axis::List(values) => Ok(values.iter().map(ToString::to_string).collect()),
        Axis::Range(range) => range_values(range),
    }
}

fn range_values(range: &Range) -> Result<Vec<String>, AxisError> {
    let is_size = matches!((&range.from, &range.to), (Scalar::Text(_), _) | (_, Scalar::Text(_)));
    let number = |scalar: &Scalar| match scalar {
        Scalar::Integer(value) => u64::try_from(*value).map_err(|_| AxisError::Negative(*value)),
        Scalar::Text(text) => Ok(parse_size(text)?),
        other => Err(AxisError::NoNumber(other.clone())),
    };
    let (from, to) = (number(&range.from)?, number(&range.to)?);
    if from > to {
        return Err(AxisError::Down { from: range.from.clone(), to: range.to.clone() });
    }
    let next: Box<dyn Fn(u64) -> Option<u64>> = match (&range.step, range.times) {
        (Some(step), None) => match number(step)? {
            0 => return Err(AxisError::NoStep),
            step => Box::new(move |value| value.checked_add(step)),
        },
        (None, Some(times)) if times >= 2 && from > 0 => Box::new(move |value| value.checked_mul(times)),
        (None, Some(times)) if times < 2 => return Err(AxisError::Times(times)),
        (None, Some(_)) => return Err(AxisError::FromZero),
        _ => return Err(AxisError::StepOrTimes),
    };
    let values = std::iter::successors(Some(from), |&value| next(value)).take_while(|&value| value <= to);
    let values: Vec<_> = values
        .take(MOST_SCENARIOS + 1)
        .map(|value| if is_size { format_size(value) } else { value.to_string() })
        .collect();
    if values.len() > MOST_SCENARIOS { Err(AxisError::TooManyValues) } else { Ok(values) }
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
    let at = |why: ScenarioError| place.scenario(family.span().start, &text.name, why);
    let filled = |text: &str| fill(text, values).map_err(|error| at(error.into()));
    let mut parameters = BTreeMap::new();
    let mut places = BTreeMap::new();
    for (name, value) in &text.parameters {
        let value = fill_noting_place(&value.to_string(), values, &mut places).map_err(|error| at(error.into()))?;
        parameters.insert(name.clone(), scaled(name, value, &suite.scale, scale).map_err(at)?);
    }
    let defaults = Defaults::of(text);
    let metrics = metrics(suite, text, defaults.metrics).map_err(at)?;
    for metric in &metrics {
        metric.check().map_err(|source| at(ScenarioError::Metric { name: metric.name.clone(), source }))?;
    }
    if let Some(main) = metrics.first().filter(|metric| metric.optional) {
        return Err(at(ScenarioError::MainIsOptional(main.name.clone())));
    }
    let repeats_at = text.repeats.as_ref().or(suite.repeats.as_ref());
    if let Some(zero) = repeats_at.filter(|repeats| *repeats.get_ref() == 0) {
        return Err(place.error(zero.span().start, Mistake::NoRepeats));
    }
    let (repeats, warmup) = match (text.precondition, &text.steady, text.warmup) {
        (true, Some(_), _) => return Err(at(both("precondition", "steady"))),
        (true, None, Some(_)) => return Err(at(ScenarioError::WarmupOfPrecondition)),
        (false, Some(_), Some(_)) => return Err(at(both("steady", "warmup"))),
        (true, None, None) => (0, text.repeats.as_ref().map_or(1, |repeats| *repeats.get_ref())),
        (false, steady, warmup) => (
            changes.repeats.unwrap_or_else(|| repeats_at.map_or(defaults.repeats, |repeats| *repeats.get_ref())),
            steady.map_or_else(|| warmup.or(suite.warmup).unwrap_or(defaults.warmup), |steady| steady.most),
        ),
    };
    if let Some(steady) = &text.steady {
        check_steady(steady).map_err(at)?;
    }
    if let Some(many) = [repeats, warmup].into_iter().find(|&number| number > MOST_REPEATS) {
        return Err(at(ScenarioError::Repeats(many)));
    }
    let timeout = text.timeout.or(suite.timeout).unwrap_or(Span(defaults.timeout));
    let expected = text.expected.or(suite.expected);
    for (name, span) in [("timeout", Some(timeout)), ("expected", expected)] {
        if let Some(span) = span.filter(|span| !(SHORTEST_SPAN..=LONGEST_SPAN).contains(&span.0)) {
            return Err(at(ScenarioError::Span { name, span }));
        }
    }
    let instrument = instrument(text, values, &mut places).map_err(at)?;
    Ok(Scenario {
        name: filled(&text.name)?,
        family: None,
        measures: text.measures.as_deref().map(filled).transpose()?,
        rate: text.rate.as_ref().map(|rate| self::rate(rate, text, values)).transpose().map_err(at)?,
        faults: faults(text, &parameters, values, &instrument).map_err(at)?,
        steady: text.steady,
        instrument,
        parameters,
        server: text.server.as_deref().map(filled).transpose()?,
        server_on: text.server_on,
        metrics,
        repeats,
        warmup,
        precision: text.precision.or(suite.precision),
        timeout,
        expected,
        gates: text.gates.or(suite.gates).or(defaults.gates),
        verification: text.verification,
        needs: text.needs.clone(),
        ceiling: text.ceiling.iter().map(|text| ceiling(text, values)).collect::<Result<_, _>>().map_err(at)?,
        processors: text
            .processors
            .as_ref()
            .map(|processors| count("processors", processors, values))
            .transpose()
            .map_err(at)?,
        places,
        files: BTreeMap::new(),
    })
}

fn ceiling(text: &CeilingText, values: &BTreeMap<String, String>) -> Result<Ceiling, ScenarioError> {
    Ok(match text {
        CeilingText::Name(name) => Ceiling::Of(fill(name, values)?),
        CeilingText::Times(TimesText { of, times }) => {
            Ceiling::Times { of: fill(of, values)?, times: count("times", times, values)? }
        }
    })
}

/// A whole number from 1.
fn count(name: &'static str, text: &Scalar, values: &BTreeMap<String, String>) -> Result<u32, ScenarioError> {
    let text = fill(&text.to_string(), values)?;
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or(ScenarioError::NoCount { name, text })
}

/// What holds of a scenario where neither it nor its suite says it.
struct Defaults {
    repeats: u32,
    warmup: u32,
    timeout: Duration,
    gates: Gates,
    metrics: Option<Metric>,
}

impl Defaults {
    /// Of a figure; or of the tests of a suite, which pass or fail whatever else the machine does, and may take long.
    fn of(text: &ScenarioText) -> Self {
        let known = ADAPTERS.iter().find(|known| text.instrument.as_deref() == Some(known.name));
        if !known.is_some_and(|known| known.runs_tests) {
            let timeout = Duration::from_secs(60);
            return Self { repeats: 10, warmup: 1, timeout, gates: Gates::DEFAULT, metrics: None };
        }
        let timeout = Duration::from_secs(3600);
        Self { repeats: 1, warmup: 0, timeout, gates: Gates::OFF, metrics: Some(Metric::time()) }
    }
}

/// Fills a text. Where the suite's directory is in it, what the suite says there is noted in `places` under the filled text.
fn fill_noting_place(
    text: &str,
    values: &BTreeMap<String, String>,
    places: &mut BTreeMap<String, String>,
) -> Result<String, TemplateError> {
    let filled = fill(text, values)?;
    let without_place = fill(text, &with(values, SUITE_DIRECTORY, "{suite_directory}"))?;
    if filled != without_place {
        places.insert(filled.clone(), without_place);
    }
    Ok(filled)
}

fn both(one: &'static str, other: &'static str) -> ScenarioError {
    ScenarioError::Both { one, other }
}

fn metrics(suite: &SuiteText, text: &ScenarioText, default: Option<Metric>) -> Result<Vec<Metric>, ScenarioError> {
    match (&text.metric_set, &text.metrics[..]) {
        (None, []) if default.is_some() => Ok(default.into_iter().collect()),
        (None, []) => Err(ScenarioError::NoMetrics),
        (None, metrics) => Ok(metrics.to_vec()),
        (Some(_), [_, ..]) => Err(both("metrics", "metric_set")),
        (Some(name), []) => match suite.metric_sets.get(name).map(Vec::as_slice) {
            Some([]) => Err(ScenarioError::EmptySet(name.clone())),
            Some(metrics) => Ok(metrics.to_vec()),
            None => {
                Err(ScenarioError::NoSet { name: name.clone(), known: suite.metric_sets.keys().cloned().collect() })
            }
        },
    }
}

fn instrument(
    text: &ScenarioText,
    values: &BTreeMap<String, String>,
    places: &mut BTreeMap<String, String>,
) -> Result<Instrument, ScenarioError> {
    match (&text.instrument, &text.command) {
        (Some(name), None) => match name.split_once(' ') {
            Some(("stend-probe", subcommand)) => Ok(Instrument::Probe(fill(subcommand.trim(), values)?)),
            None if ADAPTERS.iter().any(|known| known.name == name) => Ok(Instrument::Adapter(name.clone())),
            _ => Err(ScenarioError::UnknownInstrument(name.clone())),
        },
        (None, Some(words)) if words.is_empty() => Err(ScenarioError::EmptyCommand),
        (None, Some(words)) => {
            let words = words.iter().map(|word| fill_noting_place(word, values, places));
            Ok(Instrument::Command(words.collect::<Result<_, _>>()?))
        }
        (Some(_), Some(_)) => Err(both("instrument", "command")),
        (None, None) => Err(ScenarioError::NoInstrument),
    }
}

fn faults(
    text: &ScenarioText,
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
    instrument: &Instrument,
) -> Result<Vec<Fault>, ScenarioError> {
    let is_able = instrument.loads_luns() || super::luns_named(instrument, parameters).next().is_some();
    if !text.faults.is_empty() && !is_able {
        return Err(ScenarioError::NoTarget);
    }
    Ok(super::faults::faults(&text.faults, parameters, values)?)
}

fn check_steady(steady: &Steady) -> Result<(), ScenarioError> {
    if steady.rounds < 3 || steady.most < steady.rounds {
        return Err(ScenarioError::Rounds { rounds: steady.rounds, most: steady.most });
    }
    for (name, share) in [("range", steady.range), ("slope", steady.slope)] {
        if share.0 <= 0.0 || share.0 > 1.0 {
            return Err(ScenarioError::SteadyShare { name, share });
        }
    }
    Ok(())
}

fn rate(rate: &RateText, text: &ScenarioText, values: &BTreeMap<String, String>) -> Result<Rate, ScenarioError> {
    let known = ADAPTERS.iter().find(|known| text.instrument.as_deref() == Some(known.name));
    let parameter = known.and_then(|known| known.rate).ok_or(ScenarioError::NoRate)?;
    if text.parameters.contains_key(parameter) {
        return Err(ScenarioError::RateTwice(parameter));
    }
    let share = fill(&rate.share.to_string(), values)?;
    let share = parse_share(&share).map_err(ScenarioError::Rate)?;
    if share <= 0.0 || share > 1.0 {
        return Err(ScenarioError::RateShare(Share(share)));
    }
    Ok(Rate { of: fill(&rate.of, values)?, share: Share(share) })
}

/// A parameter after `--scale`. Whole seconds and whole MiB, because that is what tools take; never less than one.
fn scaled(name: &str, value: String, names: &Scale, scale: f64) -> Result<String, ScenarioError> {
    let error = |source| ScenarioError::Parameter { name: name.into(), source };
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
