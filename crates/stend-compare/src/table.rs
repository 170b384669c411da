//! The table that everything shows: scenarios and their metrics down, machines across. [`super::pivot`] lays it out in other ways.
//!
//! It holds numbers and verdicts, no text for people: the terminal, the report, JSON and Markdown each write it their way.

use std::collections::BTreeMap;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::cause::Cause;
use stend_model::cause::Why;
use stend_model::condition::Condition;

use stend_model::machine::Difference;
use stend_model::metric::{Better, Unit};
use stend_model::run::Outcome;
use stend_model::suite::{Family, Layout};
use stend_model::target::TargetOfRun;
use stend_stats::{CellResult, Numbers};
pub use stend_stats::{Counted, Design, Reason, Verdict};

use super::conformance::Conformance;
use super::standing::{Standing, interval_turned, standings, turned};
use super::weighing::Weighing;
use super::{MOST_ADVISED, pivot};

/// A comparison of one run with others and with published machines.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Table {
    /// Columns; the first is the base that the others are held against.
    pub columns: Vec<Column>,
    /// Rows, in the order of the base's suite.
    pub rows: Vec<Row>,
    /// How it is laid out, if not as it stands here: the base's suite may say so, and whoever asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Scenarios that only some of the runs have.
    pub left_out: Vec<LeftOut>,
    /// Things that a reader should know before reading it.
    pub notes: Vec<Note>,
    /// The tests of the projects' own suites, where scenarios ran some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conformance: Vec<Conformance>,
    /// What each machine does for a watt and for its price, where these are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weighings: Vec<Weighing>,
    /// Which metrics were asked for by name or unit: then all of these are shown, be they main ones or not.
    #[serde(skip)]
    pub by_metric: bool,
    /// The verdicts whose rows are shown, if not all are.
    #[serde(skip)]
    pub only: Option<Only>,
}

/// The verdicts whose rows are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Only {
    /// Better than the base
    Better,
    /// Worse than the base
    Worse,
    /// Better or worse
    Significant,
    /// The same within δ
    Same,
    /// Insufficient evidence
    Unresolved,
}

impl Only {
    /// Whether rows with this verdict are shown.
    fn takes(self, verdict: Verdict) -> bool {
        match self {
            Self::Better => verdict == Verdict::Better,
            Self::Worse => verdict == Verdict::Worse,
            Self::Significant => matches!(verdict, Verdict::Better | Verdict::Worse),
            Self::Same => verdict == Verdict::Same,
            Self::Unresolved => verdict == Verdict::Unresolved,
        }
    }
}

/// A table as programs read it: with what is computed over all of it, and only the rows that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForPrograms<'a> {
    columns: &'a [Column],
    rows: Vec<&'a Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'a Layout>,
    left_out: &'a [LeftOut],
    notes: &'a [Note],
    standings: Vec<Standing>,
    #[serde(skip_serializing_if = "<[Conformance]>::is_empty")]
    conformance: &'a [Conformance],
    #[serde(skip_serializing_if = "<[Weighing]>::is_empty")]
    weighings: &'a [Weighing],
}

