//! A run as it may be published: its figures, and nothing that names its machine, its owner or where files lie.
//!
//! Each noun is taken apart field by field, so that a new field does not compile until somebody has said what becomes of it here. What is left
//! out of a machine's software is left out of both where two machines are compared ([`Machine::differences`]).

mod text;

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cause::Cause;
use crate::conformance::{Test, Tests};
use crate::identity::short;
use crate::image::Image;
use crate::machine::{Machine, Software, Tool};
use crate::run::{Build, Outcome, Repeat, Run, Series, Session, Skipped};
use crate::server::{Server, plain_name};
use crate::side::{Found, Side};
use crate::suite::{Instrument, Scenario, Suite};
use crate::target::{Disks, Storage, Target, TargetOfRun, Where};
use crate::weight::{Known, Price};
use crate::wire::{Begin, Mark, Report};
use text::{is_known, path_shortened, replaced, without_builder, without_paths};

/// Makes a run publishable, and counts what it leaves out.
#[derive(Debug, Clone)]
pub struct Publisher {
    /// What the machine is called instead of its names.
    machine: String,
    /// Names of the machine and of its owner's, the longest first.
    names: Vec<String>,
    /// The run's boot ids, in the order of its sessions.
    boots: Vec<String>,
    /// Names of network interfaces.
    interfaces: Vec<String>,
    left_out: BTreeMap<&'static str, usize>,
}

impl Publisher {
    /// For this run.
    pub fn of(run: &Run, sessions: &[Session], series: &[(u32, Series)]) -> Self {
        let machine = format!("machine-{}", short(&run.machine.hardware_id()));
        let known = run.known.as_ref();
        let given = [
            Some(run.machine.name.as_str()),
            run.machine.network_name.as_deref(),
            Some(run.host.as_str()),
            known.map(|known| known.name.as_str()),
            known.and_then(|known| known.destination.as_deref()),
            run.target.as_ref().and_then(|target| target.name.as_deref()),
        ];
        let mut names = Vec::new();
        for name in given.into_iter().flatten() {
            let parts = name.split(['@', ':', '/']).flat_map(|part| [part, part.split('.').next().unwrap_or(part)]);
            names.extend([name].into_iter().chain(parts).map(str::to_owned));
        }
        let is_number = |name: &str| name.chars().all(|c| c.is_ascii_digit());
        names.retain(|name| name.len() > 2 && !is_number(name) && !COMMON.contains(&name.as_str()));
        names.sort_by_key(|name| (std::cmp::Reverse(name.len()), name.clone()));
        names.dedup();
        let mut boots = Vec::new();
        for boot in sessions.iter().filter_map(|session| session.boot_id.as_ref()) {
            if !boots.contains(boot) {
                boots.push(boot.clone());
            }
        }
        let of_network = |(_, series): &(u32, Series)| interface(&series.metric).map(|(name, _)| name.to_owned());
        let mut interfaces: Vec<_> = series.iter().filter_map(of_network).filter(|name| name != "lo").collect();
        interfaces.sort();
        interfaces.dedup();
        let mut publisher = Self { machine, names, boots, interfaces, left_out: BTreeMap::new() };
        publisher.leave_out("boot ids", publisher.boots.len());
        publisher.leave_out("names of network interfaces", publisher.interfaces.len());
        publisher
    }

    /// What was left out, and how often, in words.
    pub fn left_out(&self) -> Vec<String> {
        self.left_out.iter().map(|(what, count)| format!("{what} ({count})")).collect()
    }

