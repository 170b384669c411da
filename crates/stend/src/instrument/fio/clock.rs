//! Unix times of fio's logs on the machine's monotonic clock.

use stend_model::wire::Usage;

/// By so much the report's time and the last line of the logs may differ, in milliseconds, besides two windows. fio has to put its
/// report together, and a slow disk has to take it.
const SLACK_MS: f64 = 10_000.0;

/// Puts Unix times of fio's logs on the machine's monotonic clock. fio writes its report as the last thing that it does, so
/// the report's Unix time and the command's end are the same moment, to a few milliseconds.
///
/// fio reads the Unix time once, when it starts, and counts on from there by the monotonic clock; only the report's time is read at the
/// end. So where somebody sets the clock meanwhile, the two do not fit together, and the last line of the logs is taken for the end. A report
/// that is only late fits: fio writes out what its jobs wrote (`end_fsync`), or what the user asked for (`exec_postrun`) takes its time.
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
        let step_ms = logged_ms.filter(|_| known).and_then(|(first, last)| {
            let late = written_ms - last;
            (late < -slack || (late > slack && written_ms - first > all_ms + slack)).then_some(late)
        });
        Self {
            started_ns,
            end_ns: started_ns.saturating_add_unsigned(usage.wall_ns),
            end_ms: last_ms.filter(|_| step_ms.is_some() || !known).unwrap_or(written_ms),
            step_ms,
        }
    }

    /// The command's end.
    pub(super) fn end_ns(&self) -> i64 {
        self.end_ns
    }

    /// What is to be said of a clock that was set while fio ran.
    pub(super) fn complaint(&self) -> Option<String> {
        let step = self.step_ms?;
        Some(format!("the machine's clock was set by about {:.0} s while fio ran", step / 1e3))
    }

    /// A Unix time in milliseconds as nanoseconds of the monotonic clock, never outside the command's time.
    pub(super) fn monotonic_ns(&self, ms: f64) -> i64 {
        let before_end = ((self.end_ms - ms) * 1e6) as i64;
        self.end_ns.saturating_sub(before_end).clamp(self.started_ns, self.end_ns)
    }
}
