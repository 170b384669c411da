//! The clocks of two machines beside each other, by Cristian's method: one asks the other for the time and notes when it asked and when the
//! answer came. The other's reading lies between the two; the round trip that took least says most. F. Cristian, "Probabilistic clock
//! synchronization", Distributed Computing 3 (1989), pp. 146–158.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one machine's clocks say at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: i64,
    /// The wall clock, `CLOCK_REALTIME`, in nanoseconds since 1970.
    pub realtime_ns: i64,
}

/// A question for the time, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// The lab's clocks as it asked.
    pub asked: Reading,
    /// The stand's clocks, some time between.
    pub there: Reading,
    /// The lab's `CLOCK_MONOTONIC` as the answer came.
    pub answered_ns: i64,
}

impl RoundTrip {
    /// How long it took, in nanoseconds.
    fn length_ns(&self) -> i64 {
        self.answered_ns.saturating_sub(self.asked.monotonic_ns)
    }
}

/// The stand's clocks beside the lab's at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The moment, by the lab's clocks.
    pub lab: Reading,
    /// How far the stand's `CLOCK_MONOTONIC` is ahead of the lab's, in nanoseconds. They count from different moments, so it says nothing
    /// by itself.
    pub monotonic_ahead_ns: i64,
    /// How far the stand's wall clock is ahead of the lab's, in nanoseconds.
    pub realtime_ahead_ns: i64,
    /// Both may be wrong by so much at most, in nanoseconds: half the round trip.
    pub uncertainty_ns: i64,
    /// Round trips of which this is the shortest.
    pub round_trips: u32,
}

impl Comparison {
    /// What the shortest of some round trips says; `None` if there is none that went forward in time.
    pub fn of(trips: &[RoundTrip]) -> Option<Self> {
        let shortest = trips.iter().filter(|trip| trip.length_ns() >= 0).min_by_key(|trip| trip.length_ns())?;
        let half = shortest.length_ns() / 2;
        let lab = Reading {
            monotonic_ns: shortest.asked.monotonic_ns.saturating_add(half),
            realtime_ns: shortest.asked.realtime_ns.saturating_add(half),
        };
        Some(Self {
            lab,
            monotonic_ahead_ns: shortest.there.monotonic_ns.saturating_sub(lab.monotonic_ns),
            realtime_ahead_ns: shortest.there.realtime_ns.saturating_sub(lab.realtime_ns),
            // Rounded up: half of an odd number of nanoseconds is not less than it was.
            uncertainty_ns: shortest.length_ns() - half,
            round_trips: u32::try_from(trips.len()).unwrap_or(u32::MAX),
        })
    }
}

/// The stand's clocks beside the lab's as a session began and as it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clocks {
    /// As it began.
    pub before: Comparison,
    /// As it ended, if there was still a link then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Comparison>,
}

/// How two clocks went apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// By how much the stand's clock gained on the lab's, in nanoseconds.
    pub gained_ns: i64,
    /// That may be wrong by so much at most, in nanoseconds.
    pub uncertainty_ns: i64,
    /// In how long, in nanoseconds of the lab's clock.
    pub within_ns: i64,
}

impl Drift {
    /// Whether it is more than could come from the comparisons alone.
    pub fn is_sure(&self) -> bool {
        self.gained_ns.saturating_abs() > self.uncertainty_ns
    }
}

impl Clocks {
    /// A moment of the stand's `CLOCK_MONOTONIC` on the lab's wall clock, as that went when the session began. Between the two comparisons
    /// the drift is taken to be even; outside them there is none. `None` for what lies outside the calendar.
    pub fn in_lab_time(&self, t_ns: i64) -> Option<Timestamp> {
        let Self { before, after } = *self;
        let begin = before.lab.monotonic_ns.saturating_add(before.monotonic_ahead_ns);
        let ahead = match after {
            None => before.monotonic_ahead_ns,
            Some(after) => {
                let end = after.lab.monotonic_ns.saturating_add(after.monotonic_ahead_ns);
                let length = end.saturating_sub(begin).max(1);
                let share = (t_ns.saturating_sub(begin) as f64 / length as f64).clamp(0.0, 1.0);
                let gained = after.monotonic_ahead_ns.saturating_sub(before.monotonic_ahead_ns);
                before.monotonic_ahead_ns.saturating_add((gained as f64 * share).round() as i64)
            }
        };
        let since = t_ns.saturating_sub(ahead).saturating_sub(before.lab.monotonic_ns);
        let began = Timestamp::from_nanosecond(i128::from(before.lab.realtime_ns)).ok()?;
        began.checked_add(SignedDuration::from_nanos(since)).ok()
    }

    /// A moment on the lab's time axis may be wrong by so much at most, in nanoseconds; drift apart, where there was no second comparison.
    pub fn uncertainty_ns(&self) -> i64 {
        self.after.map_or(0, |after| after.uncertainty_ns).max(self.before.uncertainty_ns)
    }

    /// How the stand's `CLOCK_MONOTONIC` and the lab's went apart.
    pub fn drift(&self) -> Option<Drift> {
        let (before, after) = (self.before, self.after?);
        Some(Drift {
            gained_ns: after.monotonic_ahead_ns.saturating_sub(before.monotonic_ahead_ns),
            uncertainty_ns: after.uncertainty_ns.saturating_add(before.uncertainty_ns),
            within_ns: after.lab.monotonic_ns.saturating_sub(before.lab.monotonic_ns),
        })
    }

