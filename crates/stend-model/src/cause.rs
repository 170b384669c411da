//! Why a repeat does not count, was not measured, or could not be profiled. These are facts: whoever tells them puts them into words, in the reader's language.

#![allow(missing_docs, reason = "the fields are named after what they hold, and the variants say the rest")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Span;

/// One reason. Shares are of one, frequencies in Hz. `said` quotes what a program or the system said, and is empty where nothing was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    // What makes a repeat invalid: a gate.
    /// The hypervisor took away more of the machine's CPU time than the gate allows.
    Steal { share: f64, limit: f64 },
    /// Other programs used more of the machine's CPU time than the gate allows.
    ForeignCpu { share: f64, limit: f64 },
    /// The clock fell by more than the gate allows.
    ClockFell { share: f64, limit: f64, before_hz: f64, after_hz: f64 },
    /// Pages were swapped in or out.
    Swapping { pages: f64, limit: f64 },
    /// Processors were slowed down for their heat.
    Throttling { times: f64, limit: f64 },

    // The work and the figures.
    /// The work was verified and is wrong.
    WorkWrong { evidence: String },
    /// The work was not verified, and the suite does not say that it cannot be.
    WorkUnverified,
    /// The instrument did not report what a metric needs.
    MetricMissing { metric: String, value: String },
    /// The other repeat of the pair does not count.
    PartnerMissing,

    // Faults.
    /// The load ended before a fault was due.
    FaultTooLate { fault: String, at: Span },
    /// A fault could not be made, or not mended.
    FaultFailed { fault: String, said: String },
    /// A scrub found errors that it could not mend.
    ScrubErrors { disk: u32, errors: f64 },
    /// A scrub could not be made.
    ScrubFailed { disk: u32, said: String },
    /// A disk was not mended within the longest time that is waited for it.
    DiskNotMended { disk: u32, limit: Span },
    /// A disk could not be rebuilt.
    RebuildFailed { disk: u32, tries: u32, said: String },
    /// A disk could not be rebuilt for lack of space that no LUN takes.
    RebuildFull { disk: u32, tries: u32 },
    /// What was replaced could not be made ready for its next use.
    DiskNotRenewed { disk: u32, said: String },
    /// The error counters of a disk could not be read.
    ErrorsUnread { disk: u32, said: String },
    /// The machine did not say when a fault was.
    MomentUnknown { fault: String },
    /// A pool that failed could not be brought up again.
    PoolDown { said: String },
    /// What is left of a pool that failed could not be read.
    RemainsUnread { why: Box<Cause> },

    // How an instrument ended.
    /// Its time was up, and it was ended.
    TimedOut { limit: Span },
    /// Its time was up, and it could not be ended.
    TimedOutAlive { limit: Span },
    /// It exited with a status other than 0.
    Exited { status: i32, said: String },
    /// It was ended by a signal.
    Killed { signal: i32, said: String },
    /// It is not known how it ended.
    EndUnknown { said: String },
    /// It does not understand how it was started: status 2.
    Misused { said: String },
    /// The guard died.
    GuardDied,
    /// The link dropped, or the guard at its other end died.
    LinkDropped,
    /// Its files could not be written.
    FilesUnwritten { said: String },
    /// Its parameters are not taken.
    Parameters { said: String },
    /// Its rate is a share of a scenario that has no repeat that counts.
    RateUnknown { of: String },

    // What an instrument printed.
    /// More lines than are read.
    TooManyLines { most: usize },
    /// More bytes than are read.
    TooMuchPrinted { most_mib: usize },
    /// More marks than are kept.
    TooManyMarks { most: usize },
    /// A line that is no event.
    NoEvent { said: String },
    /// A second `begin`.
    SecondBegin,
    /// No `begin`.
    NoBegin,
    /// No `repeat`.
    NoRepeat,
    /// Several `repeat` events.
    ManyRepeats { count: usize },
    /// No `end`.
    NoEnd,
    /// A histogram of latencies that is none.
    LatenciesWrong { said: String },

    // Tools behind adapters.
    /// The tool exited with a status other than 0.
    ToolExited { tool: String, status: i32, said: String },
    /// The tool was ended by a signal.
    ToolKilled { tool: String, signal: i32, said: String },
    /// The tool's time was up.
    ToolTimedOut { tool: String, said: String },
    /// It is not known how the tool ended.
    ToolEndUnknown { tool: String, said: String },
    /// A line of the tool's output, or of one of its logs, is not understood.
    ToolLine { output: String, said: String },
    /// fio's report is cut off, or no JSON; `said` is the line.
    FioReportCut { error: String, said: String },
    /// fio's report is JSON, and not what fio reports.
    FioReportOther { error: String },
    /// There is no report.
    FioReportMissing { said: String },
    /// The report has another number of groups of jobs.
    FioGroups { count: usize, wanted: usize },
    /// A job failed; `error` is an `errno`, `errors` how many there were.
    FioJobFailed { job: String, error: i64, errors: f64, said: String },
    /// A job read other data than were written.
    FioDataWrong { job: String, said: String },
    /// fio did no operation.
    FioIdle { said: String },
    /// A figure computed from the report is negative or infinite.
    FioFigure { name: String, figure: String },
    /// fio read again other LUNs than there were.
    FioLunsRead { count: usize, wanted: usize },
    /// fio does not account for all that it read again, in bytes.
    FioBytesRead { job: String, tried: f64, wanted: f64, accounted: f64 },
    /// A file that fio was to write is not there.
    FioFileMissing { file: String },
    /// openssl counted in another number of processes.
    OpensslProcesses { count: usize, wanted: usize, said: String },
    /// openssl counted too little, or for too short a time, in seconds.
    OpensslCount { operations: f64, seconds: f64, wanted: f64, said: String },
    /// gzip's time was not measured.
    GzipUntimed,
    /// Where a tool behind an adapter does not read again what it wrote.
    NotReadAgain { tool: String },

    // Profilers.
    /// The tool is not on the machine's `PATH`.
    ToolMissing { tool: String },
    /// The system forbids what the tool does.
    ToolForbidden { tool: String, said: String },
    /// The tool does not work on the machine.
    ToolBroken { tool: String, said: String },
    /// The tool wrote nothing that can be used.
    ToolSilent { tool: String },
    /// perf may not see the kernel; `level` is `kernel.perf_event_paranoid`.
    KernelUnseen { level: String },
    /// The kernel hides the names of its functions; `level` is `kernel.kptr_restrict`.
    KernelNameless { level: String },
}