impl Table {
    /// The table as programs read it.
    pub fn for_programs(&self) -> ForPrograms<'_> {
        ForPrograms {
            columns: &self.columns,
            rows: self.rows.iter().filter(|row| self.is_asked_for(row)).collect(),
            layout: self.layout.as_ref(),
            left_out: &self.left_out,
            notes: &self.notes,
            standings: standings(self),
            conformance: &self.conformance,
            weighings: &self.weighings,
        }
    }

    /// Shows only what has such a verdict, what is weighed too.
    pub fn show_only(&mut self, only: Only) {
        self.only = Some(only);
        let mut weighings = std::mem::take(&mut self.weighings);
        for weighing in &mut weighings {
            weighing.rows.retain(|weighed| {
                let is_weighed = |row: &&Row| row.scenario == weighed.scenario && row.metric == weighed.metric;
                self.rows.iter().filter(is_weighed).any(|row| self.is_asked_for(row))
            });
        }
        weighings.retain(|weighing| !weighing.rows.is_empty());
        self.weighings = weighings;
    }

    /// The rows that are shown: of [`Self::in_layout`] those with a verdict that was asked for, if one was.
    pub fn shown(&self, all_metrics: bool) -> Vec<&Row> {
        let mut rows = self.in_layout(all_metrics);
        rows.retain(|row| self.is_asked_for(row));
        rows
    }

    /// Whether a row has a verdict that was asked for.
    pub fn is_asked_for(&self, row: &Row) -> bool {
        self.only.is_none_or(|only| row.verdicts().any(|verdict| only.takes(verdict)))
    }

    /// The rows that have a place: all, or those of the metrics that the layout names, or each scenario's main one; and only those that have a
    /// place in it, as scenarios without an axis have none where that goes down or across.
    pub fn in_layout(&self, all_metrics: bool) -> Vec<&Row> {
        let layout = self.layout.as_ref();
        let shown = |row: &&Row| match layout {
            Some(layout) if !pivot::has_place(row, layout) => false,
            _ if all_metrics || self.by_metric => true,
            Some(layout) if !layout.metrics.is_empty() => layout.metrics.contains(&row.metric),
            Some(layout) if layout.spreads_metrics() => true,
            _ => row.main,
        };
        self.rows.iter().filter(shown).collect()
    }
}

impl Row {
    /// What is said of the runs in it, run by run.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.against_base().map(|against| against.verdict)
    }

    /// How its figures stand to the base's, run by run.
    pub fn against_base(&self) -> impl Iterator<Item = &AgainstBase> {
        self.cells.iter().filter_map(Cell::against_base)
    }

    /// What was measured of the run in this column.
    pub fn measured(&self, column: usize) -> Option<&Measured> {
        self.cells.get(column)?.measured()
    }
}

/// Scenarios that the same runs lack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Their names.
    pub scenarios: Vec<String>,
    /// The ids of the runs that do not have them.
    pub runs: Vec<String>,
}

