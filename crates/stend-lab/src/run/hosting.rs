//! The machine that a guest runs on, while the guest is measured: what else it does, and where its servers for the guest are.

use stend_model::cause::Cause;
use stend_model::server::LOOPBACK;
use stend_model::suite::{Scenario, ServerOn};
use stend_model::wire::MachineCpu;
use stend_stand::host::{Host, Local};
use stend_stand::hosts::GUEST;

use super::gates::taken;
use super::prepare::{find_probe, work_directory};
use crate::rig::{self, Refusal, vm};

/// This machine, under a guest that is measured.
pub(super) struct Hosting {
    /// The directory for runs' files here.
    pub(super) work: String,
    /// The path of `stend-probe` here.
    pub(super) probe: String,
    guest: vm::Guest,
}

/// What this machine had done when it was looked at, in nanoseconds of all its processors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Done {
    busy: f64,
    idle: f64,
    steal: f64,
    processors: f64,
    /// Of the time it was busy, what the guest, its servers here, and this program used.
    ours: f64,
}

impl Hosting {
    /// The host of the machine that is measured, if that is a guest of this one.
    ///
    /// # Errors
    /// What there is to know of the guest cannot be read.
    pub(super) fn of(host: &dyn Host) -> anyhow::Result<Option<Self>> {
        let Some(name) = host.name().strip_prefix(GUEST) else { return Ok(None) };
        let work = work_directory(&Local)?;
        let Some(guest) = vm::guest(&Local, &work, name)? else { return Ok(None) };
        Ok(Some(Self { probe: find_probe(&Local)?, work, guest }))
    }

    /// Checks that the image is still what it was when it was made.
    ///
    /// # Errors
    /// It is not, or cannot be read.
    pub(super) fn check_image(&self) -> Result<(), Refusal> {
        rig::image::check(&Local, &self.work, &self.guest.image)
    }

    /// What the guest shows on its screen, as a PNG.
    ///
    /// # Errors
    /// There is no picture of it.
    pub(super) fn picture(&self) -> Result<Vec<u8>, vm::PictureError> {
        self.guest.picture()
    }

    /// The address at which the guest finds this machine's servers, if it has a network that leads here.
    pub(super) fn address(&self) -> Option<&str> {
        self.guest.host_address.as_deref()
    }

    /// Looks at what this machine has done so far, of which its servers for the guest used so much, in ns. `None` where it does not count that, or not
    /// apart for the guest.
    pub(super) fn done(&self, of_servers: f64) -> Option<Done> {
        let of_guest = self.guest.counters.cpu_ns(&Local)? as f64 + of_servers;
        let [own, machine] = ["/proc/self/stat", "/proc/stat"].map(|path| Local.read_text(path).ok());
        let mut done = Done::of_machine(&machine?)?;
        done.ours = of_guest + used_by(&own?)?;
        Some(done)
    }
}

/// Whether a scenario's server stands on this machine while the scenario is measured in a guest of it.
pub(super) fn is_far(hosting: Option<&Hosting>, scenario: &Scenario) -> bool {
    hosting.is_some() && scenario.server_on == Some(ServerOn::Host)
}

/// Where a scenario's server listens: on the machine's own loopback interface, or where the guest finds it.
pub(super) fn address_of_server<'a>(hosting: Option<&'a Hosting>, scenario: &Scenario) -> Option<&'a str> {
    if is_far(hosting, scenario) { hosting?.address() } else { Some(LOOPBACK) }
}

fn nanoseconds(ticks: f64) -> f64 {
    ticks * 1e9 / rustix::param::clock_ticks_per_second() as f64
}

/// The time that a process and the children that it waited for used, by its `stat`. Its name may have anything in it, but it is in parentheses.
fn used_by(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
    let times: Vec<_> = times.collect::<Result<_, _>>().ok()?;
    (times.len() == 4).then(|| nanoseconds(times.iter().sum()))
}

