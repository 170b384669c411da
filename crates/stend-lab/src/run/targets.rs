//! What a run loads, its target and its servers, while it is loaded: made before the first repeat that loads it, and anew where the next repeat's side
//! has another one.
//!
//! Which one stands is nobody's state: a session begins without any, and a repeat keeps what was found of the one that it loaded.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::run::Run;
use stend_model::server::{LOOPBACK, Server, plain_name};
use stend_model::suite::Scenario;
use stend_model::target::TargetOfRun;

use super::Observer;
use super::hosting::{Done, Hosting, address_of_server, is_far};
use crate::rig::servers::{self, Standing, Wanted};
use crate::rig::watched::{Watched, watched};
use crate::rig::{self, Injector, Needs, Obstacle, Refusal, Up};
use stend_instrument::LunAddress;
use stend_stand::host::{Host, Local};
use stend_stand::interrupt::Interrupt;

/// What makes the run's target and servers.
pub(super) struct Rig<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) probe: &'a str,
    /// Where all runs' files lie, and targets beside them.
    pub(super) all_work: &'a str,
    pub(super) run: &'a Run,
    pub(super) interrupt: &'a Interrupt,
    /// This machine, if a guest of it is measured.
    pub(super) hosting: Option<Hosting>,
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
        hosting: Option<Hosting>,
    ) -> Self {
        Self { host, probe, all_work, run, interrupt, hosting, stands: None, servers: BTreeMap::new() }
    }

    /// Sees to it that what a side loads stands, if the run has any of it: the target, and this scenario's server. Whether something was made for that.
    /// A server that cannot be made is the matter of those that load it.
    ///
    /// # Errors
    /// The target cannot be made, or the user interrupted it. Then none stands.
    pub(super) fn turn_to(
        &mut self,
        side: Option<usize>,
        scenario: Option<&Scenario>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Refusal> {
        let turned = scenario.map_or(Ok(false), |scenario| self.turn_server_to(side, scenario, observer))?;
        Ok(self.turn_target_to(side, observer)? || turned)
    }

    fn turn_server_to(
        &mut self,
        side: Option<usize>,
        scenario: &Scenario,
        observer: &mut dyn Observer,
    ) -> Result<bool, Refusal> {
        let Some(name) = scenario.server.as_deref() else { return Ok(false) };
        let is_far = is_far(self.hosting.as_ref(), scenario);
        let mut of_side = self.run.servers_of(side);
        let number = of_side.keys().position(|other| other == name);
        let (Some(number), Some(mut wanted)) = (number, of_side.remove(name)) else { return Ok(false) };
        // What loads it has processors of its own there, whatever it gets.
        wanted.apart &= !is_far;
        let is_there = |standing: &Result<Standing, Cause>| standing.as_ref().map_or(true, |it| it.of_host == is_far);
        if self.servers.get(name).is_some_and(|(stands, standing)| *stands == wanted && is_there(standing)) {
            return Ok(false);
        }
        self.servers.remove(name);
        let place: (&dyn Host, &str, &str) = match &self.hosting {
            Some(hosting) if is_far => (&Local, &hosting.probe, &hosting.work),
            _ => (self.host, self.probe, self.all_work),
        };
        let (host, probe, work) = place;
        // Where there is none, the scenario was skipped.
        let address = address_of_server(self.hosting.as_ref(), scenario).unwrap_or(LOOPBACK);
        let base = servers::base(work, &self.run.id, number, name);
        let asked = Wanted { server: &wanted, image: self.run.suite.images.get(name), address, work };
        observer.making_server(&wanted.title, asked.makes_image(host));
        let made = servers::raise(host, probe, &base, asked, &|| self.interrupt.requested());
        let standing = match made {
            Ok(mut standing) => {
                standing.of_host = is_far;
                Ok(standing)
            }
            Err(Refusal::Unusable(obstacle)) => {
                let said = match *obstacle {
                    Obstacle::NotMade { thing, said, .. } => said.line().map_or(thing, str::to_owned),
                    // It would be another one's image, or none.
                    Obstacle::ImageChanged { .. } => return Err(Refusal::Unusable(obstacle)),
                    obstacle if wanted.image.is_some() => obstacle.to_string(),
                    obstacle => return Err(obstacle.into()),
                };
                Err(Cause::ServerNotMade { server: plain_name(name).to_owned(), said })
            }
            Err(refusal) => return Err(refusal),
        };
        self.servers.insert(name.to_owned(), (wanted, standing));
        Ok(true)
    }

    /// Where the servers are, or why they are not.
    pub(super) fn servers(&self) -> BTreeMap<String, Result<Standing, Cause>> {
        self.servers.iter().map(|(name, (_, standing))| (name.clone(), standing.clone())).collect()
    }

    /// Whether the server of this name stands on the host of the guest that is measured.
    pub(super) fn is_of_host(&self, name: &str) -> bool {
        self.servers.get(name).is_some_and(|(_, standing)| standing.as_ref().is_ok_and(|standing| standing.of_host))
    }

    /// What the host of the guest that is measured has done so far, its servers for the guest aside.
    pub(super) fn done_by_host(&self) -> Option<Done> {
        let of_host = self.servers.values().filter_map(|(_, standing)| standing.as_ref().ok());
        let of_host = of_host.filter(|standing| standing.of_host);
        let of_servers = of_host.filter_map(|standing| standing.counters.cpu_ns(&Local)).sum::<u64>();
        self.hosting.as_ref()?.done(of_servers as f64)
    }

    /// Stops the run's servers, wherever they stand.
    ///
    /// # Errors
    /// One cannot be stopped.
    pub(super) fn stop_servers(&self) -> Result<(), Refusal> {
        if self.run.suite.servers.is_empty() {
            return Ok(());
        }
        let here = self.hosting.as_ref().map(|hosting| servers::take_down(&Local, &hosting.work, &self.run.id));
        servers::take_down(self.host, self.all_work, &self.run.id)?;
        here.transpose()?;
        let standing = self.servers.values().filter_map(|(_, standing)| standing.as_ref().ok());
        standing.filter(|it| !it.of_host).try_for_each(|it| it.check_image(self.host, self.all_work))
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
            let groups = standing.iter().filter(|standing| !standing.of_host).flat_map(Standing::groups);
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
