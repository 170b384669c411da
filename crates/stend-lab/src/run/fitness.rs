//! The gate before a run: a machine on which gates would refuse the repeats is waited for, for a while.

use std::time::{Duration, Instant};

use stend_model::condition::Condition;
use stend_model::suite::{Gate, Gates, Scenario};

use stend_stand::interrupt::Interrupt;
use stend_stand::machine::{Finding, State};

/// How often an unfit machine is looked at again.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// How often a waiting program looks whether the user wants to end.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(50);

/// What was found of a machine before it is measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// What makes it unfit; nothing if it is fit.
    pub unfit: Vec<Condition>,
    /// What makes results less steady or says less of them.
    pub noted: Vec<Condition>,
    /// Whether waiting is no use.
    pub lasting: bool,
    /// Whether nobody may insist.
    pub never: bool,
}

impl Conditions {
    /// Sorts findings by how bad they are.
    pub fn of(findings: &[Finding]) -> Self {
        let of = |state: State| findings.iter().filter(move |finding| finding.state == state);
        let conditions = |state: State| of(state).map(|finding| finding.condition.clone()).collect();
        Self {
            unfit: conditions(State::Unfit),
            noted: conditions(State::Warning),
            lasting: of(State::Unfit).any(|finding| finding.lasting),
            never: findings.iter().any(|finding| finding.never),
        }
    }
}

/// Of each gate the widest limit that one of the scenarios has. What is beyond it is beyond every scenario's gates; what is within it is for
/// the gates of the repeats to judge.
pub fn widest_gates<'a>(scenarios: impl Iterator<Item = &'a Scenario> + Clone) -> Gates {
    let widest = |gate: fn(&Gates) -> Option<Gate>| {
        let limits = scenarios.clone().map(|scenario| gate(&scenario.gates).unwrap_or(Gate::Off));
        limits.reduce(|a, b| match (a, b) {
            (Gate::Limit(a), Gate::Limit(b)) => Gate::Limit(a.max(b)),
            _ => Gate::Off,
        })
    };
    Gates {
        steal: widest(|gates| gates.steal),
        foreign_cpu: widest(|gates| gates.foreign_cpu),
        frequency_fall: widest(|gates| gates.frequency_fall),
        swapping: widest(|gates| gates.swapping),
        throttling: widest(|gates| gates.throttling),
    }
}

/// Scenarios whose gates would refuse their repeats on a machine that others could be measured on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refused {
    /// How many they are.
    pub scenarios: usize,
    /// Of so many.
    pub of: usize,
    /// The widest of their limits that is passed, as a share of the CPU time.
    pub limit: f64,
}

/// Those that what was found of the machine would refuse: by the CPU time that other programs use, or else by what the hypervisor takes.
pub fn refused<'a>(found: &[Condition], scenarios: impl Iterator<Item = &'a Scenario> + Clone) -> Option<Refused> {
    found.iter().find_map(|condition| {
        let (gate, share): (fn(&Gates) -> Option<Gate>, f64) = match condition {
            Condition::ForeignLoad { share, .. } => (|gates| gates.foreign_cpu, *share),
            Condition::Steal { share, .. } => (|gates| gates.steal, *share),
            _ => return None,
        };
        let limits = scenarios.clone().filter_map(|scenario| gate(&scenario.gates)?.closed_by(share));
        let limit = limits.clone().reduce(f64::max)?;
        Some(Refused { scenarios: limits.count(), of: scenarios.clone().count(), limit })
    })
}

