//! Why a repeat does not count, was not measured, or could not be profiled; why something of a machine is not known. These are facts: whoever tells them puts them into words, in the reader's language.

#![allow(missing_docs, reason = "the fields are named after what they hold, and the variants say the rest")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::checked::Checks;
use crate::quantity::Span;
use crate::wire::Deed;

/// One reason. Shares are of one, frequencies in Hz. `said` quotes what a program or the system said, and is empty where nothing was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    // What makes a repeat invalid: a gate.
    /// The hypervisor took away more of the machine's CPU time than the gate allows.
    Steal { share: f64, limit: f64 },
    /// Other programs used more of the machine's CPU time than the gate allows.
    ForeignCpu { share: f64, limit: f64 },
    /// The same of the machine that a guest runs on: the hypervisor below it.
    StealOfHost { share: f64, limit: f64 },
    /// Of that machine's CPU time others than the guest used more than the gate allows.
    ForeignCpuOfHost { share: f64, limit: f64 },
    /// The clock fell by more than the gate allows.
    ClockFell { share: f64, limit: f64, before_hz: f64, after_hz: f64 },
    /// Pages were swapped in or out.
    Swapping { pages: f64, limit: f64 },
    /// Processors were slowed down for their heat.
    Throttling { times: f64, limit: f64 },

    // The work and the figures.
    /// The work was verified and is wrong.
    WorkWrong { evidence: Checks },
    /// A test suite did not run to its end.
    TestsCut { evidence: Checks },
    /// The work was not verified, and the suite does not say that it cannot be.
    WorkUnverified,
    /// The instrument did not report what a metric needs.
    MetricMissing { metric: String, value: String },
    /// The other repeat of the pair does not count.
    PartnerMissing,

    // Servers.
    /// The server that was loaded ended meanwhile.
    ServerEnded { server: String, said: String },
    /// The server could not be prepared or started.
    ServerNotMade { server: String, said: String },

    // Faults.
    /// The load ended before a fault was due.
    FaultTooLate { fault: Deed, at: Span },
    /// A fault could not be made, or not mended.
    FaultFailed { fault: Deed, said: String },
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
    MomentUnknown { fault: Deed },
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
    /// More tests than are kept.
    TooManyTests { most: usize },
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
    /// The tool's time was not measured.
    ToolUntimed { tool: String },
    /// A test suite told of no test.
    NoTests { said: String },
    /// Where a tool behind an adapter does not read again what it wrote.
    NotReadAgain { tool: String },

    // What is not known.
    /// The machine could not be asked.
    Unasked { said: String },
    /// What asks the machine ended before it had asked all.
    AskedInPart,
    /// There is no such file or directory.
    NotThere { file: String },
    /// A file or a directory may not be read.
    NotReadable { file: String },
    /// A file or a directory cannot be read for another reason.
    Unread { file: String, said: String },
    /// None of these says it.
    Silent { sources: Vec<String> },
    /// What should count it does not.
    Uncounted { source: String },
    /// None of these programs is on the machine's `PATH`.
    NoneOnPath { tools: Vec<String> },

    /// It can be taken out, so it is no part of the machine.
    Removable,

    // Why the figures of a load lack something.
    /// The load does not say when it began.
    BeginUnknown,
    /// This was not read close enough to the beginning and the end of the load.
    NotReadAround { metric: String },
    /// The CPU time of this was not read.
    CpuTimeUnread { of: String },
    /// There are too few windows before a fault.
    TooFewWindows,
    /// The load was not back before it ended.
    NotBack,
    /// The machine's clock was set while fio ran, by about so many seconds.
    ClockSet { seconds: f64 },
    /// fio's logs have no window of this length.
    NoWindow { window: Span },
    /// fio's own report is too large to be kept.
    OwnReportTooLarge { mib: usize, most_mib: usize },

    // Why a scenario is left out.
    /// Another version of the tool is needed.
    ToolTooOld { tool: String, version: String, needed: String },
    /// The tool does not say its version.
    ToolVersionUnknown { tool: String, version: String, needed: String },
    /// fio lacks an engine.
    EngineMissing { engine: String },
    /// The openssl command has no such algorithm, with this engine and provider.
    AlgorithmMissing { algorithm: String, said: String },
    /// The file system of the directory for runs' files lies on no block device.
    NoBlockDevice { source: String },
    /// The machine has fewer processors online.
    ProcessorsMissing { needed: u32, online: u32 },
    /// A side sets a parameter that the scenario lacks.
    ParameterLacking { parameter: String },
    /// The sides differ in what native instruments are built with, and the scenario has none of those.
    NotNative,
    /// The sides differ in their target, and the scenario does not load it.
    NotOnTarget,
    /// Without a lab nobody makes faults.
    FaultsNeedLab,
    /// It loads a server, which a lab starts and stops.
    ServerNeedsLab,
    /// The server stands on the guest's host, to which the guest has no network.
    NoNetworkToHost,
    /// Without a lab nobody reads what a real tool prints.
    ToolsNeedLab,

    // Tools that scenarios need, and profilers.
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

/// Why an instrument lacks something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Why {
    /// A fact.
    Fact(#[schemars(schema_with = "fact")] Cause),
    /// What an instrument says.
    Said(String),
}

/// What stands in the schemas for a fact of `stend`'s own: all of their variants would hide the rest.
pub(crate) fn fact(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "description": "a fact of stend's own" })
}

impl From<Cause> for Why {
    fn from(cause: Cause) -> Self {
        Self::Fact(cause)
    }
}

impl From<&str> for Why {
    fn from(words: &str) -> Self {
        Self::Said(words.to_owned())
    }
}
