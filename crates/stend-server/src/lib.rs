//! The console and the API of a lab: a queue of runs, their repeats as they come, and pages.
//!
//! It measures nothing and draws nothing: `stend run` is started as a process of its own, and what a command prints as JSON, or a report as a page, is
//! passed on. What it has of its own is a queue ([`jobs`]), the events of a run ([`live`]) and who may ask ([`guard`]).

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod accounts;
mod agent;
mod api;
mod archive;
mod commands;
mod connections;
mod copies;
mod database;
mod error;
mod etag;
mod files;
mod fleet;
mod former;
mod gate;
mod guard;
mod health;
mod invitation;
mod jobs;
mod joined;
mod journal;
mod lab;
mod live;
mod metrics;
mod older;
mod openapi;
mod order;
mod pages;
mod parts;
mod peers;
mod problem;
mod retention;
mod rules;
mod schedule;
mod sensors;
mod settings;
mod tell;
#[cfg(test)]
mod testing;
mod throttle;
mod tls;
mod update;
mod work;

use std::cell::Cell;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::{delete, get, post};
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use stend_fleet::{LOOKS, Lookout};
use stend_stand::lock::{FileLock, LockError};
use stend_store::Store;
use tokio::signal::unix::{SignalKind, signal};

pub use accounts::{Role, User};
pub use agent::{Started, serve_agent};
pub use commands::{Printed, takes};
pub use error::ServerError;
pub use fleet::since_boot;
pub use joined::First;
pub use tls::Certificate;
pub use update::Updating;

use accounts::{Kind, Secret, fresh_secret};
use database::Database;
use fleet::{Fleet, NodeEntry};
use guard::{needs, now, same_site, signed_in};
use joined::Joined;
use lab::Lab;
use settings::Settings;
use tls::{Names, Tls};

/// Where a file is sent to: it is larger than other bodies, and has bounds of its own.
const IMPORTS: &str = "/api/v1/imports";

/// Where agents ask.
const OF_AGENTS: &str = "/api/v1/agent/";

/// What is served, and where.
#[derive(Debug)]
pub struct Served {
    /// The store's directory, which is there.
    pub store: PathBuf,
    /// The program that measures.
    pub program: PathBuf,
    /// Where to listen; port 0 is any that is free.
    pub listen: SocketAddr,
    /// The fleet to join, and what the node is called in it. A store that is a node's already needs none.
    pub fleet: Option<(String, Option<String>)>,
    /// What to serve TLS with. Beyond this machine it is always served, with a certificate that is made where none is given.
    pub certificate: Option<Certificate>,
}

/// What is to be told once it is served.
#[derive(Debug)]
pub struct Ready {
    /// The address to open. Where there are no users, it holds a token with which one browser signs in.
    pub url: String,
    /// Whether it holds a token.
    pub has_token: bool,
    /// The certificate's file and its SHA-256, if it is one that was made here.
    pub own_certificate: Option<(PathBuf, String)>,
}