/// A thing that a reader should know before reading the table. `run` is a run's id.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Note {
    /// Sizes and durations are not those of the suite.
    /// With a target the sizes of what loads it are the target's.
    Scaled { run: String, factor: f64, target: bool },
    /// What its suite says of its figures; in other languages by their codes.
    OfSuite { run: String, text: String, texts: BTreeMap<String, String> },
    /// Servers that were loaded from the same machine, and how many processors each and its load had: of their own, or together.
    Loaded { run: String, servers: Vec<String>, processors: u32, apart: bool },
    /// The storage that was set up for the run, and what its figures are figures of.
    Target { run: String, target: Box<TargetOfRun> },
    /// What a side of a run sets; with the compiler that built it, and the versions of its tools, where it has them of its own.
    Side { run: String, settings: Vec<String>, compiler: Option<String>, tools: Vec<(String, String)> },
    /// The two sides of the run are compared as pairs of neighbours.
    InPairs { run: String },
    /// So many scenarios ask for fewer repeats than an interval takes.
    FewRepeats { run: String, scenarios: usize, least: usize },
    /// The work of so many scenarios cannot be verified.
    Unverified { run: String, scenarios: usize },
    /// What made the machine unfit to measure when the run, or a later session of it, began.
    Unfit { run: String, conditions: Vec<Condition> },
    /// So many of the measured repeats do not count; what they were lost to, the most frequent first.
    Lost { run: String, repeats: usize, of: usize, to: Vec<(Loss, usize)> },
    /// Repeats of these scenarios left processes running, which belong to no repeat.
    LeftRunning { run: String, scenarios: Vec<String> },
    /// What these scenarios were to prepare was measured without it, because they failed.
    Unprepared { run: String, scenarios: Vec<String> },
    /// These scenarios were measured although they never got steady, so there is no verdict on them.
    NotSteady { run: String, scenarios: Vec<String> },
    /// The load generator took so much of the CPU time for these scenarios that they measure it rather than what it loads.
    LoaderBound { run: String, scenarios: Vec<String> },
    /// An emulator made its figures, which therefore are compared with nothing.
    Emulated { run: String, emulator: String },
    /// What may name its machine was left out before it came here.
    Public { run: String },
    /// Repeats of it are missing; they may be made here, or it was imported.
    Unfinished { run: String, may_go_on: bool },
    /// It was made by another stend than the base.
    OtherVersion { run: String, version: String, base: String, base_version: String },
    /// These scenarios do other work than in the base, so there is no verdict on them.
    OtherWork { run: String, base: String, scenarios: Vec<String>, differences: Vec<Difference> },
    /// These scenarios do the base's work in another place.
    OtherPlace { run: String, base: String, scenarios: Vec<String>, difference: Difference },
    /// A file that commands name has other contents than in the base.
    OtherFile { run: String, base: String, scenarios: Vec<String>, file: String },
    /// Of this metric the base takes more for better, or less, and the run the opposite; verdicts are as the base has it.
    OtherDirection { run: String, base: String, metric: String, better: Better, scenarios: Vec<String> },
    /// What these instruments measured was built otherwise than in the base.
    OtherBuild { run: String, base: String, instruments: Vec<String>, differences: Vec<Difference> },
    /// What these instruments measured was built anew within the run.
    SeveralBuilds { run: String, instruments: Vec<String> },
    /// These runs of one machine stand together as one, their sessions as its sessions.
    Pooled { run: String, runs: Vec<String> },
    /// No figure but those that this expression takes is in the table, and the correction for many comparisons is over these.
    Filtered { filter: String },
    /// Of so many rows those with such a verdict are shown.
    OnlyRows { only: Only, shown: usize, of: usize },
    /// These references were named, and have no figure that is compared here.
    NothingPublished { references: Vec<String> },
    /// Values of these figures are zero or negative, so that they have no ratio, and no verdict.
    NoRatio { run: String, base: String, figures: Vec<String> },
}

/// One machine, or one run of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Column {
    /// Its name over the column.
    pub title: String,
    /// What it is.
    pub origin: ColumnOrigin,
    /// How it was measured beside the base; none for the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// In what its machine differs from the base's.
    pub differences: Vec<Difference>,
    /// What emulated the machine, or the build that was measured, if anything did: then its figures have no verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
}

impl Column {
    /// Whether it is a run here.
    pub fn is_run(&self) -> bool {
        matches!(self.origin, ColumnOrigin::Run { .. })
    }

    /// The reference that it comes from, if it was published.
    pub fn reference(&self) -> Option<&str> {
        match &self.origin {
            ColumnOrigin::Published { reference, .. } => Some(reference),
            ColumnOrigin::Run { .. } => None,
        }
    }
}

/// How good the evidence of a column is: how it was measured beside the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Repeat by repeat in turns with the base.
    InTurns,
    /// In turns with the base, session by session, five sessions or more.
    SessionsInTurns,
    /// Before the base or after it.
    OneAfterTheOther,
    /// It was published: there are no samples to test.
    Published,
}

impl Grade {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InTurns => "in_turns",
            Self::SessionsInTurns => "sessions_in_turns",
            Self::OneAfterTheOther => "one_after_the_other",
            Self::Published => "published",
        }
    }
}

impl From<Design> for Grade {
    fn from(design: Design) -> Self {
        match design {
            Design::InTurns => Self::InTurns,
            Design::SessionsInTurns => Self::SessionsInTurns,
            Design::OneAfterTheOther => Self::OneAfterTheOther,
        }
    }
}

