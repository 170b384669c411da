//! Faults: what breaks while a scenario loads its target, and how it is mended again.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::template::{TemplateError, fill};
use super::text::FaultText;
use crate::quantity::{QuantityError, Share, Span, parse_duration, parse_share};
use crate::wire::Deed;

/// Something that is done to the target while it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// When, counted from the start of the load, its ramp included.
    pub at: Span,
    /// To what.
    pub part: Part,
    /// What.
    pub action: Action,
}

/// A part of a target that can fail, by its number from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A disk of a pool.
    Disk(u32),
    /// A process that exports LUNs.
    Controller(u32),
    /// All disks of a pool.
    Pool,
}

/// What is done to a part of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A disk answers every read and write with an error from here on.
    Die,
    /// A fresh disk takes the dead one's place, and the pool is rebuilt onto it.
    Replace,
    /// Blocks of a disk change without anybody noticing.
    Rot,
    /// All that a disk holds is read, held against its checksums, and mended from the other copy.
    Scrub,
    /// A disk moves only so much from here on.
    Slow,
    /// It is as fast as before.
    Recover,
    /// A disk dies, and none takes its place: data may be lost.
    Lose,
    /// All disks lose their power, and what they had not flushed.
    PowerOff,
    /// A controller is ended by SIGKILL.
    Kill,
    /// It is started again.
    Restart,
}

impl Action {
    /// What mends what it breaks; nothing of one that mends.
    pub fn mended_by(self) -> Option<Self> {
        match self {
            Self::Die => Some(Self::Replace),
            Self::Rot => Some(Self::Scrub),
            Self::Slow => Some(Self::Recover),
            Self::Kill => Some(Self::Restart),
            Self::Replace | Self::Scrub | Self::Recover | Self::Restart | Self::Lose | Self::PowerOff => None,
        }
    }

    /// Whether the load and its pool end by it. Then what is left is read again, and the next repeat has another pool.
    pub fn is_the_end(self) -> bool {
        matches!(self, Self::Lose | Self::PowerOff)
    }

    /// Whether it mends what another one broke.
    pub fn mends(self) -> bool {
        self.mended_by().is_none() && !self.is_the_end()
    }

    fn is_of_a_controller(self) -> bool {
        matches!(self, Self::Kill | Self::Restart)
    }
}

/// The word that a suite has for it.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Die => "die",
            Self::Replace => "replace",
            Self::Rot => "rot",
            Self::Scrub => "scrub",
            Self::Slow => "slow",
            Self::Recover => "recover",
            Self::Lose => "lose",
            Self::PowerOff => "power-off",
            Self::Kill => "kill",
            Self::Restart => "restart",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(number) => write!(f, "disk {number}"),
            Self::Controller(number) => write!(f, "controller {number}"),
            Self::Pool => f.write_str("the pool"),
        }
    }
}

/// What happens, as a mark says it: `disk 3 dies`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.action {
            Action::Die => "dies",
            Action::Replace => "replaced",
            Action::Rot => "rots",
            Action::Scrub => "is scrubbed",
            Action::Slow => "slows down",
            Action::Recover => "recovers",
            Action::Lose => "is lost",
            Action::PowerOff => "loses its power",
            Action::Kill => "killed",
            Action::Restart => "back",
        };
        write!(f, "{} {verb}", self.part)
    }
}

impl Fault {
    /// What becomes of its part.
    ///
    /// # Panics
    /// The part cannot have it done, which no suite passes.
    pub fn deed(&self) -> Deed {
        match (self.part, self.action) {
            (Part::Disk(disk), Action::Die) => Deed::DiskDies { disk },
            (Part::Disk(disk), Action::Replace) => Deed::DiskReplaced { disk },
            (Part::Disk(disk), Action::Rot) => Deed::DiskRots { disk },
            (Part::Disk(disk), Action::Scrub) => Deed::ScrubBegins { disk },
            (Part::Disk(disk), Action::Slow) => Deed::DiskSlows { disk },
            (Part::Disk(disk), Action::Recover) => Deed::DiskRecovers { disk },
            (Part::Disk(disk), Action::Lose) => Deed::DiskLost { disk },
            (Part::Controller(controller), Action::Kill) => Deed::ControllerKilled { controller },
            (Part::Controller(controller), Action::Restart) => Deed::ControllerBack { controller },
            (Part::Pool, Action::PowerOff) => Deed::PowerLost,
            (part, action) => unreachable!("{action} of {part}"),
        }
    }
}

