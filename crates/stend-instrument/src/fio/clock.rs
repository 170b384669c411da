//! Unix times of fio's logs on the machine's monotonic clock.

use stend_model::cause::Cause;
use stend_model::wire::Usage;

/// By so much the report's time and the last line of the logs may differ, in milliseconds, besides two windows. fio has to put its
/// report together, and a slow disk has to take it.
const SLACK_MS: f64 = 10_000.0;

/// Smaller steps of the clock than this, in milliseconds, move no sample that anybody would see, and may come from reading the clocks.
const LEAST_STEP_MS: f64 = 5.0;

/// Puts Unix times of fio's logs on the machine's monotonic clock. fio writes its report as the last thing that it does, so
/// the report's Unix time and the command's end are the same moment, to a few milliseconds.
///
/// fio reads the Unix time once, when it starts, and counts on from there by the monotonic clock; only the report's time is read at the
/// end. So where somebody sets the clock meanwhile, the two do not fit together. The guard says by how much it was set; where it does not,
/// as one of an older run, the last line of the logs is taken for the end if the two are far apart. A report that is only late fits: fio
/// writes out what its jobs wrote (`end_fsync`), or what the user asked for (`exec_postrun`) takes its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    started_ns: i64,
    end_ns: i64,
    end_ms: f64,
    step_ms: Option<f64>,
}

impl Clock {
    /// `written_ms` is when the report was written, in milliseconds of Unix time, 0 if unknown; `logged_ms` are the first and the last line
    /// of the logs, whose windows are so long.
    pub(super) fn new(
        usage: &Usage,
        started_ns: i64,
        written_ms: f64,
        logged_ms: Option<(f64, f64)>,
        window_ms: f64,
    ) -> Self {
        let slack = SLACK_MS + 2.0 * window_ms;
        let known = written_ms > 0.0;
        let last_ms = logged_ms.map(|(_, last)| last);
        let all_ms = usage.wall_ns as f64 * 1e-6;
        let told_ms = usage.clock_step_ns.map(|step| step as f64 * 1e-6).filter(|step| step.abs() >= LEAST_STEP_MS);
        let guessing = known && usage.clock_step_ns.is_none();
        let guessed_ms = logged_ms.filter(|_| guessing).and_then(|(first, last)| {
            let late = written_ms - last;
            (late < -slack || (late > slack && written_ms - first > all_ms + slack)).then_some(late)
        });
        // The clock may have been set before fio looked at it, while the files were laid out. Then report and logs fit as they are.
        let meanwhile_ms = told_ms.filter(|step| {
            known && last_ms.is_some_and(|last| (written_ms - step - last).abs() < (written_ms - last).abs())
        });
        let end_ms = match (meanwhile_ms, guessed_ms, last_ms) {
            (Some(step), ..) => written_ms - step,
            (None, Some(_), Some(last)) => last,
            (None, None, Some(last)) if !known => last,
            _ => written_ms,
        };
        let end_ns = started_ns.saturating_add_unsigned(usage.wall_ns);
        Self { started_ns, end_ns, end_ms, step_ms: told_ms.or(guessed_ms) }
    }

    /// The command's end.
    pub(super) fn end_ns(&self) -> i64 {
        self.end_ns
    }

    /// What is to be said of a clock that was set while fio ran.
    pub(super) fn complaint(&self) -> Option<Cause> {
        let step = self.step_ms?;
        Some(Cause::ClockSet { seconds: (step / 100.0).round() / 10.0 })
    }

    /// A Unix time in milliseconds as nanoseconds of the monotonic clock, never outside the command's time.
    pub(super) fn monotonic_ns(&self, ms: f64) -> i64 {
        let before_end = ((self.end_ms - ms) * 1e6) as i64;
        self.end_ns.saturating_sub(before_end).clamp(self.started_ns, self.end_ns)
    }
}