/// Where a column comes from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum ColumnOrigin {
    /// A run here.
    Run {
        /// Its id.
        id: String,
        /// How many sessions it has, of those with repeats that count.
        sessions: u32,
        /// Over how many boots of the machine these go, as far as it says which boot it is; at least one.
        boots: u32,
    },
    /// A publication.
    Published {
        /// The reference's name.
        reference: String,
        /// The publication's title.
        title: String,
        /// The machine's short name in it.
        machine: String,
        /// What the publication says of the machine.
        description: String,
        /// Author, place and date.
        source: String,
    },
}

/// One metric of one scenario.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Row {
    /// The scenario's name.
    pub scenario: String,
    /// What measured it: the instrument, of a command the program.
    pub instrument: String,
    /// Its place in the family that a matrix made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// The scenario of whose operations per second the load's rate is a share, if it is an open load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of: Option<String>,
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Whether it is the scenario's main metric.
    pub main: bool,
    /// One cell for each column.
    pub cells: Vec<Cell>,
}

/// What a column has for a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Cell {
    /// It was measured here.
    Measured(Measured),
    /// It was published.
    Published(Published),
    /// The scenario is there, but no repeat counts.
    Nothing {
        /// Why.
        why: Lack,
    },
    /// There is no such figure.
    Absent,
}

impl Cell {
    /// What was measured, if it was.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Measured(measured) => Some(measured),
            _ => None,
        }
    }

    /// How what was measured stands to the base.
    pub fn against_base(&self) -> Option<&AgainstBase> {
        self.measured()?.against_base.as_ref()
    }

    /// What was published, if it was.
    pub fn published(&self) -> Option<&Published> {
        match self {
            Self::Published(published) => Some(published),
            _ => None,
        }
    }
}

/// What a repeat is lost to, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    Steal,
    ForeignCpu,
    ClockFell,
    Swapping,
    Throttling,
    /// Its work was wrong, or not verified.
    Work,
    /// The other one of its pair does not count.
    Partner,
    /// It was not measured.
    Failure,
    /// Anything else.
    Other,
}

impl Loss {
    /// What an outcome is lost to; nothing if it counts. Of several causes the first is taken.
    pub(super) fn of(outcome: &Outcome) -> Option<Self> {
        let causes = match outcome {
            Outcome::Valid => return None,
            Outcome::Failed(_) => return Some(Self::Failure),
            Outcome::Invalid(causes) => causes,
        };
        Some(match causes.first() {
            Some(Cause::Steal { .. } | Cause::StealOfHost { .. }) => Self::Steal,
            Some(Cause::ForeignCpu { .. } | Cause::ForeignCpuOfHost { .. }) => Self::ForeignCpu,
            Some(Cause::ClockFell { .. }) => Self::ClockFell,
            Some(Cause::Swapping { .. }) => Self::Swapping,
            Some(Cause::Throttling { .. }) => Self::Throttling,
            Some(Cause::WorkWrong { .. } | Cause::WorkUnverified | Cause::TestsCut { .. }) => Self::Work,
            Some(Cause::PartnerMissing) => Self::Partner,
            _ => Self::Other,
        })
    }
}

/// Why a scenario has no figure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Lack {
    /// It was left out.
    Skipped {
        /// Why.
        reason: Cause,
        /// The command that would mend it, if there is one.
        remedy: Option<String>,
    },
    /// No repeat counts; this is why the last one does not.
    Invalid { causes: Vec<Cause> },
    /// No repeat measured anything; this is why the last one did not.
    Failed { cause: Cause },
    /// Repeats count, but none of them reported what this is computed from.
    NotReported {
        /// What the metric is computed from.
        value: String,
        /// Why the last of them did not, if it said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Why>,
    },
    /// The run has not come to it.
    NotYet,
}

