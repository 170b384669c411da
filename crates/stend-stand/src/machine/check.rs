//! Is the machine fit to measure?

use stend_model::condition::Condition;
use stend_model::suite::Gates;

use super::command;
use super::judge::{Finding, Space, State, judge};
use super::texts::Texts;
use crate::host::{Command, Host, Output};

/// What looks at the machine.
pub(super) const SCRIPT: &str = concat!(include_str!("texts.sh"), include_str!("check.sh"));

/// Looks at the machine for half a second and judges what would disturb a measurement. What `gates` would refuse in a repeat makes
/// the machine unfit, and so does too little space.
///
/// A machine that cannot be asked has one finding, which is unfit and says why.
pub fn check(host: &dyn Host, spaces: &[Space], gates: &Gates) -> Vec<Finding> {
    let directories: Vec<_> = spaces.iter().map(|space| space.directory.as_str()).collect();
    match host.run(&command(SCRIPT, &directories)) {
        Ok(output) => judge(&Texts::parse(&output), spaces, gates),
        Err(error) => {
            let out_of_reach = Finding::of(State::Unfit, Condition::Machine { said: error.to_string() });
            vec![Finding { lasting: true, ..out_of_reach }]
        }
    }
}

/// What looks at a machine that no lab reaches, whose directories nobody knows.
pub fn conditions_question() -> Command {
    command(SCRIPT, &[])
}

/// What [`check`] makes of a machine that answered to [`conditions_question`].
pub fn conditions_answered(answer: &Output, gates: &Gates) -> Vec<Finding> {
    judge(&Texts::parse(answer), &[], gates)
}
