//! What the server could not do.

use std::net::SocketAddr;
use std::path::PathBuf;

use stend_fleet::{Lost, Trouble};
use stend_store::StoreError;
use thiserror::Error;

/// What the server could not do, in one line.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Nobody can listen there.
    #[error("{address} cannot be listened on: {source}; give another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another server has this store.
    #[error("another `stend serve` has this store{0}")]
    Served(String),
    /// The server's file cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// What is kept beside the store cannot be read or changed.
    #[error(transparent)]
    Agreement(#[from] Trouble),
    /// A job is another node's.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was asked for cannot be done.
    #[error("{0}")]
    Refused(String),
    /// What was asked for is not there.
    #[error("{0}")]
    Missing(String),
    /// The system refused something else.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl ServerError {
    /// What the system refused that was tried.
    pub(crate) fn system(what: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
