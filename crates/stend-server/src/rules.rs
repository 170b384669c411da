//! Judges what is finished: a run is compared with the one that a rule names, and where it is worse, the journal says so.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use stend_model::quantity::parse_share;

use crate::database::Edit;
use crate::error::ServerError;
use crate::fleet::until_duty;
use crate::guard::now;
use crate::journal::{Entry, Kind};
use crate::lab::Lab;
use crate::settings::{Retry, Rule};
use crate::tell::LOOK;
use crate::work;

/// The place of the rules in the journal; no destination has this name.
pub(crate) const NAME: &str = "";

/// So many seconds a run of another node may take to come.
const LONGEST_WAIT: i64 = 3600;

/// So many scenarios are named.
const MOST_NAMED: usize = 20;

/// What `stend compare --json` prints, as far as it is read here.
#[derive(Deserialize)]
struct Printed {
    table: Table,
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<Row>,
    #[serde(default)]
    conformance: Vec<Conformance>,
}

#[derive(Deserialize)]
struct Row {
    scenario: String,
    main: bool,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    against_base: Option<AgainstBase>,
}

#[derive(Deserialize)]
struct AgainstBase {
    verdict: String,
    factor: Option<f64>,
    interval: Option<(f64, f64)>,
}

#[derive(Deserialize)]
struct Conformance {
    scenario: String,
    against_base: Vec<Tests>,
}

#[derive(Deserialize)]
struct Tests {
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    kind: String,
    test: String,
}

/// Judges each run of the queue that finishes, for ever.
pub(crate) async fn judge_all(lab: Arc<Lab>, rules: Vec<Rule>, retry: Retry) {
    let mut noted = lab.noted();
    let mut failures = 0;
    loop {
        until_duty(&lab, "judge").await;
        noted.mark_unchanged();
        match judge_next(&lab, &rules).await {
            Ok(true) => failures = 0,
            Ok(false) => {
                let _ = tokio::time::timeout(LOOK, noted.changed()).await;
            }
            Err(_) => {
                failures += 1;
                tokio::time::sleep(retry.pause(failures)).await;
            }
        }
    }
}

/// Whether there was something.
async fn judge_next(lab: &Arc<Lab>, rules: &[Rule]) -> Result<bool, ServerError> {
    let entries = lab.known().untold(NAME)?;
    let entries: Vec<_> = entries.into_iter().take_while(|entry| is_here(lab, entry)).collect();
    let Some(newest) = entries.last().map(|entry| entry.id) else { return Ok(false) };
    for entry in entries.into_iter().filter(|entry| entry.kind == Kind::RunFinished) {
        let id = entry.id;
        let mut said = Vec::new();
        for rule in rules.iter().filter(|rule| rule.suite == entry.detail) {
            said.extend(judge(lab, rule, &entry.about).await);
        }
        let note = move |edit: &mut Edit| {
            // Another node may have been farther.
            if edit.known.place(NAME)?.last >= id {
                return Ok(());
            }
            for Said { kind, about, detail } in &said {
                // That a rule cannot be followed is said once for each reason.
                if *kind != Kind::RuleRefused || !edit.known.was_noted(*kind, about, detail) {
                    edit.note(*kind, None, about, detail);
                }
            }
            edit.is_told(NAME, id, 1)
        };
        lab.change(note).await?;
    }
    lab.change(move |edit| edit.is_told(NAME, newest, 0)).await?;
    Ok(true)
}

/// Whether what an entry is about can be judged: the run of another node is here when it has come from the archive, and not waited for for ever.
fn is_here(lab: &Lab, entry: &Entry) -> bool {
    let is_old = || {
        let at = entry.at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
        now().saturating_sub(at) > LONGEST_WAIT
    };
    entry.kind != Kind::RunFinished
        || lab.fleet.is_none()
        || lab.runs().is_ok_and(|runs| runs.iter().any(|run| run.id == entry.about))
        || is_old()
}

struct Said {
    kind: Kind,
    about: String,
    detail: String,
}

/// Compares a run as a rule says.
async fn judge(lab: &Arc<Lab>, rule: &Rule, run: &str) -> Option<Said> {
    // What `stend compare` would make of a word that begins so is an option.
    let than = rule.than.replace(' ', "");
    let words = ["compare", "--json", &format!("--fail-on=hollow-worse:{than}"), "--", &rule.against, run];
    let refused = |detail: String| Some(Said { kind: Kind::RuleRefused, about: rule.name(), detail });
    let (is_crossed, said) = match work::ask_if(lab, words.map(str::to_owned).to_vec()).await {
        Ok(answer) => answer,
        Err(why) => return refused(why.detail().to_owned()),
    };
    if !is_crossed {
        return None;
    }
    let table = match serde_json::from_slice::<Printed>(&said) {
        Ok(printed) => printed.table,
        Err(error) => return refused(error.to_string()),
    };
    let detail = format!("{}: {}", rule.against, worse(&table, parse_share(&rule.than).unwrap_or_default()).join("; "));
    Some(Said { kind: Kind::RunWorse, about: run.to_owned(), detail })
}

/// What is worse, the worst first: the figures whose whole interval lies beyond the share, as `--fail-on` counts them, and tests.
fn worse(table: &Table, share: f64) -> Vec<String> {
    let mut found: Vec<(f64, String)> = Vec::new();
    for row in table.rows.iter().filter(|row| row.main) {
        for against in row.cells.iter().filter_map(|cell| cell.against_base.as_ref()) {
            let (Some(factor), Some((low, high))) = (against.factor, against.interval) else { continue };
            if against.verdict != "worse" || high >= 1.0 / (1.0 + share) {
                continue;
            }
            let mut text = format!("{} {}", row.scenario, percent(factor));
            let _ = write!(text, " ({} … {})", percent(low), percent(high));
            found.push((factor, text));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut named: Vec<_> = found.into_iter().map(|(_, text)| text).collect();
    for of in &table.conformance {
        let changes = of.against_base.iter().flat_map(|tests| &tests.changes);
        let failing = changes.filter(|change| matches!(change.kind.as_str(), "fails_here" | "lost_here"));
        named.extend(failing.map(|change| format!("{} {}", of.scenario, change.test)));
    }
    let rest = named.len().saturating_sub(MOST_NAMED);
    named.truncate(MOST_NAMED);
    named.extend((rest > 0).then(|| format!("+{rest}")));
    named
}

/// A factor as a change.
fn percent(factor: f64) -> String {
    let change = (factor - 1.0) * 100.0;
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} %", change.abs())
}