impl Done {
    fn of_machine(stat: &str) -> Option<Self> {
        let mut lines = stat.lines();
        let all: Vec<f64> =
            lines.next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|n| n.parse().ok()).collect();
        let [user, nice, system, idle, waiting, interrupts, soft_interrupts, steal, ..] = all[..] else { return None };
        let processors = lines.take_while(|line| line.starts_with("cpu")).count() as f64;
        let busy = nanoseconds(user + nice + system + interrupts + soft_interrupts);
        Some(Self { busy, idle: nanoseconds(idle + waiting), steal: nanoseconds(steal), processors, ours: 0.0 })
    }

    /// The shares of this machine's time that the hypervisor took away and that others used since an earlier look, and why a repeat of the scenario does
    /// not count for that.
    pub(super) fn judged(&self, before: &Self, scenario: &Scenario) -> (Vec<(String, f64)>, Vec<Cause>) {
        let (busy, steal_ns) = (self.busy - before.busy, self.steal - before.steal);
        let cpu = MachineCpu {
            total_ns: busy + self.idle - before.idle + steal_ns,
            steal_ns,
            foreign_ns: busy - (self.ours - before.ours),
            cpus: self.processors,
        };
        if cpu.total_ns <= 0.0 {
            return (Vec::new(), Vec::new());
        }
        let share = |name: &str, time: f64| (name.to_owned(), (time / cpu.total_ns).clamp(0.0, 1.0));
        let shares = [share("host_steal_share", cpu.steal_ns), share("host_foreign_cpu_share", cpu.foreign_ns)];
        let steal = taken(scenario.gates.steal, &cpu, cpu.steal_ns);
        let foreign = taken(scenario.gates.foreign_cpu, &cpu, cpu.foreign_ns);
        let causes = steal.map(|(share, limit)| Cause::StealOfHost { share, limit }).into_iter();
        let causes = causes.chain(foreign.map(|(share, limit)| Cause::ForeignCpuOfHost { share, limit }));
        (shares.to_vec(), causes.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processors, of whose time the guest and stend used so much.
    fn done(line: &str, ours: f64) -> Done {
        Done { ours, ..Done::of_machine(&format!("cpu  {line}\ncpu0 1\ncpu1 1\nintr 7\n")).unwrap() }
    }

    #[test]
    fn a_host_that_does_something_else_makes_a_repeat_invalid() {
        let scenario = &stend_testing::suite().scenarios[0];
        let before = done("100 0 50 800 50 0 0 0 0 0", 1e9);
        // Ten seconds of two processors: five are the guest's, and of the others so many somebody else's.
        let after = |others: u32, steal: u32| {
            done(&format!("{} 0 50 {} 50 0 0 {steal} 0 0", 600 + others, 2300 - others - steal), 6e9)
        };
        assert_eq!(after(0, 0).judged(&before, scenario).1, []);
        let (shares, causes) = after(400, 100).judged(&before, scenario);
        let [Cause::StealOfHost { share: steal, .. }, Cause::ForeignCpuOfHost { share: foreign, .. }] = causes[..]
        else {
            panic!("{causes:?}");
        };
        assert_eq!((steal, foreign), (0.05, 0.2));
        assert_eq!(shares, [("host_steal_share".to_owned(), steal), ("host_foreign_cpu_share".to_owned(), foreign)]);
    }

    #[test]
    fn a_process_is_counted_whatever_its_name_is() {
        let fields = "S 1 1 1 0 -1 0 9 9 9 9 10 20 30 40 20 0 1 0";
        let tick = nanoseconds(1.0);
        assert_eq!(used_by(&format!("7 (a) b) {fields}")), Some(100.0 * tick));
        assert_eq!(used_by("7 (a"), None);
        assert_eq!(used_by("7 (a) S 1"), None);
    }

    #[test]
    fn this_machine_is_counted() {
        let machine = Local.read_text("/proc/stat").unwrap();
        let done = Done::of_machine(&machine).unwrap();
        assert!(done.busy > 0.0 && done.idle > 0.0 && done.processors >= 1.0, "{done:?}");
        assert!(used_by(&Local.read_text("/proc/self/stat").unwrap()).is_some());
        assert_eq!(Done::of_machine("cpu  1 2 3\n"), None);
    }
}
