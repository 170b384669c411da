//! The series of a run as they are sampled: of the repeat that is being made and the newest ones of its scenario, drawn as a report draws them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Path, Query};
use axum::response::Response;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use stend_model::current::{Current, MOST, NAME, sample};
use stend_model::run::{Origin, Outcome, Repeat, Series};
use stend_model::wire::{Event, parse_line};
use stend_report::html::sampled::{Drawing, drawings};
use stend_report::words::language::Language;
use stend_store::Store;

use super::{Reader, Served};
use crate::api::{blocking, find_run, json};
use crate::error::ServerError;
use crate::lab::Lab;
use crate::problem::Problem;
use crate::work;

/// So many repeats before the newest one are looked through for others of its scenario.
const LOOKED_THROUGH: usize = 20;

/// What was drawn is shown for two seconds, and for a hundred times the processor time that it took: all who watch a run ask for the same, and
/// a large one is drawn seldom. Not for a hundred times as long as it took: on a busy machine that would be minutes.
const FRESH: Duration = Duration::from_secs(2);
const FRESH_TIMES: u32 = 100;

/// Which drawings a viewer has.
#[derive(Debug, Deserialize)]
pub(crate) struct Has {
    #[serde(default)]
    has: String,
}

/// What was drawn last, of the run that viewers named so, and for how long it is shown.
pub(crate) struct Sampled {
    named: (String, Language),
    until: Instant,
    shown: Arc<Shown>,
}

/// What there is to see.
struct Shown {
    /// What it is drawn of: the number of the newest repeat, and how many samples there are.
    of: String,
    /// [`Told`], written once for all.
    text: String,
}

/// What viewers are told.
#[derive(Debug, Serialize)]
struct Told<'a> {
    of: &'a str,
    /// None where the viewer has them.
    drawings: &'a [Drawing],
}

/// The drawings of a run as it is now.
pub(crate) async fn samples(
    lab: Served,
    reader: Reader,
    Path(run): Path<String>,
    Query(Has { has }): Query<Has>,
) -> Result<Response, Problem> {
    let shown = blocking(&lab, move |lab| drawn(lab, run, reader.language)).await??;
    let text = if has == shown.of { written(&shown.of, &[]) } else { shown.text.clone() };
    Ok(json(text.into_bytes()))
}

fn written(of: &str, drawings: &[Drawing]) -> String {
    serde_json::to_string(&Told { of, drawings }).expect("it can be written")
}

fn drawn(lab: &Lab, named: String, language: Language) -> Result<Arc<Shown>, Problem> {
    // With the lock held: of many who ask at once one draws.
    let mut kept = lab.sampled.lock().unwrap_or_else(PoisonError::into_inner);
    let named = (named, language);
    if let Some(sampled) = kept.as_ref().filter(|sampled| sampled.named == named && Instant::now() < sampled.until) {
        return Ok(Arc::clone(&sampled.shown));
    }
    let before = processor_time();
    let shown = Arc::new(draw(lab, &find_run(lab, &named.0)?, language)?);
    let until = Instant::now() + FRESH.max(processor_time().saturating_sub(before) * FRESH_TIMES);
    *kept = Some(Sampled { named, until, shown: Arc::clone(&shown) });
    Ok(shown)
}

/// Of this thread.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn draw(lab: &Lab, run: &str, language: Language) -> Result<Shown, ServerError> {
    // Before the store: what is stored meanwhile is not shown twice.
    let current = current(lab, run);
    let store = Store::open_to_read(&lab.store)?;
    let first = u32::try_from(store.count_repeats(run)?.saturating_sub(LOOKED_THROUGH)).unwrap_or(u32::MAX);
    let repeats = store.repeats_after(run, first.checked_sub(1))?;
    let newest = repeats.last().map(|repeat| repeat.sequence);
    let current = current.filter(|(repeat, _)| Some(repeat.sequence) > newest);
    let mut series = store.series_from(run, first)?;
    let of_it = |repeat: Repeat| {
        let is_its = |(sequence, _): &mut (u32, Series)| *sequence == repeat.sequence;
        let of_it = series.extract_if(.., is_its).map(|(_, series)| series).collect();
        (repeat, of_it)
    };
    let mut all: Vec<_> = repeats.into_iter().map(of_it).collect();
    all.extend(current);
    let Some((last, its_own)) = all.last() else { return Ok(Shown { of: "-".into(), text: written("-", &[]) }) };
    let samples = its_own.iter().map(|series| series.values.len()).sum::<usize>();
    let (of, scenario) = (format!("{}-{samples}", last.sequence), last.scenario);
    all.retain(|(repeat, _)| repeat.scenario == scenario);
    let text = written(&of, &drawings(&store.run(run)?, &all, language));
    Ok(Shown { of, text })
}

