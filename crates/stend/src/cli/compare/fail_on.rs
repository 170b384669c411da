//! When `stend compare` ends with status 1.

use std::fmt;
use std::str::FromStr;

use stend_model::quantity::parse_share;

use stend_compare::conformance;
use stend_compare::table::{AgainstBase, Verdict};

/// `worse`, `different`, and how far beyond the base: `worse:5%`; with `hollow-` also of runs made one after the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FailOn {
    verdict: Kind,
    /// Whether what was measured one after the other counts, too.
    hollow: bool,
    /// As a share: the whole interval must lie beyond 1 + share, or below its reciprocal.
    beyond: Option<f64>,
}

/// What stands before a verdict that may be hollow.
const HOLLOW: &str = "hollow-";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Worse,
    Different,
}

impl FailOn {
    /// Whether it is about such a comparison at all.
    pub(super) fn counts(self, against: &AgainstBase) -> bool {
        self.hollow || against.is_solid()
    }

    /// Whether a test that differs so is such a one.
    pub(super) fn crossed_by(self, kind: conformance::Kind) -> bool {
        kind.is_worse() || self.verdict == Kind::Different
    }

    /// Whether a verdict is such a one.
    pub(super) fn crossed(self, against: &AgainstBase) -> bool {
        if !self.counts(against) {
            return false;
        }
        let is_worse = match against.verdict {
            Verdict::Worse => true,
            Verdict::Better if self.verdict == Kind::Different => false,
            _ => return false,
        };
        let Some(beyond) = self.beyond else { return true };
        let most = 1.0 + beyond;
        against.interval.is_some_and(|(low, high)| if is_worse { high < 1.0 / most } else { low > most })
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.verdict == Kind::Worse { "worse" } else { "different" };
        write!(f, "{}{verdict}", if self.hollow { HOLLOW } else { "" })?;
        // As it was typed: 0.07 × 100 is a little more than 7.
        self.beyond.map_or(Ok(()), |beyond| write!(f, ":{}%", (beyond * 1e8).round() / 1e6))
    }
}

impl FromStr for FailOn {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (verdict, beyond) = text.split_once(':').map_or((text, None), |(verdict, beyond)| (verdict, Some(beyond)));
        let (hollow, verdict) = verdict.strip_prefix(HOLLOW).map_or((false, verdict), |verdict| (true, verdict));
        let verdict = match verdict {
            "worse" => Kind::Worse,
            "different" => Kind::Different,
            _ => {
                return Err("write worse, different, hollow-worse or hollow-different, and how far beyond the base if that matters: worse:5%".into());
            }
        };
        if let Some(beyond) = beyond
            && beyond.trim().parse::<f64>().is_ok_and(|number| number >= 1.0)
        {
            return Err(format!("{beyond} without % is {beyond} times the base; write {beyond}% if percent are meant"));
        }
        let beyond = beyond.map(parse_share).transpose().map_err(|error| error.to_string())?;
        Ok(Self { verdict, hollow, beyond })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_compare::table::{Counted, Design, Reason};

    #[test]
    fn a_threshold_is_crossed_by_the_whole_interval() {
        let against = |verdict, low, high| AgainstBase {
            factor: Some(f64::midpoint(low, high)),
            interval: Some((low, high)),
            q: Some(0.001),
            floor: 0.01,
            verdict,
            reason: Reason::BeyondFloor,
            p: Some(0.001),
            design: Design::InTurns,
            counted: Counted::Pairs,
            base_count: 10,
            own_count: 10,
            visible: None,
            needed: None,
            numbers: None,
        };
        let crossed =
            |text: &str, verdict, low, high| text.parse::<FailOn>().unwrap().crossed(&against(verdict, low, high));
        for text in ["worse", "different:5%", "worse:7%", "worse:2.5%", "worse:150%", "hollow-worse:5%"] {
            assert_eq!(text.parse::<FailOn>().unwrap().to_string(), text);
        }
        assert!(crossed("worse", Verdict::Worse, 0.95, 0.98));
        assert!(!crossed("worse:5%", Verdict::Worse, 0.90, 0.96), "1/1.05 is 0.952");
        assert!(crossed("worse:5%", Verdict::Worse, 0.90, 0.95));
        assert!(crossed("worse:5%", Verdict::Worse, 1.0 / 1.2, 1.0 / 1.051), "a longer time");
        assert!(!crossed("worse:5%", Verdict::Worse, 1.0 / 1.2, 1.0 / 1.049));
        assert!(!crossed("worse", Verdict::Better, 1.1, 1.2));
        assert!(crossed("different:0.05", Verdict::Better, 1.06, 1.2));
        assert!(crossed("different:5%", Verdict::Better, 1.0 / 0.95, 1.0 / 0.8));
        assert!(!crossed("different:5%", Verdict::Better, 1.04, 1.2));
        assert!(!crossed("different", Verdict::Unresolved, 1.2, 1.4));
        assert!(!crossed("different", Verdict::Same, 0.99, 1.0));
        let hollow = AgainstBase { design: Design::OneAfterTheOther, ..against(Verdict::Worse, 0.9, 0.95) };
        let crossed = |text: &str| text.parse::<FailOn>().unwrap().crossed(&hollow);
        assert!(crossed("hollow-worse") && crossed("hollow-different:5%") && !crossed("worse"));
    }

    #[test]
    fn what_else_is_said_is_refused() {
        for text in ["", "better", "worse:", "worse:x", "worse:5", "worse:1", "worse:5 parrots", "worse 5%"] {
            assert!(text.parse::<FailOn>().is_err(), "{text}");
        }
    }
}