/// Serves until it is told to end, by Ctrl-C or SIGTERM. Runs that are being measured go on; the next server has them.
///
/// # Errors
/// Somebody listens there, another server has the store, a file of it cannot be used, or nobody could sign in from another machine.
pub fn serve(served: Served, ready: impl FnOnce(Ready)) -> Result<(), ServerError> {
    let _lock = only_server(&served.store)?;
    let settings = Settings::read(&served.store)?;
    // A store that this version does not read would be said on each page.
    drop(Store::open_to_read(&served.store)?);
    let joined = match &served.fleet {
        Some((address, node)) => Some(Joined::join(&served.store, address, node.as_deref(), First::Any)?),
        None => Joined::read_whole(&served.store)?,
    };
    let database = Database::open(&served.store, joined.as_ref(), "server")?;
    let has_users = !database.known().users().is_empty();
    let is_beyond = !served.listen.ip().is_loopback();
    if is_beyond && !has_users {
        let said = format!(
            "--listen {}: others can reach it, and nobody can sign in yet: add a user with `stend users add NAME --role admin`",
            served.listen
        );
        return Err(ServerError::Refused(said));
    }
    let own = (is_beyond && served.certificate.is_none()).then(|| tls::own(&served.store, served.listen.ip()));
    let own = own.transpose()?;
    let tls = own.as_ref().or(served.certificate.as_ref()).map(Tls::read).transpose()?;
    let own_certificate_text = own.as_ref().map(|own| std::fs::read_to_string(&own.certificate)).transpose();
    let own_certificate_text = own_certificate_text.map_err(ServerError::system("the certificate"))?;
    let own_certificate = own.zip(tls.as_ref()).map(|(own, tls)| (own.certificate, tls.fingerprint()));
    // The one-time tokens of servers before this one open nothing more.
    let node = joined.as_ref().map_or("", |joined| &joined.node);
    while database.change(|edit| Ok(edit.forget_some(now(), Some(node))))? {}
    settings.make_places(&database, joined.is_none())?;
    // A file that was being sent when the last server was killed.
    let _ = std::fs::remove_dir_all(served.store.join("server-uploads"));
    files::remove_left(&served.store);
    // It is given to commands that run elsewhere.
    let at = served.store.canonicalize().map_err(ServerError::system("the store"))?;
    let served = Served { store: at, ..served };
    let token = (!has_users).then(fresh_secret);
    if let Some(token) = &token {
        let (kind, role) = (Kind::Once, Role::Admin);
        let secret = Secret { secret: token, kind, user: None, role, name: node, ends_at: None };
        database.change(|edit| {
            edit.keep_secret(&secret);
            Ok(())
        })?;
    }
    let refused = |source| ServerError::Listen { address: served.listen, source };
    let listener = TcpListener::bind(served.listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let home = joined::home(&served.store);
    let begin = |joined: &Joined| {
        let agreement = database.0.agreement();
        Fleet::begin(agreement, &joined.node, joined.lease, &home)?.with_secret(&**agreement)
    };
    let fleet = joined.as_ref().map(begin).transpose()?;
    let note = |kind, detail: &'static str| {
        database.change(|edit| {
            edit.note(kind, None, &address.to_string(), detail);
            Ok(())
        })
    };
    note(journal::Kind::ServerStarted, env!("CARGO_PKG_VERSION"))?;
    let runtime = runtime()?;
    let names = Arc::new(Names::new(address, tls.as_ref()));
    let lab = Arc::new(Lab::new(served.store, served.program, database.clone(), fleet, tls.is_some()));
    let copies = joined.as_ref().and_then(|joined| joined.copies);
    let url = joined.and_then(|joined| joined.url);
    let url = url.unwrap_or_else(|| format!("{}{}", names.scheme(), names.to_open()));
    fleet::start(&lab, NodeEntry::here(url, own_certificate_text));
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (
            signal(SignalKind::interrupt()).map_err(ServerError::system("signals"))?,
            signal(SignalKind::terminate()).map_err(ServerError::system("signals"))?,
        );
        tokio::spawn(work::dispatch(Arc::clone(&lab)));
        tokio::spawn(schedule::keep_time(Arc::clone(&lab)));
        if lab.fleet.is_some() {
            tokio::spawn(archive::keep(Arc::clone(&lab), copies));
        }
        settings.start(&lab);
        tokio::spawn(health::watch(Arc::clone(&lab), health::Places::here(), health::EVERY));
        let at = token.as_ref().map_or_else(String::new, |token| format!("sign-in?token={token}"));
        let url = format!("{}{}/{at}", names.scheme(), names.to_open());
        let pages = router(&lab, names).into_make_service_with_connect_info::<SocketAddr>();
        let server = connections::server(listener).map_err(ServerError::system("listening"))?;
        ready(Ready { url, has_token: token.is_some(), own_certificate });
        let bounded = connections::Bounded::new();
        let serving = async {
            match tls {
                None => server.acceptor(bounded).serve(pages).await,
                Some(tls) => {
                    let tls = RustlsAcceptor::new(RustlsConfig::from_config(tls.config));
                    server.acceptor(tls.acceptor(bounded)).serve(pages).await
                }
            }
        };
        tokio::select! {
            served = serving => served.map_err(ServerError::system("serving")),
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    })?;
    note(journal::Kind::ServerEnded, "")?;
    // Threads that wait for a run would hold the runtime until its end.
    runtime.shutdown_background();
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime, ServerError> {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    let made = threads.worker_threads(2).enable_all().build();
    made.map_err(ServerError::system("threads cannot be made"))
}

/// Sees to it that a store has one server.
fn only_server(store: &Path) -> Result<FileLock, ServerError> {
    FileLock::take(&store.join("server.lock")).map_err(|error| match error {
        LockError::Held(holder) => ServerError::Served(holder.to_string()),
        LockError::Unusable(source) | LockError::NotLocked(source) => ServerError::system("the server's lock")(source),
    })
}