/// Faults that make no sense, or are not mended.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FaultError {
    /// Their time cannot be filled in.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Their time is none.
    #[error("\"faults\": \"at\": {0}")]
    At(#[source] QuantityError),
    /// Their time is no share of the load.
    #[error("\"faults\": \"at\" is {0}; it must be above 0% and below 100%")]
    AtShare(Share),
    /// Their time is a share of what nobody knows.
    #[error(
        "\"faults\": \"at\" is \"{0}\", and without the parameter \"runtime\" nobody knows of what; say a time, as in \"3s\""
    )]
    NoRuntime(String),
    /// A parameter by which their time is counted is no length of time.
    #[error("parameter \"{name}\": {source}")]
    Length {
        /// The parameter.
        name: &'static str,
        /// What is wrong with it.
        source: QuantityError,
    },
    /// No part is named, or several are.
    #[error("\"faults\": each names one part that fails: disk = NUMBER, controller = NUMBER, or pool = true")]
    NoPart,
    /// A pool has something else done to it than losing its power.
    #[error(
        "\"faults\": a pool takes the action \"power-off\", as in {{ at = \"3s\", pool = true, action = \"power-off\" }}"
    )]
    OfPool,
    /// A disk has something done to it that only controllers have.
    #[error(
        "\"faults\": a disk takes the actions \"die\" and \"replace\", \"rot\" and \"scrub\", \"slow\" and \"recover\", and \"lose\""
    )]
    OfDisk,
    /// A controller has something done to it that only disks have.
    #[error("\"faults\": a controller takes the actions \"kill\" and \"restart\"")]
    OfController,
    /// What is broken breaks.
    #[error("{part} fails a second time at {at}, before it was mended")]
    FailsAgain {
        /// The part.
        part: Part,
        /// When.
        at: Span,
    },
    /// What breaks is mended at once.
    #[error("{part} fails and is mended at the same time, {at}; leave time between")]
    AtOnce {
        /// The part.
        part: Part,
        /// When.
        at: Span,
    },
    /// What is whole is mended.
    #[error(
        "{part} {mended} at {at}, and it {broken} before that",
        part = .0.part, at = .0.at, mended = of_whole(.0.action).0, broken = of_whole(.0.action).1
    )]
    Whole(Fault),
    /// What breaks is never mended. The next repeat begins with a whole target.
    #[error("\"{0}\" at {at}, and is never mended; add {{ at = …, {remedy} }}", at = .0.at, remedy = remedy(.0))]
    NotMended(Fault),
    /// Something is done after the pool has ended.
    #[error("\"{other}\" at {}, and \"{end}\" at {}: nothing comes after that", .other.at, .end.at)]
    AfterTheEnd {
        /// What ends it.
        end: Fault,
        /// What is done then.
        other: Fault,
    },
    /// What has ended ends again.
    #[error("\"{0}\" at {at}: nothing is left to fail by then", at = .0.at)]
    NothingLeft(Fault),
    /// What is left of the pool could not be told by what was written last.
    #[error(
        "\"{0}\" at {at}: what is left is read again, and held against each write that was acknowledged; it takes verify = \"marks\" \
         and iodepth = 1",
        at = .0.at
    )]
    NoMarks(Fault),
}

/// What becomes of a part that is mended so, and what should have become of it before.
fn of_whole(mended_by: Action) -> (&'static str, &'static str) {
    match mended_by {
        Action::Restart => ("is started again", "is not killed"),
        Action::Scrub => ("is scrubbed", "does not rot"),
        Action::Recover => ("recovers", "does not slow down"),
        _ => ("is replaced", "does not die"),
    }
}

/// What a suite says to mend a fault.
fn remedy(fault: &Fault) -> String {
    let action = fault.action.mended_by().unwrap_or(fault.action);
    match fault.part {
        Part::Disk(number) => format!("disk = {number}, action = \"{action}\""),
        Part::Controller(number) => format!("controller = {number}, action = \"{action}\""),
        Part::Pool => format!("pool = true, action = \"{action}\""),
    }
}