/// Looks at the machine until it is fit, or time is up, or it is clear that waiting does not help. `tell` hears what is waited for, and
/// for how long at most. `None` if the user interrupted it.
pub fn wait(
    look: impl Fn() -> Vec<Finding>,
    patience: Duration,
    interrupt: &Interrupt,
    mut tell: impl FnMut(&[Condition], Duration),
) -> Option<Conditions> {
    let mut deadline = None;
    loop {
        let conditions = Conditions::of(&look());
        if interrupt.requested() {
            return None;
        }
        // Counted from the end of the first look, which a busy machine makes long.
        let left = deadline.get_or_insert_with(|| Instant::now() + patience).saturating_duration_since(Instant::now());
        if conditions.unfit.is_empty() || conditions.lasting || left.is_zero() {
            return Some(conditions);
        }
        tell(&conditions.unfit, left);
        let next = Instant::now() + left.min(LOOK_INTERVAL);
        while Instant::now() < next && !interrupt.requested() {
            std::thread::sleep(INTERRUPT_INTERVAL.min(next.saturating_duration_since(Instant::now())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn finding(state: State, lasting: bool) -> Finding {
        Finding { lasting, ..Finding::of(state, busy()) }
    }

    fn busy() -> Condition {
        Condition::ForeignLoad { share: 0.97, limit: Some(0.02), said: None }
    }

    fn looked(findings: &[Finding], patience: Duration) -> (Conditions, usize) {
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            vec![findings[(looks.get() - 1).min(findings.len() - 1)].clone()]
        };
        let conditions = wait(look, patience, &Interrupt::default(), |_, _| {}).unwrap();
        (conditions, looks.get())
    }

    #[test]
    fn a_load_that_passes_is_waited_for_and_one_that_stays_is_said() {
        let busy = finding(State::Unfit, false);
        let (conditions, looks) = looked(&[busy.clone(), finding(State::Warning, false)], Duration::from_secs(60));
        assert_eq!((conditions.unfit.len(), conditions.noted.len(), looks), (0, 1, 2));
        // One look more comes when time is up, not at the next interval. A machine that is busy itself may make any one wait longer.
        let in_time = || {
            let started = Instant::now();
            let (conditions, looks) = looked(std::slice::from_ref(&busy), Duration::from_millis(100));
            assert_eq!(conditions.unfit, [self::busy()]);
            looks == 2 && started.elapsed() < LOOK_INTERVAL
        };
        assert!((0..20).any(|_| in_time()));
    }

    #[test]
    fn what_does_not_pass_is_not_waited_for() {
        let (conditions, looks) = looked(&[finding(State::Unfit, true)], Duration::from_secs(60));
        assert_eq!((conditions.unfit.len(), looks), (1, 1));
    }

    #[test]
    fn the_most_tolerant_scenario_decides() {
        let mut scenarios = stend_testing::suite().scenarios;
        let all = |scenarios: &[Scenario]| widest_gates(scenarios.iter());
        assert_eq!(all(&scenarios), Gates::DEFAULT);
        scenarios[1].gates.foreign_cpu = Some(Gate::Limit(0.2));
        assert_eq!(all(&scenarios), Gates { foreign_cpu: Some(Gate::Limit(0.2)), ..Gates::DEFAULT });
        scenarios[0].gates.foreign_cpu = Some(Gate::Off);
        assert_eq!(all(&scenarios).foreign_cpu, Some(Gate::Off));
    }

    #[test]
    fn scenarios_that_are_less_tolerant_than_others_are_counted() {
        let mut scenarios = stend_testing::suite().scenarios;
        scenarios.truncate(2);
        scenarios[0].gates.foreign_cpu = Some(Gate::Limit(0.05));
        scenarios[1].gates.foreign_cpu = Some(Gate::Limit(0.2));
        let at = |share| refused(&[Condition::ForeignLoad { share, limit: None, said: None }], scenarios.iter());
        assert_eq!(at(0.04), None);
        assert_eq!(at(0.16), Some(Refused { scenarios: 1, of: 2, limit: 0.05 }));
        assert_eq!(at(0.3), Some(Refused { scenarios: 2, of: 2, limit: 0.2 }));
        scenarios[0].gates.foreign_cpu = Some(Gate::Off);
        let at = |share| refused(&[Condition::ForeignLoad { share, limit: None, said: None }], scenarios.iter());
        assert_eq!(at(0.16), None);
    }
}