fn router(lab: &Arc<Lab>, names: Arc<Names>) -> Router {
    let viewers = Router::new()
        .route("/", get(pages::lab::home))
        .route("/runs/{run}", get(pages::lab::run))
        .route("/runs/{run}/samples", get(pages::samples::samples))
        .route("/batches/{batch}", get(pages::lab::batch))
        .route("/report", get(pages::lab::report))
        .route("/machines/{machine}", get(pages::machine::machine))
        .route("/history", get(pages::results::history))
        .route("/references", get(pages::results::references))
        .route("/references/{reference}", get(pages::results::reference))
        .route("/rigs", get(pages::rigs::rigs))
        .route("/schedule", get(pages::schedule::schedule))
        .route("/access", get(pages::access::access))
        .route("/nodes", get(pages::nodes::nodes))
        .route("/sign-out", post(pages::access::sign_out))
        .route("/metrics", get(metrics::metrics))
        .route("/api/v1/runs", get(api::runs))
        .route("/api/v1/runs/{run}", get(api::run))
        .route("/api/v1/runs/{run}/events", get(api::events))
        .route("/api/v1/compare", get(api::compare))
        .route("/api/v1/commands/{command}", get(commands::printed))
        .route("/api/v1/suites", get(api::suites))
        .route("/api/v1/machines", get(api::machines))
        .route("/api/v1/jobs", get(api::jobs::jobs))
        .route("/api/v1/jobs/{job}", get(api::jobs::job))
        .route("/api/v1/batches/{batch}", get(api::jobs::batch))
        .route("/api/v1/files/{file}", get(api::files::file))
        .route("/api/v1/archive/{sha256}", get(archive::file))
        .route("/api/v1/programs/{sha256}", get(update::file))
        .route("/api/v1/nodes", get(api::nodes::nodes))
        .route("/api/v1/schedule", get(api::schedule::lines))
        .route("/api/v1/changes", get(api::changes))
        .route("/api/v1/me", get(api::accounts::me))
        .route("/api/v1/tokens", get(api::accounts::tokens));
    let in_person = Router::new()
        .route("/access/password", post(pages::access::own_password))
        .route("/access/tokens", post(pages::access::make_token))
        .route("/access/tokens/{token}/end", post(pages::access::end_token))
        .route("/api/v1/me/password", post(api::accounts::own_password))
        .route("/api/v1/tokens", post(api::accounts::make_token))
        .route("/api/v1/tokens/{token}", delete(api::accounts::end_token))
        .layer(from_fn(guard::in_person));
    let operators = Router::new()
        .route("/", post(pages::lab::start))
        .route("/jobs/{job}/stop", post(pages::lab::stop))
        .route("/batches/{batch}/stop", post(pages::lab::stop_batch))
        .route("/jobs/{job}/resume", post(pages::lab::resume))
        .route("/machines/{machine}/check", post(pages::machine::check))
        .route("/rigs", post(pages::rigs::up))
        .route("/rigs/{rig}/down", post(pages::rigs::down))
        .route("/rigs/{rig}/start", post(pages::rigs::start))
        .route("/rigs/{rig}/stop", post(pages::rigs::stop))
        .route("/rigs/{rig}/snapshots", post(pages::rigs::keep))
        .route("/rigs/{rig}/snapshots/{snapshot}/revert", post(pages::rigs::revert))
        .route("/rigs/{rig}/snapshots/{snapshot}/remove", post(pages::rigs::forget))
        .route("/rigs/{rig}/clones", post(pages::rigs::copy))
        .route("/rigs/{rig}/migrations", post(pages::migration::migrate))
        .route("/rigs/{rig}/arrivals", post(pages::migration::arrive))
        .route("/rigs/{rig}/departures/{word}", get(pages::migration::leave))
        .route("/rigs/{rig}/screen.png", get(pages::rigs::screen))
        .route("/rigs/{rig}/screen", get(pages::screen::screen))
        .route("/rigs/{rig}/screen/events", get(pages::screen::events))
        .route("/rigs/{rig}/screen/{viewer}", post(pages::screen::typed))
        .route("/schedule/{line}/remove", post(pages::schedule::remove))
        .route("/journal", get(pages::journal::journal))
        .route("/journal/{entry}/put-back", post(pages::journal::put_back))
        .route("/api/v1/plan", post(api::plan::plan))
        .route("/api/v1/jobs", post(api::jobs::start))
        .route("/api/v1/batches", post(api::jobs::start_batch))
        .route("/api/v1/jobs/{job}/stop", post(api::jobs::stop))
        .route("/api/v1/jobs/{job}/resume", post(api::jobs::resume))
        .route("/api/v1/files", post(api::files::keep))
        .route(IMPORTS, post(api::imports::import))
        .route("/api/v1/schedule", post(api::schedule::add))
        .route("/api/v1/schedule/{line}", delete(api::schedule::remove))
        .route("/api/v1/journal", get(api::journal::journal))
        .route("/api/v1/journal/{entry}/put-back", post(api::journal::put_back))
        .layer(from_fn_with_state(Arc::clone(lab), peers::pass_on))
        .layer(from_fn_with_state(Role::Operator, needs));
    let admins = Router::new()
        .route("/access/users", post(pages::access::add_user))
        .route("/access/users/{user}/role", post(pages::access::change_user))
        .route("/access/users/{user}/password", post(pages::access::reset_password))
        .route("/access/users/{user}/remove", post(pages::access::remove_user))
        .route("/api/v1/users", get(api::accounts::users).post(api::accounts::add_user))
        .route("/api/v1/users/{user}", delete(api::accounts::remove_user).patch(api::accounts::change_user))
        .route("/api/v1/users/{user}/password", post(api::accounts::reset_password))
        .layer(from_fn_with_state(Role::Admin, needs));
    let inside = viewers
        .layer(from_fn_with_state(Arc::clone(lab), peers::pass_on))
        .merge(in_person)
        .merge(operators)
        .merge(admins)
        .layer(from_fn_with_state(Arc::clone(lab), signed_in));
    let agents = Router::new()
        .route("/api/v1/agent/view", get(gate::watch))
        .route("/api/v1/agent/entries", get(gate::entries))
        .route("/api/v1/agent/changes", post(gate::commit))
        .route("/api/v1/agent/programs/{sha256}", get(update::file))
        .route("/api/v1/agent/archive/{sha256}", post(gate::keep))
        .layer(from_fn_with_state(Arc::clone(lab), gate::agents));
    Router::new()
        .route("/api/v1/join", post(invitation::join))
        .route("/api/v1/certificate", get(invitation::certificate))
        .merge(agents)
        .route("/sign-in", get(pages::access::sign_in).post(pages::access::signing_in))
        .route("/style.css", get(pages::style))
        .route("/live.js", get(pages::script))
        .route("/screen.js", get(pages::screen::script))
        .route("/novnc/{*file}", get(pages::screen::viewer))
        // Published, and no secret.
        .route("/api/v1/openapi.json", get(api::openapi))
        .route("/api/v1/output.schema.json", get(api::output_schema))
        .merge(inside)
        .fallback(pages::nothing)
        .layer(from_fn(etag::tagged))
        .layer(map_response(pages::in_problem_details))
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(connections::body_in_time))
        .layer(from_fn_with_state(names, same_site))
        .with_state(Arc::clone(lab))
}

