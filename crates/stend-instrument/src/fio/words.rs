//! What fio says against what it was asked for.

use stend_model::cause::Cause;
use stend_model::wire::quote;

use crate::Finished;
use crate::parameters::{self, last_words};

/// Errors by which a file, a disk or an engine refuses what is asked of it, and would again: `errno` of EPERM, ENOENT, EACCES, ENODEV, ENOTDIR,
/// EISDIR, EINVAL, EFBIG, ENOSPC, EROFS, ENOSYS, EOPNOTSUPP, EDQUOT.
const LASTING: [i64; 13] = [1, 2, 13, 19, 20, 21, 22, 27, 28, 30, 38, 95, 122];

/// The same where fio says it only in words.
const LASTING_WORDS: [&str; 5] =
    ["No space left on device", "Disk quota exceeded", "Read-only file system", "Not a directory", "Permission denied"];

/// Fails unless fio exited with status 0; quotes its first error.
pub(super) fn ended_well(finished: &Finished) -> Result<(), Cause> {
    parameters::ended_well("fio", finished, first_words)
}

/// The first line that says what is wrong: what follows from it stands behind it. Empty if there is no line.
pub(super) fn first_words(said: &str) -> String {
    first_error(said).map_or_else(|| last_words(said), quote)
}

/// The first line that says what is wrong.
pub(super) fn first_error(said: &str) -> Option<&str> {
    let mut lines = said.lines().map(|line| line.trim().trim_start_matches("fio: "));
    lines.find(|line| !line.is_empty() && !is_beside(line))
}

/// Whether a line only advises, or says what followed from an error.
fn is_beside(line: &str) -> bool {
    let advises = ["note:", "hint:", "Did you mean", "valid values", ":", "set debug option"];
    advises.iter().any(|words| line.starts_with(words)) || (line.starts_with("job ") && line.ends_with(" dropped"))
}

/// Whether fio, which failed for this reason, would fail in the same way again.
pub(super) fn lasts(cause: &Cause, finished: &Finished) -> bool {
    let number = |(_, rest): (&str, &str)| {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest[..digits].parse::<i64>().ok()
    };
    let said = finished.stderr.split_once(" err=").and_then(number);
    let told = match cause {
        Cause::FioJobFailed { error, .. } => Some(*error),
        _ => None,
    };
    let in_words = || LASTING_WORDS.iter().any(|words| finished.stderr.contains(words));
    let not_taken = finished.stderr.contains(" not loadable") || finished.stderr.contains(" dropped");
    not_taken || in_words() || said.or(told).is_some_and(|number| LASTING.contains(&number))
}

/// Whether a fio that lists these engines has this one.
pub(crate) fn has_engine(listed: &str, engine: &str) -> bool {
    listed.lines().any(|line| line.trim() == engine)
}

/// Why a fio that lists these engines cannot be used, if it lacks one.
pub(super) fn no_engine(engine: &str, listed: &str) -> Option<Cause> {
    // What is given by a variable, fio finds itself.
    let elsewhere = engine.contains('$');
    let name = engine.split(',').next().unwrap_or(engine);
    let name = if name.starts_with("linuxaio") || name.starts_with("aio") { "libaio" } else { name };
    // One that lists none says nothing.
    let silent = !listed.lines().any(|line| line.starts_with(char::is_whitespace));
    (!elsewhere && !silent && !has_engine(listed, name)).then(|| Cause::EngineMissing { engine: name.to_owned() })
}
