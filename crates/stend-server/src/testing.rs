//! What unit tests of this crate have in common.

use tempfile::TempDir;

use crate::database::Database;

/// What a server keeps beside a store of its own.
pub(crate) fn database() -> (TempDir, Database) {
    let store = tempfile::tempdir().expect("a directory");
    let database = Database::open(store.path(), None, "test").expect("a database");
    (store, database)
}

/// Runs something on a clock that goes on to the next deadline as soon as all waits: what takes minutes is over at once.
pub(crate) fn with_a_given_clock<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(what)
}