/// Copies what the server of a store keeps, as it is at this moment, to a directory that is there.
///
/// # Errors
/// The server's file cannot be read, or not written there.
pub fn copy(store: &Path, to: &Path) -> Result<(), ServerError> {
    database::copy(store, to)
}

/// Makes the server of a store a node of the fleet at an address, and gives the node's name.
///
/// # Errors
/// It is of another fleet, the fleet does not answer, or it is not as `first` says.
pub fn join_fleet(store: &Path, address: &str, node: Option<&str>, first: First) -> Result<String, ServerError> {
    let _lock = only_server(store)?;
    if first == First::No && address.contains('#') {
        return Ok(invitation::join_by(store, address, node)?.node);
    }
    Ok(Joined::join(store, address, node, first)?.node)
}

/// Makes an invitation to the fleet of a store, which is good once and for an hour: for a node, or for the agent of this name.
///
/// # Errors
/// The store is of none, the name is none, or the fleet does not answer.
pub fn invite(store: &Path, agent: Option<&str>) -> Result<String, ServerError> {
    invitation::invite(store, agent)
}

/// Updates the fleet of a store to a program of this version and those that lie beside it, one node after the other. `told` is given how far it is.
///
/// # Errors
/// The store is of no fleet, the fleet does not answer, or the programs cannot be read.
pub fn update_fleet(store: &Path, program: &Path, told: impl FnMut(&Updating)) -> Result<Updating, ServerError> {
    update::update(store, program, told)
}

/// Ends an agent: from then on no node of the fleet of a store answers it.
///
/// # Errors
/// There is no such agent, the store is of no fleet, or the fleet does not answer.
pub fn revoke_agent(store: &Path, agent: &str) -> Result<(), ServerError> {
    invitation::revoke(store, agent)
}

