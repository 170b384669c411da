//! The rate of an open load, from what another scenario of the run has reached.

use std::borrow::Cow;

use stend_model::cause::Cause;
use stend_model::run::Repeat;
use stend_model::suite::{Scenario, Suite};

/// The scenario with the rate that its share comes to, from the repeats of its side that there are. The instrument reports it among its parameters.
///
/// # Errors
/// The scenario that it is a share of has no repeat that counts.
pub(super) fn applied<'a>(
    suite: &Suite,
    scenario: &'a Scenario,
    side: Option<usize>,
    repeats: &[Repeat],
) -> Result<Cow<'a, Scenario>, Cause> {
    let (Some(rate), Some(parameter)) = (&scenario.rate, scenario.instrument.rate_parameter()) else {
        return Ok(Cow::Borrowed(scenario));
    };
    let reached: Vec<_> = repeats
        .iter()
        .filter(|repeat| suite.scenarios[repeat.scenario].name == rate.of && repeat.side == side && repeat.counts())
        .filter_map(|repeat| repeat.report.as_ref())
        .filter_map(|report| Some(report.work.get("operations")? / (report.wall_ns as f64 * 1e-9)))
        .collect();
    let ceiling = stend_stats::median(&reached).ok_or_else(|| Cause::RateUnknown { of: rate.of.clone() })?;
    let wanted = (ceiling * rate.share.0).round().max(1.0);
    let mut scenario = scenario.clone();
    scenario.parameters.insert(parameter.into(), format!("{wanted}"));
    Ok(Cow::Owned(scenario))
}

#[cfg(test)]
mod tests {
    use stend_model::quantity::Share;
    use stend_model::suite::{Instrument, Rate};

    use super::*;

    #[test]
    fn a_share_is_of_what_the_same_side_has_reached_in_a_second() {
        let suite = stend_testing::suite();
        let mut open = suite.scenarios[0].clone();
        open.instrument = Instrument::Adapter("fio".into());
        open.rate = Some(Rate { of: suite.scenarios[0].name.clone(), share: Share(0.5) });
        let repeats: Vec<_> = [(0, 3000.0, 2_000_000_000), (1, 9000.0, 3_000_000_000)]
            .map(|(side, operations, wall_ns)| {
                let mut repeat = stend_testing::repeat(side, 0, 0, 1.0);
                repeat.side = Some(side as usize);
                let report = repeat.report.as_mut().unwrap();
                report.wall_ns = wall_ns;
                report.work.insert("operations".into(), operations);
                repeat
            })
            .into();
        for (side, rate) in [(Some(0), "750"), (Some(1), "1500")] {
            let applied = applied(&suite, &open, side, &repeats).unwrap();
            assert_eq!(applied.parameters.get("rate_iops").map(String::as_str), Some(rate));
        }
        assert!(applied(&suite, &open, None, &repeats).is_err(), "nothing was measured without sides");
    }
}