/// The repeat that a run's process is making, with what is sampled of it so far.
fn current(lab: &Lab, run: &str) -> Option<(Repeat, Vec<Series>)> {
    let pid = work::process(lab, run)?;
    let link = format!("/memfd:{NAME} (deleted)");
    let mut files = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_pid())).ok()?.flatten();
    let file = files.find(|file| std::fs::read_link(file.path()).is_ok_and(|found| found.as_os_str() == link.as_str()));
    let mut text = String::new();
    File::open(file?.path()).ok()?.take(MOST).read_to_string(&mut text).ok()?;
    read(&text)
}

fn read(text: &str) -> Option<(Repeat, Vec<Series>)> {
    // The last line may be written now.
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let Current { sequence, scenario, number, side, phase, started_at } = serde_json::from_str(lines.next()?).ok()?;
    let mut all: BTreeMap<(Origin, String), (Vec<i64>, Vec<f64>)> = BTreeMap::new();
    for (origin, line) in lines.filter_map(sample) {
        let Ok(Some(Event::Sample(sample))) = parse_line(line) else { continue };
        for (metric, value) in sample.metrics() {
            let (times_ns, values) = all.entry((origin, metric.to_owned())).or_default();
            times_ns.push(sample.t_ns);
            values.push(value);
        }
    }
    let series = |((origin, metric), (times_ns, values))| Series { metric, origin, times_ns, values };
    let repeat = Repeat {
        sequence,
        session: 0,
        scenario,
        number,
        side,
        phase,
        started_at,
        // Nothing is known against it yet.
        outcome: Outcome::Valid,
        begin: None,
        report: None,
        marks: Vec::new(),
        tests: Vec::new(),
        usage: None,
        stopped: false,
        lasting: false,
        command: Vec::new(),
        output: String::new(),
        error_output: String::new(),
        target: BTreeMap::new(),
    };
    Some((repeat, all.into_iter().map(series).collect()))
}

#[cfg(test)]
mod tests {
    use super::read;

    const HEAD: &str =
        r#"{"sequence":3,"scenario":1,"number":2,"side":null,"phase":"measured","started_at":"2026-11-27T10:00:00Z"}"#;

    /// A stand says what it likes, and the last line may be written now.
    #[test]
    fn what_makes_no_sense_is_left_out() {
        let sample = |letter: &str, t_ns: u32, value: f64| {
            format!(r#"{letter}{{"event":"sample","t_ns":{t_ns},"values":{{"a":{value},"b":1}}}}"#)
        };
        let lines = [
            HEAD.into(),
            sample("m", 1, 2.0),
            "mno".into(),
            "m".into(),
            "é".into(),
            sample("i", 5, 4.0),
            sample("x", 6, 9.0),
        ];
        let text = format!("{}\n{}", lines.join("\n"), sample("m", 7, 3.0));
        let (repeat, series) = read(&text).unwrap();
        assert_eq!((repeat.sequence, repeat.scenario), (3, 1));
        let seen: Vec<_> = series.iter().map(|one| (one.metric.as_str(), &one.values[..])).collect();
        assert_eq!(seen, [("a", &[4.0][..]), ("b", &[1.0]), ("a", &[2.0]), ("b", &[1.0])]);
        let nothing = |text: &str| assert!(read(text).is_none(), "{text}");
        ["", "\n", HEAD, "{}\n", &lines[1]].into_iter().for_each(nothing);
        assert!(read(&format!("{HEAD}\n")).is_some_and(|(_, series)| series.is_empty()));
    }
}