/// A measured value with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Median of the valid repeats, in the row's unit.
    pub median: f64,
    /// 95 % interval of the median by order statistics; none below six repeats.
    pub interval: Option<(f64, f64)>,
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Spread: 1.4826 × median absolute deviation / median; none for a single value, which has no spread.
    pub spread: Option<f64>,
    /// Valid repeats that have this metric.
    pub valid: u32,
    /// Measured repeats that do not count, or do not have it.
    pub invalid: u32,
    /// Values marked by Tukey's rule as far from the rest. They count.
    pub outliers: u32,
    /// How it stands to the base; none in the base's own column.
    pub against_base: Option<AgainstBase>,
    /// How much it reaches of what the suite names as ceilings, in the same run.
    pub of_ceilings: Vec<OfCeiling>,
}

/// A measured value held against that of a scenario which the suite calls its ceiling.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfCeiling {
    /// The ceiling's scenario.
    pub scenario: String,
    /// How many times the scenario's figure the ceiling is.
    pub times: u32,
    /// The share that is reached: 1 is all of it. The metric's direction is in it.
    pub share: f64,
}

impl OfCeiling {
    /// What the value is held against: `2 × one process`.
    pub fn name(&self) -> String {
        if self.times == 1 { self.scenario.clone() } else { format!("{} × {}", self.times, self.scenario) }
    }
}

/// A measured value held against the base.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgainstBase {
    /// How many times as good as the base's it is, by the mean of the logarithms: 1.1 is a tenth more throughput, or the same work in 1/1.1 of
    /// the time. None where a value is zero or negative.
    pub factor: Option<f64>,
    /// 95 % interval of the factor.
    pub interval: Option<(f64, f64)>,
    /// p of the hypothesis that the difference is δ or less.
    pub p: Option<f64>,
    /// p corrected by Benjamini and Hochberg, for all main metrics of the table, or all figures of this metric.
    pub q: Option<f64>,
    /// The floor δ: a difference smaller than this share does not matter.
    pub floor: f64,
    /// How the two were measured.
    pub design: Design,
    /// What gave each of the numbers that were tested.
    pub counted: Counted,
    /// How many of them the base has.
    pub base_count: usize,
    /// How many of them this run has.
    pub own_count: usize,
    /// What is to be said of it.
    pub verdict: Verdict,
    /// The condition that decided it.
    pub reason: Reason,
    /// The difference, as a share, that nine of ten such comparisons would have found.
    pub visible: Option<f64>,
    /// About how many pairs, sessions or repeats of each side would settle it, where it is unresolved; with too few for a verdict, how many that
    /// takes at least.
    pub needed: Option<usize>,
    /// The numbers that were tested, for what is computed over several rows.
    #[serde(skip)]
    pub numbers: Option<Numbers>,
}

impl AgainstBase {
    /// Whether the two took turns, so that what changes on the machine meanwhile is no difference of theirs.
    pub fn is_solid(&self) -> bool {
        self.design.takes_turns()
    }

    /// What was found of a cell.
    pub(super) fn of(cell: &stend_stats::Cell, result: CellResult) -> Self {
        let [own_count, base_count] = result.counts;
        Self {
            factor: result.ratio.and_then(|ratio| turned(ratio, cell.direction)),
            interval: result.interval.and_then(|ends| interval_turned(ends, cell.direction)),
            p: result.p,
            q: result.q,
            floor: cell.delta,
            design: cell.design,
            counted: result.counted,
            base_count,
            own_count,
            verdict: result.verdict,
            reason: result.reason,
            visible: result.visible,
            needed: result.needed.filter(|needed| *needed <= MOST_ADVISED),
            numbers: result.numbers,
        }
    }
}

/// A published figure. It is never coloured: there are no samples to test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Published {
    /// The number in the row's unit, if there is one.
    pub value: Option<f64>,
    /// What the publication says instead of a number.
    pub words: Option<String>,
    /// How many times as good as this the base's median is.
    pub factor: Option<f64>,
    /// What a reader should know about it.
    pub note: Option<String>,
}
