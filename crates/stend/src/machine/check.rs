//! Is the machine fit to measure?

use stend_model::suite::Gates;

use super::judge::{Finding, State, judge};
use super::script;
use super::texts::Texts;
use crate::host::Host;

/// Looks at the machine for half a second and judges what would disturb a measurement. `store` is the directory on that
/// machine where results will be kept, as an absolute path; it need not be there yet. What `gates` would refuse in a repeat makes
/// the machine unfit.
///
/// A machine that cannot be asked has one finding, which is unfit and says why.
pub(crate) fn check(host: &dyn Host, store: &str, gates: &Gates) -> Vec<Finding> {
    match script(host, include_str!("check.sh"), &[store]) {
        Ok(output) => judge(&Texts::parse(&output), gates),
        Err(error) => vec![Finding {
            what: "machine",
            state: State::Unfit,
            value: error.to_string(),
            advice: "it must be within reach and have a POSIX shell".into(),
            lasting: true,
        }],
    }
}
