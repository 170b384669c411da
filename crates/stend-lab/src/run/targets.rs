//! What a run loads, its target and its servers, while it is loaded: made before the first repeat that loads it, and anew where the next repeat's side
//! has another one.
//!
//! Which one stands is nobody's state: a session begins without any, and a repeat keeps what was found of the one that it loaded.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::run::Run;
use stend_model::server::{Server, plain_name};
use stend_model::target::TargetOfRun;

use super::Observer;
use crate::rig::servers::{self, Standing};
use crate::rig::watched::{Watched, watched};
use crate::rig::{self, Injector, Needs, Obstacle, Refusal, Up};
use stend_instrument::LunAddress;
use stend_stand::host::Host;
use stend_stand::interrupt::Interrupt;

/// What makes the run's target and servers.
pub(super) struct Rig<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) probe: &'a str,
    /// Where all runs' files lie, and targets beside them.
    pub(super) all_work: &'a str,
    pub(super) run: &'a Run,
    pub(super) interrupt: &'a Interrupt,
    stands: Option<Stands<'a>>,
    /// The servers that were asked for: as what, and where each is, or why it is not.
    servers: BTreeMap<String, (Server, Result<Standing, Cause>)>,
}

/// A target that stands.
struct Stands<'a> {
    of_run: &'a TargetOfRun,
    up: Up,
    watched: Watched,
    found: BTreeMap<String, String>,
}

impl<'a> Rig<'a> {
    pub(super) fn new(
        host: &'a dyn Host,
        probe: &'a str,
        all_work: &'a str,
        run: &'a Run,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self { host, probe, all_work, run, interrupt, stands: None, servers: BTreeMap::new() }
    }

    /// Sees to it that what a side loads stands, if the run has any of it: the target, and this server. Whether something was made for that. A server
    /// that cannot be made is the matter of those that load it.
    ///
    /// # Errors
    /// The target cannot be made, or the user interrupted it. Then none stands.
    pub(super) fn turn_to(
        &mut self,
        side: Option<usize>,
        server: Option<&str>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Refusal> {
        let turned = server.map_or(Ok(false), |server| self.turn_server_to(side, server, observer))?;
        Ok(self.turn_target_to(side, observer)? || turned)
    }

    fn turn_server_to(
        &mut self,
        side: Option<usize>,
        name: &str,
        observer: &mut dyn Observer,
    ) -> Result<bool, Refusal> {
        let mut of_side = self.run.servers_of(side);
        let number = of_side.keys().position(|other| other == name);
        let (Some(number), Some(wanted)) = (number, of_side.remove(name)) else { return Ok(false) };
        if self.servers.get(name).is_some_and(|(stands, _)| *stands == wanted) {
            return Ok(false);
        }
        self.servers.remove(name);
        observer.making_server(&wanted.title);
        let base = servers::base(self.all_work, &self.run.id, number, name);
        let made = servers::raise(self.host, self.probe, &base, &wanted, &|| self.interrupt.requested());
        let standing = match made {
            Ok(standing) => Ok(standing),
            Err(Refusal::Unusable(obstacle)) => match *obstacle {
                Obstacle::NotMade { thing, said, .. } => {
                    let said = said.line().map_or(thing, str::to_owned);
                    Err(Cause::ServerNotMade { server: plain_name(name).to_owned(), said })
                }
                obstacle => return Err(obstacle.into()),
            },
            Err(refusal) => return Err(refusal),
        };
        self.servers.insert(name.to_owned(), (wanted, standing));
        Ok(true)
    }

    /// Where the servers are, or why they are not.
    pub(super) fn servers(&self) -> BTreeMap<String, Result<Standing, Cause>> {
        self.servers.iter().map(|(name, (_, standing))| (name.clone(), standing.clone())).collect()
    }

    /// A server ended: the next repeat has another one.
    pub(super) fn server_has_ended(&mut self, name: &str) {
        self.servers.remove(name);
    }

    fn turn_target_to(&mut self, side: Option<usize>, observer: &mut dyn Observer) -> Result<bool, Refusal> {
        let Some(of_run) = self.run.target_of(side) else { return Ok(false) };
        if self.stands.as_ref().is_some_and(|stands| stands.of_run == of_run) {
            return Ok(false);
        }
        self.stands = None;
        let name = of_run.name.as_ref().unwrap_or(&self.run.id);
        let up = match &of_run.name {
            Some(name) => rig::standing(self.host, self.all_work, name)?.1,
            None => {
                observer.making_target(&of_run.target.to_string());
                let needs = Needs::of(&self.run.suite);
                // What stood is taken down first.
                rig::raise(self.host, self.probe, self.all_work, name, of_run, &needs, &|| self.interrupt.requested())?
            }
        };
        let watched = watched(self.host, self.all_work, name, &up);
        let found = rig::found(self.host, self.all_work, name, &up, &watched);
        self.stands = Some(Stands { of_run, up, watched, found });
        Ok(true)
    }

    /// A fault was the end of it: the next repeat has another one.
    pub(super) fn has_ended(&mut self) {
        self.stands = None;
    }

    /// Where its LUNs are.
    pub(super) fn addresses(&self) -> Vec<LunAddress> {
        self.stands.as_ref().map(|stands| stands.up.addresses()).unwrap_or_default()
    }

    /// How many controllers it has.
    pub(super) fn controllers(&self) -> usize {
        self.stands.as_ref().map_or(0, |stands| stands.up.controllers.len())
    }

    /// What is watched of it.
    pub(super) fn watched(&self) -> Watched {
        let mut watched = self.stands.as_ref().map(|stands| stands.watched.clone()).unwrap_or_default();
        for (name, (_, standing)) in &self.servers {
            let groups = standing.iter().flat_map(Standing::groups);
            watched.groups.extend(groups.map(|path| (server_group(name), path)));
        }
        watched
    }

    /// What was found of it when it was made.
    pub(super) fn found(&self) -> BTreeMap<String, String> {
        self.stands.as_ref().map(|stands| stands.found.clone()).unwrap_or_default()
    }

    /// What breaks and mends it, where scenarios have faults.
    ///
    /// # Errors
    /// Its ledger cannot be read.
    pub(super) fn injector(&self) -> Result<Option<Injector<'a>>, Refusal> {
        let has_faults = self.run.suite.scenarios.iter().any(|scenario| !scenario.faults.is_empty());
        has_faults.then(|| Injector::of(self.host, self.probe, self.all_work, &self.run.id)).transpose()
    }
}

/// What the metrics of a server's control groups begin with.
pub(super) fn server_group(name: &str) -> String {
    format!("server-{}", plain_name(name))
}