/// Takes the server of a store out of its fleet, and gives the name that the node had.
///
/// # Errors
/// It is of none, is at work, or the fleet does not answer.
pub fn leave_fleet(store: &Path) -> Result<String, ServerError> {
    let _lock = only_server(store)?;
    let joined = Joined::read(store)?.ok_or_else(no_fleet)?;
    let node = joined.node.clone();
    joined.leave(store)?;
    Ok(node)
}

/// How the fleet of a store is, as its nodes say it by the API, in JSON. It listens until each node was heard, for as long as
/// `listening` is told at most.
///
/// # Errors
/// The store is of none, or the fleet does not answer.
pub fn fleet_status(store: &Path, listening: impl FnOnce(Duration)) -> Result<String, ServerError> {
    let joined = Joined::read(store)?.ok_or_else(no_fleet)?;
    let database = Database::open(store, Some(&joined), "status")?;
    let (mut lookout, began) = (Lookout::default(), std::time::Instant::now());
    let (agreement, looked_at) = (database.0.agreement(), Cell::new(Duration::ZERO));
    let clock = || {
        looked_at.set(began.elapsed());
        looked_at.get()
    };
    lookout.hear(&**agreement, clock)?;
    let first_look = looked_at.get();
    listening(joined.lease);
    // It beats four times in a lease, if it is not kept from it.
    let is_there = |silence| silence < looked_at.get() - first_look;
    let heard = loop {
        std::thread::sleep(joined.lease / LOOKS);
        let heard = lookout.hear(&**agreement, clock)?;
        if heard.values().all(|heard| is_there(heard.silence)) || looked_at.get() - first_look >= joined.lease {
            break heard;
        }
    };
    let (known, members) = (database.known(), agreement.members());
    let nodes = api::nodes::Nodes::of(&known, members, &joined.node, None, (&heard, &is_there));
    Ok(serde_json::to_string_pretty(&nodes).expect("it can be written"))
}

/// Removes finished runs from the fleet of a store, if it is of one, before they are removed from the store: so each node removes them.
///
/// # Errors
/// The fleet does not answer, or one of them is in the queue.
pub fn remove_from_fleet(store: &Path, runs: &[String]) -> Result<(), ServerError> {
    if runs.is_empty() {
        return Ok(());
    }
    let Some(joined) = Joined::read_whole(store)? else { return Ok(()) };
    archive::remove_runs(&Database::open(store, Some(&joined), "rm")?, runs, &joined.node)
}

/// Refuses a run that was removed from the fleet of a store: its nodes would remove it again.
///
/// # Errors
/// It was, or the fleet's file cannot be used. A fleet that does not answer now refuses nothing.
pub fn refuse_removed(store: &Path, run: &str) -> Result<(), ServerError> {
    let Some(joined) = Joined::read(store)? else { return Ok(()) };
    let Ok(Some(removed)) = archive::removed(&joined.etcd(store)?, run) else { return Ok(()) };
    let (at, on) = (tell::local(&removed.at), removed.on);
    Err(ServerError::Refused(format!(
        "run {run} was removed from the fleet on node {on}, {at}; another store takes it: --store"
    )))
}

fn no_fleet() -> ServerError {
    ServerError::Refused("this store is of no fleet: `stend fleet join` makes it a node of one".into())
}

/// Users of the server of a store, for whoever owns the store.
#[derive(Debug)]
pub struct Users(Database);

impl Users {
    /// Opens the users of a store's server, which may be serving meanwhile.
    ///
    /// # Errors
    /// The server's file cannot be used.
    pub fn open(store: &Path) -> Result<Self, ServerError> {
        Database::open(store, Joined::read_whole(store)?.as_ref(), "users").map(Self)
    }

    /// All, by name.
    ///
    /// # Errors
    /// The server's file cannot be read.
    pub fn all(&self) -> Result<Vec<User>, ServerError> {
        Ok(self.0.known().users())
    }

    /// Adds a user, and gives the password to sign in with.
    ///
    /// # Errors
    /// It is no name, or another user has it.
    pub fn add(&self, name: &str, role: Role) -> Result<String, ServerError> {
        api::accounts::add(&self.0, None, name, role).map(|made| made.password)
    }

    /// Gives a user another password and ends their sessions.
    ///
    /// # Errors
    /// There is no such user.
    pub fn renew(&self, name: &str) -> Result<String, ServerError> {
        api::accounts::renew(&self.0, None, name).map(|made| made.password)
    }

    /// Removes a user with their sessions and tokens.
    ///
    /// # Errors
    /// There is no such user, or they are the last admin.
    pub fn remove(&self, name: &str) -> Result<(), ServerError> {
        api::accounts::remove(&self.0, None, name)
    }
}