/// The faults of a scenario, in the order of their times.
pub(super) fn faults(
    texts: &[FaultText],
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Vec<Fault>, FaultError> {
    let mut faults = texts.iter().map(|text| fault(text, parameters, values)).collect::<Result<Vec<_>, _>>()?;
    faults.sort_by_key(|fault| fault.at);
    let mut broken: BTreeMap<Part, Fault> = BTreeMap::new();
    read_again(&faults, parameters)?;
    for fault in &faults {
        let (part, at) = (fault.part, fault.at);
        if fault.action.is_the_end() {
            continue;
        }
        if !fault.action.mends() {
            if broken.insert(part, *fault).is_some() {
                return Err(FaultError::FailsAgain { part, at });
            }
            continue;
        }
        let earlier = broken.remove(&part).filter(|earlier| earlier.action.mended_by() == Some(fault.action));
        match (fault.action, earlier) {
            (_, Some(earlier)) if earlier.at == at => {
                return Err(FaultError::AtOnce { part, at });
            }
            (_, Some(_)) => {}
            (_, None) => return Err(FaultError::Whole(*fault)),
        }
    }
    match broken.values().next() {
        Some(fault) => Err(FaultError::NotMended(*fault)),
        None => Ok(faults),
    }
}

/// What is left of a pool is read again, so there must be something to tell by what was written last, and it must end with the pool.
fn read_again(faults: &[Fault], parameters: &BTreeMap<String, String>) -> Result<(), FaultError> {
    let Some(end) = faults.iter().position(|fault| fault.action.is_the_end()) else { return Ok(()) };
    let (end, after) = (faults[end], &faults[end..]);
    if let Some(other) = after.iter().find(|fault| !fault.action.is_the_end()) {
        return Err(FaultError::AfterTheEnd { end, other: *other });
    }
    if let Some((_, twice)) = after.iter().enumerate().find(|(place, fault)| {
        fault.part == Part::Pool && after.len() > 1 || after[..*place].iter().any(|earlier| earlier.part == fault.part)
    }) {
        return Err(FaultError::NothingLeft(*twice));
    }
    let given = |name: &str| parameters.get(name).map(String::as_str);
    if given("verify") != Some("marks") || !matches!(given("iodepth"), None | Some("1")) {
        return Err(FaultError::NoMarks(end));
    }
    Ok(())
}

fn fault(
    text: &FaultText,
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Fault, FaultError> {
    if text.pool && text.disk.or(text.controller).is_none() && text.action == Action::PowerOff {
        return Ok(Fault { at: time_of(text, parameters, values)?, part: Part::Pool, action: text.action });
    }
    if text.pool || text.action == Action::PowerOff {
        return Err(FaultError::OfPool);
    }
    let part = match (text.disk, text.controller, text.action.is_of_a_controller()) {
        (Some(number), None, false) => Part::Disk(number),
        (None, Some(number), true) => Part::Controller(number),
        (Some(_), None, true) => return Err(FaultError::OfDisk),
        (None, Some(_), false) => return Err(FaultError::OfController),
        _ => return Err(FaultError::NoPart),
    };
    Ok(Fault { at: time_of(text, parameters, values)?, part, action: text.action })
}

fn time_of(
    text: &FaultText,
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Span, FaultError> {
    let at = fill(&text.at.to_string(), values)?;
    let at = if at.trim_end().ends_with('%') {
        let share = parse_share(&at).map_err(FaultError::At)?;
        if share <= 0.0 || share >= 1.0 {
            return Err(FaultError::AtShare(Share(share)));
        }
        let length = |name: &'static str| match parameters.get(name) {
            Some(text) => parse_duration(text).map(Some).map_err(|source| FaultError::Length { name, source }),
            None => Ok(None),
        };
        let Some(runtime) = length("runtime")? else {
            return Err(FaultError::NoRuntime(at));
        };
        // Whole milliseconds: what is shown is what is done.
        let milliseconds = (runtime.as_secs_f64() * share * 1e3).round();
        length("ramp_time")?.unwrap_or_default() + Duration::from_millis(milliseconds as u64)
    } else {
        parse_duration(&at).map_err(FaultError::At)?
    };
    Ok(Span(at))
}
