//! The console and the API of a lab: a queue of runs, their repeats as they come, and pages.
//!
//! It measures nothing and draws nothing: `stend run` is started as a process of its own, and what a command prints as JSON, or a report as a page, is
//! passed on. What it has of its own is a queue ([`jobs`]), the events of a run ([`live`]) and who may ask ([`guard`]).

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod error;
mod guard;
mod jobs;
mod lab;
mod live;
mod openapi;
mod pages;
mod problem;
mod work;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};
use stend_stand::lock::{FileLock, LockError};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub use error::ServerError;
use guard::{ONCE, digest, fresh_secret, now, same_site, signed_in};
use jobs::Jobs;
use lab::Lab;

/// No order is longer.
const LONGEST_BODY: usize = 64 * 1024;

/// What is served, and where.
#[derive(Debug)]
pub struct Served {
    /// The store's directory, which is there.
    pub store: PathBuf,
    /// The program that measures.
    pub program: PathBuf,
    /// Where to listen; port 0 is any that is free.
    pub listen: SocketAddr,
}

/// Serves until it is told to end, by Ctrl-C or SIGTERM. `ready` gets the address and the token with which one browser signs in. Runs that are being
/// measured go on; the next server has them.
///
/// # Errors
/// Somebody listens there, another server has the store, or a file of it cannot be used.
pub fn serve(served: Served, ready: impl FnOnce(SocketAddr, &str)) -> Result<(), ServerError> {
    let _lock = FileLock::take(&served.store.join("server.lock")).map_err(|error| match error {
        LockError::Held(holder) => ServerError::Served(holder.to_string()),
        LockError::Unusable(source) | LockError::NotLocked(source) => {
            ServerError::System { what: "the server's lock", source }
        }
    })?;
    let jobs = Jobs::open(&served.store)?;
    let token = fresh_secret();
    jobs.forget_old(ONCE, now())?;
    jobs.keep_secret(&digest(&token), ONCE, None)?;
    let failed = |what| move |source| ServerError::System { what, source };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(failed("threads cannot be made"))?;
    let lab = Arc::new(Lab::new(served.store, served.program, jobs));
    runtime.block_on(async move {
        let refused = |source| ServerError::Listen { address: served.listen, source };
        let listener = TcpListener::bind(served.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (mut interrupt, mut terminate) = (
            signal(SignalKind::interrupt()).map_err(failed("signals"))?,
            signal(SignalKind::terminate()).map_err(failed("signals"))?,
        );
        tokio::spawn(work::dispatch(Arc::clone(&lab)));
        ready(address, &token);
        let told_to_end = async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        tokio::select! {
            served = axum::serve(listener, router(lab, address)) => served.map_err(failed("serving")),
            () = told_to_end => Ok(()),
        }
    })?;
    // Threads that wait for a run would hold the runtime until its end.
    runtime.shutdown_background();
    Ok(())
}

fn router(lab: Arc<Lab>, address: SocketAddr) -> Router {
    let of_program = Router::new()
        .route("/runs", get(api::runs))
        .route("/runs/{run}", get(api::run))
        .route("/runs/{run}/events", get(api::events))
        .route("/compare", get(api::compare))
        .route("/suites", get(api::suites))
        .route("/machines", get(api::machines))
        .route("/jobs", get(api::jobs).post(api::start))
        .route("/jobs/{job}", get(api::job))
        .route("/jobs/{job}/stop", post(api::stop))
        .route("/jobs/{job}/resume", post(api::resume))
        .route("/tokens", post(api::token));
    let inside = Router::new()
        .nest("/api/v1", of_program)
        .route("/", get(pages::home).post(pages::start))
        .route("/runs/{run}", get(pages::run))
        .route("/report", get(pages::report))
        .route("/jobs/{job}/stop", post(pages::stop))
        .route("/jobs/{job}/resume", post(pages::resume))
        .route("/tokens", post(pages::token))
        .route("/sign-out", post(pages::sign_out))
        .layer(from_fn_with_state(Arc::clone(&lab), signed_in));
    Router::new()
        .route("/sign-in", get(pages::sign_in).post(pages::signing_in))
        .route("/style.css", get(pages::style))
        .route("/live.js", get(pages::script))
        // Published, and no secret.
        .route("/api/v1/openapi.json", get(api::openapi))
        .route("/api/v1/output.schema.json", get(api::output_schema))
        .merge(inside)
        .fallback(pages::nothing)
        .layer(map_response(pages::in_problem_details))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(address, same_site))
        .with_state(lab)
}