    /// By how much the stand's wall clock was set meanwhile, in nanoseconds; `None` if it was not. A clock that is only disciplined takes
    /// `CLOCK_MONOTONIC` with it, so the distance of a machine's two clocks changes by a step alone.
    pub fn was_set_by_ns(&self) -> Option<i64> {
        /// Readings of two clocks are this far apart at most.
        const APART_NS: i64 = 1_000_000;
        let (before, after) = (self.before, self.after?);
        let distance = |at: Comparison| {
            let there = (at.lab.realtime_ns.saturating_add(at.realtime_ahead_ns))
                .saturating_sub(at.lab.monotonic_ns.saturating_add(at.monotonic_ahead_ns));
            i128::from(there)
        };
        let step = i64::try_from(distance(after) - distance(before)).unwrap_or(i64::MAX);
        (step.saturating_abs() > APART_NS).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Asked at `at` of the lab's monotonic clock; there and back take these times; the stand is so far ahead.
    fn trip(at: i64, there_ns: i64, back_ns: i64, monotonic: i64, realtime: i64) -> RoundTrip {
        let lab = |moment: i64| Reading { monotonic_ns: moment, realtime_ns: 1_700_000_000 * SECOND + moment };
        let arrives = lab(at + there_ns);
        let there =
            Reading { monotonic_ns: arrives.monotonic_ns + monotonic, realtime_ns: arrives.realtime_ns + realtime };
        RoundTrip { asked: lab(at), there, answered_ns: at + there_ns + back_ns }
    }

    fn compared(at: i64, monotonic: i64, realtime: i64) -> Comparison {
        Comparison::of(&[trip(at, 1000, 1000, monotonic, realtime)]).unwrap()
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let trips = [
            trip(0, 900_000, 100_000, 5 * SECOND, -7),
            trip(2 * SECOND, 40_000, 60_000, 5 * SECOND, -7),
            trip(3 * SECOND, 10_000, 500_000, 5 * SECOND, -7),
        ];
        let compared = Comparison::of(&trips).unwrap();
        assert_eq!((compared.uncertainty_ns, compared.round_trips), (50_000, 3));
        assert_eq!(compared.lab.monotonic_ns, 2 * SECOND + 50_000);
        // The way there took 10 µs less than half.
        assert_eq!(compared.monotonic_ahead_ns, 5 * SECOND - 10_000);
        assert_eq!(compared.realtime_ahead_ns, -7 - 10_000);
    }

    #[test]
    fn nothing_comes_of_no_round_trip_or_of_one_that_went_back_in_time() {
        assert_eq!(Comparison::of(&[]), None);
        assert_eq!(Comparison::of(&[trip(0, 5, -10, 0, 0)]), None);
    }

    #[test]
    fn a_moment_there_is_a_moment_here() {
        let hour = 3600 * SECOND;
        let clocks = Clocks {
            before: compared(100 * SECOND, 50 * SECOND, hour),
            after: Some(compared(200 * SECOND, 50 * SECOND + 2_000_000, hour + 2_000_000)),
        };
        let at = |t_ns| clocks.in_lab_time(t_ns).unwrap().as_nanosecond();
        let lab = |moment: i64| i128::from(1_700_000_000 * SECOND + moment);
        assert_eq!(at(150 * SECOND), lab(100 * SECOND));
        assert!((at(200 * SECOND + 1_000_000) - lab(150 * SECOND)).abs() < 2000, "half of the drift");
        assert_eq!(at(250 * SECOND + 2_000_000), lab(200 * SECOND));
        // Outside, the clocks stay as far apart as they were.
        assert_eq!(at(149 * SECOND), lab(99 * SECOND));
        assert_eq!(at(260 * SECOND + 2_000_000), lab(210 * SECOND));
        let drift = clocks.drift().unwrap();
        assert_eq!((drift.gained_ns, drift.uncertainty_ns, drift.is_sure()), (2_000_000, 2000, true));
        assert_eq!(clocks.was_set_by_ns(), None, "drift is no step");
    }

    #[test]
    fn a_clock_that_is_set_is_told_from_one_that_drifts_and_from_the_labs() {
        let before = compared(0, 0, 0);
        let set = Clocks { before, after: Some(compared(10 * SECOND, 0, -3600 * SECOND)) };
        assert_eq!(set.was_set_by_ns(), Some(-3600 * SECOND));
        assert!(!set.drift().unwrap().is_sure());
        // The lab's clock is set by a minute: the stand's falls behind it and was not touched.
        let mut after = compared(10 * SECOND, 0, -60 * SECOND);
        after.lab.realtime_ns += 60 * SECOND;
        assert_eq!(Clocks { before, after: Some(after) }.was_set_by_ns(), None);
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_uncertainty(
            ways in prop::collection::vec((0..SECOND, 0..SECOND), 1..20),
            monotonic in -(1i64 << 60)..1 << 60,
        ) {
            let trips: Vec<_> = ways.iter().map(|(there, back)| trip(SECOND, *there, *back, monotonic, 0)).collect();
            let compared = Comparison::of(&trips).unwrap();
            prop_assert!((compared.monotonic_ahead_ns - monotonic).abs() <= compared.uncertainty_ns);
        }

        #[test]
        fn no_file_makes_it_overflow(numbers in prop::collection::vec(any::<i64>(), 11)) {
            let comparison = |n: &[i64]| Comparison {
                lab: Reading { monotonic_ns: n[0], realtime_ns: n[1] },
                monotonic_ahead_ns: n[2], realtime_ahead_ns: n[3], uncertainty_ns: n[4], round_trips: 1,
            };
            let clocks = Clocks { before: comparison(&numbers), after: Some(comparison(&numbers[5..])) };
            let _ = (clocks.in_lab_time(numbers[10]), clocks.drift().map(|drift| drift.is_sure()), clocks.was_set_by_ns(), clocks.uncertainty_ns());
        }
    }
}
