//! Faults: what breaks while a scenario loads its target, and how it is mended again.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::template::fill;
use super::text::FaultText;
use crate::quantity::{Share, Span, parse_duration, parse_share};

/// Something that is done to the target while it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When, counted from the start of the load, its ramp included.
    pub at: Span,
    /// To what.
    pub part: Part,
    /// What.
    pub action: Action,
}

/// A part of a target that can fail, by its number from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A disk of a pool.
    Disk(u32),
    /// A process that exports LUNs.
    Controller(u32),
}

/// What is done to a part of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A disk answers every read and write with an error from here on.
    Die,
    /// A fresh disk takes the dead one's place, and the pool is rebuilt onto it.
    Replace,
    /// A controller is ended by SIGKILL.
    Kill,
    /// It is started again.
    Restart,
}

impl Action {
    /// Whether it mends what another one broke.
    pub fn mends(self) -> bool {
        matches!(self, Self::Replace | Self::Restart)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(number) => write!(f, "disk {number}"),
            Self::Controller(number) => write!(f, "controller {number}"),
        }
    }
}

/// What happens, as a mark says it: `disk 3 dies`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.action {
            Action::Die => "dies",
            Action::Replace => "replaced",
            Action::Kill => "killed",
            Action::Restart => "back",
        };
        write!(f, "{} {verb}", self.part)
    }
}

/// The faults of a scenario, in the order of their times.
pub(super) fn faults(
    texts: &[FaultText],
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Vec<Fault>, String> {
    let mut faults = texts.iter().map(|text| fault(text, parameters, values)).collect::<Result<Vec<_>, _>>()?;
    faults.sort_by_key(|fault| fault.at);
    let mut broken: BTreeMap<Part, Fault> = BTreeMap::new();
    for fault in &faults {
        let (part, at) = (fault.part, fault.at);
        let before = if fault.action.mends() { broken.remove(&part) } else { broken.insert(part, *fault) };
        match (fault.action, before) {
            (Action::Replace, None) => {
                return Err(format!("{part} is replaced at {at}, and it does not die before that"));
            }
            (Action::Restart, None) => {
                return Err(format!("{part} is started again at {at}, and it is not killed before that"));
            }
            (Action::Die | Action::Kill, Some(_)) => {
                return Err(format!("{part} fails a second time at {at}, before it was mended"));
            }
            (_, Some(earlier)) if earlier.at == at => {
                return Err(format!("{part} fails and is mended at the same time, {at}; leave time between"));
            }
            _ => {}
        }
    }
    match broken.values().next() {
        // The next repeat begins with a whole target.
        Some(fault) => Err(format!(
            "\"{fault}\" at {}, and is never mended; add {{ at = …, {} }}",
            fault.at,
            match fault.part {
                Part::Disk(number) => format!("disk = {number}, action = \"replace\""),
                Part::Controller(number) => format!("controller = {number}, action = \"restart\""),
            }
        )),
        None => Ok(faults),
    }
}

fn fault(
    text: &FaultText,
    parameters: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> Result<Fault, String> {
    let part = match (text.disk, text.controller, text.action) {
        (Some(number), None, Action::Die | Action::Replace) => Part::Disk(number),
        (None, Some(number), Action::Kill | Action::Restart) => Part::Controller(number),
        (Some(_), None, _) => return Err("\"faults\": a disk takes the actions \"die\" and \"replace\"".into()),
        (None, Some(_), _) => {
            return Err("\"faults\": a controller takes the actions \"kill\" and \"restart\"".into());
        }
        _ => return Err("\"faults\": each names one part that fails: disk = NUMBER, or controller = NUMBER".into()),
    };
    let at = fill(&text.at.to_string(), values)?;
    let wrong = |error: crate::quantity::QuantityError| format!("\"faults\": \"at\": {error}");
    let at = if at.trim_end().ends_with('%') {
        let share = parse_share(&at).map_err(wrong)?;
        if share <= 0.0 || share >= 1.0 {
            return Err(format!("\"faults\": \"at\" is {}; it must be above 0% and below 100%", Share(share)));
        }
        let length = |name: &str| match parameters.get(name) {
            Some(text) => parse_duration(text).map(Some).map_err(|error| format!("parameter \"{name}\": {error}")),
            None => Ok(None),
        };
        let Some(runtime) = length("runtime")? else {
            return Err(format!(
                "\"faults\": \"at\" is \"{at}\", and without the parameter \"runtime\" nobody knows of what; say a time, as in \"3s\""
            ));
        };
        // Whole milliseconds: what is shown is what is done.
        let milliseconds = (runtime.as_secs_f64() * share * 1e3).round();
        length("ramp_time")?.unwrap_or_default() + Duration::from_millis(milliseconds as u64)
    } else {
        parse_duration(&at).map_err(wrong)?
    };
    Ok(Fault { at: Span(at), part, action: text.action })
}
