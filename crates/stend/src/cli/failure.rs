//! How a command ends: its exit status, and the one line that says why.

use stend_model::cause::Cause;

use std::fmt;
use std::process::ExitCode;

use stend_lab::rig::Refusal;
use stend_lab::run::NotWhole;
use stend_report::words;
use stend_report::words::language::Language;
use stend_store::StoreError;

/// The exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    /// All is well.
    Fine = 0,
    /// A threshold was crossed.
    Crossed = 1,
    /// The command line or a configuration is wrong.
    Usage = 2,
    /// Measured, but not as asked.
    Unsteady = 3,
    /// The machine, a tool or the store cannot be used.
    Unusable = 4,
    /// Interrupted; can be resumed.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    error: anyhow::Error,
    /// Whether it stopped a run that had begun and can be gone on with.
    stopped: bool,
}

impl Failure {
    /// The user asked for something that makes no sense.
    pub(super) fn usage(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, error: anyhow::Error::msg(message.to_string()), stopped: false }
    }

    /// Something that is needed is missing or does not work.
    pub(super) fn unusable(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Unusable, error: anyhow::Error::msg(message.to_string()), stopped: false }
    }

    /// A machine that does not say what it is.
    #[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
    pub(super) fn nameless(cause: Cause) -> Self {
        let cause = words::cause(&cause, Language::English);
        Self::unusable(format!("the machine does not say what it is: {cause}"))
    }

    /// The same, of a run that had begun.
    pub(super) fn that_stopped_a_run(self) -> Self {
        Self { stopped: true, ..self }
    }

    /// Whether it stopped a run that had begun and can be gone on with.
    pub(super) fn has_stopped_a_run(&self) -> bool {
        self.stopped
    }

    /// The same, with what to type next behind it.
    pub(super) fn and_then(self, next: &str) -> Self {
        Self { error: anyhow::anyhow!("{self}; {next}"), ..self }
    }

    pub(super) fn exit(&self) -> Exit {
        if self.is_closed_pipe() { Exit::Fine } else { self.exit }
    }

    /// Whether all that went wrong is that nobody reads the output any more.
    pub(super) fn is_closed_pipe(&self) -> bool {
        let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        self.error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(closed))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let exit = match refusal {
            Refusal::Usage(_) => Exit::Usage,
            Refusal::Unusable(_) => Exit::Unusable,
            Refusal::Interrupted => Exit::Interrupted,
        };
        Self { exit, error: refusal.into(), stopped: false }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        if let Some(NotWhole { scenario, cause }) = error.downcast_ref() {
            let cause = words::cause(cause, Language::English);
            let ends = "the target is not whole any more, so the run ends here";
            return Self::unusable(format!("scenario \"{scenario}\": {cause}; {ends}"));
        }
        let exit = match error.downcast_ref::<StoreError>() {
            Some(error) => exit_of(error),
            None => Exit::Unusable,
        };
        Self { exit, error, stopped: false }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { exit: exit_of(&error), error: error.into(), stopped: false }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { exit: Exit::Unusable, error: error.into(), stopped: false }
    }
}

fn exit_of(error: &StoreError) -> Exit {
    match error {
        StoreError::NoSuchRun(_)
        | StoreError::Side(_)
        | StoreError::Empty
        | StoreError::TooFarBack { .. }
        | StoreError::Ambiguous(..)
        | StoreError::Sessions(..)
        | StoreError::LabelTaken { .. }
        | StoreError::BadExport { .. }
        | StoreError::CutOff { .. }
        | StoreError::StrayProfile { .. }
        | StoreError::Different { .. } => Exit::Usage,
        _ => Exit::Unusable,
    }
}