    /// Counts what is left out, for what is said of it.
    pub fn leave_out(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.left_out.entry(what).or_default() += count;
        }
    }

    /// A sentence, or another text that may name something.
    pub fn text(&mut self, text: &str) -> String {
        let (mut said, paths) = without_paths(text);
        self.leave_out(PATHS, paths);
        for name in &self.names {
            let (without, found) = replaced(&said, name, &self.machine);
            if found > 0 {
                *self.left_out.entry(NAMES).or_default() += found;
                said = without;
            }
        }
        said
    }

    /// A word of a command or a value, which may be a path with spaces in it.
    fn word(&mut self, word: &str) -> String {
        let short = path_shortened(word);
        self.leave_out(PATHS, usize::from(short != word));
        self.text(&short)
    }

    /// The words of a command.
    pub fn words(&mut self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.word(word)).collect()
    }

    fn map(&mut self, map: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        map.iter().map(|(name, value)| (name.clone(), self.word(value))).collect()
    }

    fn maybe(&mut self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.word(text))
    }

    fn json(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        map.iter().map(|(name, value)| (name.clone(), self.value(value))).collect()
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.word(text)),
            Value::Array(values) => values.iter().map(|value| self.value(value)).collect(),
            Value::Object(map) => Value::Object(self.json(map)),
            other => other.clone(),
        }
    }

    /// The run.
    pub fn run(&mut self, run: &Run) -> Run {
        let Run {
            id,
            label,
            stend_version,
            host,
            started_at,
            finished_at,
            state,
            seed,
            suite,
            skipped,
            profile,
            target,
            sides,
            carried,
            imported,
            build,
            known,
            machine,
        } = run;
        // How a machine is reached in general is said of nobody.
        let is_here = COMMON.contains(&host.as_str());
        self.leave_out("how the machine was reached", usize::from(!is_here));
        self.leave_out("what the run is called", usize::from(label.is_some()));
        Run {
            id: id.clone(),
            label: None,
            stend_version: stend_version.clone(),
            host: if is_here { host.clone() } else { self.machine.clone() },
            started_at: *started_at,
            finished_at: *finished_at,
            state: *state,
            seed: *seed,
            suite: self.suite(suite),
            skipped: skipped.iter().map(|skipped| self.skipped(skipped)).collect(),
            profile: *profile,
            target: target.as_ref().map(|target| self.target(target)),
            sides: sides.iter().map(|side| self.side(side)).collect(),
            carried: *carried,
            imported: *imported,
            build: build.as_ref().map(|build| self.build(build)),
            known: known.as_ref().map(|known| self.known(known)),
            machine: self.machine(machine),
        }
    }

    fn skipped(&mut self, Skipped { scenario, reason, remedy }: &Skipped) -> Skipped {
        Skipped { scenario: scenario.clone(), reason: self.cause(reason), remedy: self.maybe(remedy.as_ref()) }
    }

    fn suite(&mut self, suite: &Suite) -> Suite {
        let Suite {
            name,
            title,
            titles,
            note,
            notes,
            source,
            order,
            seed,
            sample_hertz,
            time_budget,
            scale,
            set,
            table,
            servers,
            images,
            files,
            guest,
            scenarios,
        } = suite;
        Suite {
            name: name.clone(),
            title: title.clone(),
            titles: titles.clone(),
            note: note.clone(),
            notes: notes.clone(),
            source: source.clone(),
            order: *order,
            seed: *seed,
            sample_hertz: *sample_hertz,
            time_budget: *time_budget,
            scale: *scale,
            set: self.map(set),
            table: table.clone(),
            servers: servers.iter().map(|(name, server)| (plain_name(name).into(), self.server(server))).collect(),
            images: images.iter().map(|(name, image)| (plain_name(name).into(), self.image(image))).collect(),
            // They are a part of the program.
            files: files.clone(),
            guest: guest.as_ref().map(|guest| self.fact(guest)),
            scenarios: scenarios.iter().map(|scenario| self.scenario(scenario)).collect(),
        }
    }

    fn image(&mut self, image: &Image) -> Image {
        let mirror = self.maybe(image.mirror.as_ref());
        Image { mirror, files: self.map(&image.files), ..image.clone() }
    }

    fn server(&mut self, server: &Server) -> Server {
        Server {
            image: server.image.as_deref().map(|name| plain_name(name).into()),
            settings: self.map(&server.settings),
            files: self.map(&server.files),
            prepare: server.prepare.iter().map(|words| self.words(words)).collect(),
            start: self.words(&server.start),
            ready: self.words(&server.ready),
            ..server.clone()
        }
    }

    /// What it does stays the same work, but where its command names somebody's files.
    fn scenario(&mut self, scenario: &Scenario) -> Scenario {
        let Scenario {
            name,
            family,
            measures,
            instrument,
            parameters,
            server,
            server_on,
            metrics,
            repeats,
            warmup,
            steady,
            rate,
            faults,
            precision,
            timeout,
            expected,
            gates,
            verification,
            needs,
            ceiling,
            processors,
            places,
            files,
        } = scenario;
        self.leave_out(PATHS, places.len());
        let without_place = |word: &String| places.get(word).unwrap_or(word).clone();
        let instrument = match instrument {
            Instrument::Command(words) => {
                let words: Vec<_> = words.iter().map(without_place).collect();
                Instrument::Command(self.words(&words))
            }
            Instrument::Probe(_) | Instrument::Adapter(_) => instrument.clone(),
        };
        let parameters = parameters.iter().map(|(name, value)| (name.clone(), without_place(value))).collect();
        let made = Scenario {
            name: name.clone(),
            family: family.clone(),
            measures: measures.clone(),
            instrument,
            parameters: self.map(&parameters),
            server: server.as_deref().map(plain_name).map(str::to_owned),
            server_on: *server_on,
            metrics: metrics.clone(),
            repeats: *repeats,
            warmup: *warmup,
            steady: *steady,
            rate: rate.clone(),
            faults: faults.clone(),
            precision: *precision,
            timeout: *timeout,
            expected: *expected,
            gates: *gates,
            verification: *verification,
            needs: needs.clone(),
            ceiling: ceiling.clone(),
            processors: *processors,
            places: BTreeMap::new(),
            files: files.clone(),
        };
        self.leave_out(
            "such paths in what scenarios do, which is other work now than before",
            usize::from(made.identity() != scenario.identity()),
        );
        made
    }

    fn target(&mut self, TargetOfRun { target, medium, name, tools }: &TargetOfRun) -> TargetOfRun {
        let Target {
            storage,
            luns,
            lun_size,
            fill,
            checksums,
            transport,
            initiator,
            controllers,
            threads,
            filters,
            mount_options,
            scheduler,
            processors,
            destructive,
        } = target;
        self.leave_out("serial numbers of devices", destructive.len());
        self.leave_out("the target's name", usize::from(name.is_some()));
        let storage = match storage {
            Storage::File { r#where } => Storage::File { r#where: self.place(r#where) },
            Storage::Device { devices } => Storage::Device { devices: self.words(devices) },
            Storage::Pool { disks, layout, manager } => {
                let disks = match disks {
                    Disks::Files { count, size, r#where } => {
                        Disks::Files { count: *count, size: *size, r#where: self.place(r#where) }
                    }
                    Disks::Devices(devices) => Disks::Devices(self.words(devices)),
                };
                Storage::Pool { disks, layout: *layout, manager: *manager }
            }
        };
        let target = Target {
            storage,
            luns: *luns,
            lun_size: *lun_size,
            fill: *fill,
            checksums: *checksums,
            transport: *transport,
            initiator: *initiator,
            controllers: *controllers,
            threads: *threads,
            filters: self.words(filters),
            mount_options: self.words(mount_options),
            scheduler: scheduler.clone(),
            processors: processors.clone(),
            destructive: Vec::new(),
        };
        let tools = self.tools(tools);
        TargetOfRun { target, medium: medium.clone(), name: None, tools }
    }

    fn place(&mut self, place: &Where) -> Where {
        match place {
            Where::Directory(path) => Where::Directory(self.word(path)),
            Where::Work | Where::Tmpfs => place.clone(),
        }
    }

    fn side(&mut self, side: &Side) -> Side {
        let Side {
            label,
            environment,
            prefix,
            sysctls,
            governor,
            parameters,
            target,
            servers,
            tools,
            compiler,
            compiler_flags,
            found,
        } = side;
        let Found { compiler: its_version, build, built, settings, tools: found_tools, target: found_target } = found;
        let found = Found {
            compiler: self.maybe(its_version.as_ref()),
            build: self.maybe(build.as_ref()),
            built: built.as_ref().map(|built| self.build(built)),
            settings: self.map(settings),
            tools: self.tools(found_tools),
            target: found_target.as_ref().map(|target| self.target(target)),
        };
        Side {
            label: self.text(label),
            environment: self.map(environment),
            prefix: self.words(prefix),
            sysctls: self.map(sysctls),
            governor: governor.clone(),
            parameters: self.map(parameters),
            target: self.map(target),
            servers: self.map(servers),
            tools: self.map(tools),
            compiler: self.maybe(compiler.as_ref()),
            compiler_flags: self.maybe(compiler_flags.as_ref()),
            found,
        }
    }

    fn tools(&mut self, tools: &BTreeMap<String, Tool>) -> BTreeMap<String, Tool> {
        tools.iter().map(|(name, tool)| (name.clone(), self.tool(tool))).collect()
    }

    fn tool(&mut self, Tool { version, path, sha256 }: &Tool) -> Tool {
        Tool { version: self.text(version), path: self.word(path), sha256: sha256.clone() }
    }

    fn build(&mut self, Build { program, asked_flags, compiler, flags, sources }: &Build) -> Build {
        Build {
            program: self.maybe(program.as_ref()),
            asked_flags: self.text(asked_flags),
            compiler: self.text(compiler),
            flags: self.text(flags),
            sources: sources.clone(),
        }
    }

    fn known(&mut self, known: &Known) -> Known {
        let Known { name: _, destination, cc, cflags, labels, place, price, power, weight } = known;
        let told = [destination.is_some(), place.is_some(), !labels.is_empty()];
        self.leave_out("what `stend hosts` says of the machine", told.into_iter().filter(|told| *told).count());
        Known {
            name: self.machine.clone(),
            destination: None,
            cc: self.maybe(cc.as_ref()),
            cflags: self.maybe(cflags.as_ref()),
            labels: BTreeMap::new(),
            place: None,
            price: price.as_ref().map(|Price { amount, currency, of, source: _ }| Price {
                amount: *amount,
                currency: currency.clone(),
                of: of.clone(),
                source: None,
            }),
            power: power.as_ref().map(|power| crate::weight::Power { source: None, ..power.clone() }),
            weight: weight.as_ref().map(|weight| crate::weight::Weight { source: None, ..weight.clone() }),
        }
    }

    fn machine(&mut self, machine: &Machine) -> Machine {
        let Machine { name: _, network_name: _, hardware, software, offers, missing, raw, public: _ } = machine;
        self.leave_out("the machine's name", 1);
        self.leave_out("texts that its fingerprint was read from", raw.len());
        let words = |line: &str| line.split_whitespace().count();
        let made = software.public();
        self.leave_out("words of the kernel's command line", words(&software.command_line) - words(&made.command_line));
        self.leave_out("who built the kernel", usize::from(software.kernel_build != made.kernel_build));
        Machine {
            name: self.machine.clone(),
            network_name: None,
            hardware: hardware.clone(),
            software: made,
            offers: offers.clone(),
            missing: self.facts(missing),
            raw: BTreeMap::new(),
            public: true,
        }
    }

    /// A session.
    pub fn session(&mut self, session: &Session) -> Session {
        let Session { number, started_at, boot_id, conditions, noted, missing_sensors, clocks, screen: _ } = session;
        let number_of = |boot: &String| self.boots.iter().position(|other| other == boot).map_or(0, |place| place + 1);
        Session {
            number: *number,
            started_at: *started_at,
            // Sessions of one boot are still told from those of several.
            boot_id: boot_id.as_ref().map(|boot| format!("boot {}", number_of(boot))),
            conditions: conditions.iter().map(|one| self.fact(one)).collect(),
            noted: noted.iter().map(|one| self.fact(one)).collect(),
            missing_sensors: self.facts(missing_sensors),
            clocks: *clocks,
            // Anything may stand there.
            screen: None,
        }
    }

    /// A repeat.
    pub fn repeat(&mut self, repeat: &Repeat) -> Repeat {
        let Repeat {
            sequence,
            session,
            scenario,
            number,
            side,
            phase,
            started_at,
            outcome,
            begin,
            report,
            marks,
            tests,
            usage,
            stopped,
            lasting,
            command,
            output,
            error_output,
            target,
        } = repeat;
        self.leave_out("what tests said", tests.iter().filter(|test| !test.said.is_empty()).count());
        self.leave_out(
            "what instruments printed",
            [output, error_output].into_iter().filter(|text| !text.is_empty()).count(),
        );
        let outcome = match outcome {
            Outcome::Valid => Outcome::Valid,
            Outcome::Invalid(causes) => Outcome::Invalid(causes.iter().map(|cause| self.cause(cause)).collect()),
            Outcome::Failed(cause) => Outcome::Failed(self.cause(cause)),
        };
        Repeat {
            sequence: *sequence,
            session: *session,
            scenario: *scenario,
            number: *number,
            side: *side,
            phase: *phase,
            started_at: *started_at,
            outcome,
            begin: begin.as_ref().map(|begin| self.begin(begin)),
            report: report.as_ref().map(|report| self.report(report)),
            marks: marks
                .iter()
                .map(|Mark { t_ns, kind, label }| Mark { t_ns: *t_ns, kind: *kind, label: self.fact(label) })
                .collect(),
            tests: self.tests(tests),
            usage: usage.clone(),
            stopped: *stopped,
            lasting: *lasting,
            command: self.words(command),
            output: String::new(),
            error_output: String::new(),
            target: self.map(target),
        }
    }

    /// Tests without what they said. Two names may differ in a path alone.
    fn tests(&mut self, tests: &[Test]) -> Vec<Test> {
        let mut named = Tests::default();
        for test in tests {
            let test = Test { name: self.text(&test.name), said: String::new(), ..test.clone() };
            // There are no more than were taken before.
            let _ = named.add(test);
        }
        named.take()
    }

    /// A cause without what programs and the system said.
    pub fn cause(&mut self, cause: &Cause) -> Cause {
        self.fact(cause)
    }

    fn fact<T: Serialize + DeserializeOwned>(&mut self, fact: &T) -> T {
        let mut value = serde_json::to_value(fact).expect("a fact can be written");
        leave_out_said(&mut value);
        serde_json::from_value(self.value(&value)).expect("a fact of the same fields")
    }

    fn facts<T: Serialize + DeserializeOwned>(&mut self, facts: &BTreeMap<String, T>) -> BTreeMap<String, T> {
        facts.iter().map(|(name, fact)| (name.clone(), self.fact(fact))).collect()
    }

    fn begin(&mut self, begin: &Begin) -> Begin {
        let Begin { wire, instrument, version, t_ns, build, parameters, missing, unknown } = begin;
        self.leave_out("what instruments reported beside the wire's own", unknown.len());
        Begin {
            wire: *wire,
            instrument: instrument.clone(),
            version: version.clone(),
            t_ns: *t_ns,
            build: self.map(build),
            parameters: self.json(parameters),
            missing: self.facts(missing),
            unknown: Map::new(),
        }
    }

    fn report(&mut self, report: &Report) -> Report {
        let Report { n, t_ns, wall_ns, cpu_ns, work, observed, latencies, check, evidence, screens: _, unknown } =
            report;
        self.leave_out("what instruments reported beside the wire's own", unknown.len());
        Report {
            n: *n,
            t_ns: *t_ns,
            wall_ns: *wall_ns,
            cpu_ns: *cpu_ns,
            work: work.clone(),
            observed: observed.clone(),
            latencies: latencies.clone(),
            check: *check,
            evidence: evidence.as_ref().map(|evidence| self.fact(evidence)),
            // Anything may stand there.
            screens: BTreeMap::new(),
            unknown: Map::new(),
        }
    }

    /// A series.
    pub fn series(&self, Series { metric, origin, times_ns, values }: &Series) -> Series {
        let place = |name: &str| self.interfaces.iter().position(|other| other == name);
        let renamed =
            interface(metric).and_then(|(name, of_it)| Some(format!("net.interface{}{of_it}", place(name)? + 1)));
        Series {
            metric: renamed.unwrap_or_else(|| metric.clone()),
            origin: *origin,
            times_ns: times_ns.clone(),
            values: values.clone(),
        }
    }
}

const PATHS: &str = "paths, but for their last names";
const NAMES: &str = "names of the machine in texts";

/// Names that many machines and users have.
const COMMON: [&str; 5] = ["local", "localhost", "root", "ssh", "user"];

/// The interface's name in a metric of a network, and what follows it: `.sent_bytes_total`.
fn interface(metric: &str) -> Option<(&str, &str)> {
    let rest = metric.strip_prefix("net.")?;
    rest.rfind('.').map(|dot| rest.split_at(dot))
}

impl Software {
    /// The same without what may name a machine or its owner; of one that is public already, the same.
    pub fn public(&self) -> Self {
        let Self {
            kernel,
            kernel_build,
            command_line,
            system,
            libc,
            compiler,
            compiler_flags,
            virtualization,
            emulator,
            microcode,
            guest,
            mitigations,
            settings,
            tools,
        } = self;
        let words = command_line.split_whitespace().filter(|word| is_known(word));
        let text = |text: &String| without_paths(text).0;
        let texts =
            |all: &BTreeMap<String, String>| all.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let tool = |Tool { version, path, sha256 }: &Tool| Tool {
            version: text(version),
            path: path_shortened(path).into_owned(),
            sha256: sha256.clone(),
        };
        Self {
            kernel: kernel.clone(),
            kernel_build: without_builder(kernel_build),
            command_line: words.collect::<Vec<_>>().join(" "),
            system: system.clone(),
            libc: libc.clone(),
            compiler: compiler.as_ref().map(text),
            compiler_flags: compiler_flags.as_ref().map(text),
            virtualization: virtualization.clone(),
            emulator: emulator.as_ref().map(text),
            microcode: microcode.clone(),
            guest: texts(guest),
            mitigations: mitigations.clone(),
            settings: texts(settings),
            tools: tools.iter().map(|(name, one)| (name.clone(), tool(one))).collect(),
        }
    }
}

fn leave_out_said(fact: &mut Value) {
    fact.as_array_mut().into_iter().flatten().for_each(leave_out_said);
    for (name, value) in fact.as_object_mut().into_iter().flatten() {
        // An error of a reader's quotes what it read; that of a job is a number.
        if name == "said" || name == "error" && value.is_string() {
            *value = "".into();
        } else {
            leave_out_said(value);
        }
    }
}
