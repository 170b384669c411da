//! Simulated measurements, for the tests of the rule and for `examples/calibration.rs`.
#![allow(dead_code, unreachable_pub, missing_docs)]

use stend_stats::{Cell, CellResult, Design, Direction, SplitMix64, Verdict, compare};

/// What disturbs the repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Normal, with this coefficient of variation.
    Normal(f64),
    /// σ of the logarithm.
    LogNormal(f64),
    /// Student's t with three degrees of freedom, scale 2 %.
    HeavyTail,
    /// Cauchy, scale 1 %.
    Cauchy,
    /// Two modes 6 % apart, one repeat in four in the slower, CV 1 % within each.
    Bimodal,
    /// Whole numbers near 50 with σ 1.
    Rounded,
    /// A stationary first-order autoregression with CV 2 % and this correlation of neighbours, of each cell or common to all.
    Wave { correlation: f64, common: bool },
    /// CV 1 %, and all cells rise by this share from the first repeat to the last.
    Trend(f64),
    /// CV 1 %, and all cells step by this share at a random place.
    Step(f64),
    /// CV 1 %, and a sine common to all with this amplitude, one to four periods, any phase.
    Sine(f64),
    /// CV 2 % within a session, and this CV of sessions, each cell by itself.
    Sessions(f64),
}

impl Noise {
    pub fn name(self) -> String {
        let percent = |share: f64| format!("{} %", (share * 1000.0).round() / 10.0);
        match self {
            Self::Normal(cv) => format!("normal, CV {}", percent(cv)),
            Self::LogNormal(sigma) => format!("log-normal, σ {sigma}"),
            Self::HeavyTail => "Student's t, 3 degrees of freedom".into(),
            Self::Cauchy => "Cauchy".into(),
            Self::Bimodal => "bimodal, 6 % apart".into(),
            Self::Rounded => "rounded to 2 %".into(),
            Self::Wave { correlation, common: false } => format!("AR(1), ρ = {correlation}"),
            Self::Wave { correlation, common: true } => format!("AR(1), ρ = {correlation}, common"),
            Self::Trend(share) => format!("trend of {}", percent(share)),
            Self::Step(share) => format!("step of {}", percent(share)),
            Self::Sine(share) => format!("sine of ±{}", percent(share)),
            Self::Sessions(cv) => format!("sessions differ by {}", percent(cv)),
        }
    }
}

pub const NOISES: [Noise; 17] = [
    Noise::Normal(0.01),
    Noise::Normal(0.1),
    Noise::LogNormal(0.3),
    Noise::HeavyTail,
    Noise::Cauchy,
    Noise::Bimodal,
    Noise::Rounded,
    Noise::Wave { correlation: 0.5, common: false },
    Noise::Wave { correlation: 0.5, common: true },
    Noise::Wave { correlation: 0.9, common: false },
    Noise::Wave { correlation: 0.9, common: true },
    Noise::Trend(0.04),
    Noise::Step(0.1),
    Noise::Sine(0.03),
    Noise::Sessions(0.01),
    Noise::Sessions(0.02),
    Noise::Sessions(0.05),
];

pub fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.next_f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.next_f64()).cos()
}

/// What the cells of a table are disturbed by, slot by slot.
struct Disturbance {
    noise: Noise,
    common: Vec<f64>,
}

fn wave(correlation: f64, slots: usize, random: &mut SplitMix64) -> Vec<f64> {
    let step = (1.0 - correlation * correlation).sqrt();
    let mut state = normal(random);
    let mut next = || {
        let value = 0.02 * state;
        state = correlation * state + step * normal(random);
        value
    };
    (0..slots).map(|_| next()).collect()
}

impl Disturbance {
    fn new(noise: Noise, slots: usize, random: &mut SplitMix64) -> Self {
        let share = |slot: usize| slot as f64 / slots as f64;
        let common = match noise {
            Noise::Wave { correlation, common: true } => wave(correlation, slots, random),
            Noise::Trend(size) => (0..slots).map(|slot| size * share(slot)).collect(),
            Noise::Step(size) => {
                let place = random.index(slots);
                (0..slots).map(|slot| if slot < place { 0.0 } else { size }).collect()
            }
            Noise::Sine(size) => {
                let (periods, phase) = (1.0 + 3.0 * random.next_f64(), random.next_f64());
                (0..slots).map(|slot| size * (std::f64::consts::TAU * (periods * share(slot) + phase)).sin()).collect()
            }
            _ => vec![0.0; slots],
        };
        Self { noise, common }
    }

    /// One cell's values in the order of time; `session_of` says which session a slot belongs to.
    fn cell(&self, session_of: &[usize], random: &mut SplitMix64) -> Vec<f64> {
        let slots = self.common.len();
        let own: Vec<f64> = match self.noise {
            Noise::Wave { correlation, common: false } => wave(correlation, slots, random),
            Noise::Sessions(cv) => {
                let sessions = session_of.iter().max().map_or(0, |last| last + 1);
                let levels: Vec<f64> = (0..sessions).map(|_| cv * normal(random)).collect();
                session_of.iter().map(|session| levels[*session]).collect()
            }
            _ => vec![0.0; slots],
        };
        let mut repeat = || match self.noise {
            Noise::Normal(cv) => (1.0 + cv * normal(random)).max(0.01).ln(),
            Noise::LogNormal(sigma) => sigma * normal(random),
            Noise::HeavyTail => {
                let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                0.02 * normal(random) / (squares / 3.0).sqrt()
            }
            Noise::Cauchy => (0.01 * normal(random) / normal(random)).clamp(-50.0, 50.0),
            Noise::Bimodal => (if random.next_f64() < 0.25 { 0.94_f64.ln() } else { 0.0 }) + 0.01 * normal(random),
            Noise::Rounded => ((50.0 + normal(random)).round() / 50.0).ln(),
            Noise::Wave { common: false, .. } => 0.0,
            Noise::Sessions(_) => 0.02 * normal(random),
            _ => 0.01 * normal(random),
        };
        let logarithms = self.common.iter().zip(own).map(|(common, own)| common + own + repeat());
        logarithms.map(|logarithm| 100.0 * logarithm.exp()).collect()
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub design: Design,
    /// Sessions of each side.
    pub sessions: usize,
    /// Repeats of each side in a session.
    pub repeats: usize,
    pub cells: usize,
    /// In how many of the cells side a is faster, and by which factor.
    pub faster: usize,
    pub factor: f64,
    pub delta: f64,
}

impl Plan {
    /// Without any difference, δ = 1 %.
    pub fn new(design: Design, sessions: usize, repeats: usize, cells: usize) -> Self {
        Self { design, sessions, repeats, cells, faster: 0, factor: 1.0, delta: 0.01 }
    }

    pub fn with(self, faster: usize, factor: f64) -> Self {
        Self { faster, factor, ..self }
    }

    /// A table as it would be measured: in turns, a coin deciding which side of a pair is first, or one side after the other.
    pub fn cells(&self, noise: impl Fn(usize) -> Noise, random: &mut SplitMix64) -> Vec<Cell> {
        // Of each slot in the order of time its side and its session of that side.
        let sessions = 0..self.sessions;
        let turns = |random: &mut SplitMix64| if random.next_f64() < 0.5 { [0, 1] } else { [1, 0] };
        let order: Vec<(usize, usize)> = match self.design {
            Design::InTurns => sessions
                .flat_map(|session| std::iter::repeat_n(session, self.repeats))
                .flat_map(|session| turns(random).map(|side| (side, session)))
                .collect(),
            Design::SessionsInTurns => sessions
                .flat_map(|session| turns(random).map(|side| (side, session)))
                .flat_map(|slot| std::iter::repeat_n(slot, self.repeats))
                .collect(),
            Design::OneAfterTheOther => [0, 1]
                .into_iter()
                .flat_map(|side| sessions.clone().map(move |session| (side, session)))
                .flat_map(|slot| std::iter::repeat_n(slot, self.repeats))
                .collect(),
        };
        // In turns both sides are of one session, else each session has one side.
        let of_session = |(side, session): &(usize, usize)| match self.design {
            Design::InTurns => *session,
            _ => side * self.sessions + session,
        };
        let session_of: Vec<usize> = order.iter().map(of_session).collect();
        let shared = Disturbance::new(noise(0), order.len(), random);
        (0..self.cells)
            .map(|place| {
                let disturbance = Disturbance { noise: noise(place), common: shared.common.clone() };
                let mut sides = [vec![Vec::new(); self.sessions], vec![Vec::new(); self.sessions]];
                for (value, (side, session)) in disturbance.cell(&session_of, random).into_iter().zip(&order) {
                    let factor = if *side == 0 && place < self.faster { self.factor } else { 1.0 };
                    sides[*side][*session].push(factor * value);
                }
                let [a_sessions, b_sessions] = sides;
                let direction = Direction::HigherIsBetter;
                Cell { a_sessions, b_sessions, design: self.design, direction, delta: self.delta }
            })
            .collect()
    }

    /// Shares found in so many tables of this plan.
    pub fn try_out(&self, noise: impl Fn(usize) -> Noise, tables: usize, seed: u64) -> Shares {
        let mut random = SplitMix64::new(seed);
        let mut counts = [0; 3];
        for _ in 0..tables {
            let results = compare(&self.cells(&noise, &mut random));
            let found = results[..self.faster].iter().filter(|result| result.verdict == Verdict::Better).count();
            let wrong = results[self.faster..].iter().filter(|result| marked(result)).count();
            counts[0] += found;
            counts[1] += wrong;
            counts[2] += usize::from(wrong > 0);
        }
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        Shares {
            found: share(counts[0], tables * self.faster),
            false_cells: share(counts[1], tables * (self.cells - self.faster)),
            false_tables: share(counts[2], tables),
        }
    }
}

/// What [`Plan::try_out`] found.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Of the cells that differ, those marked in the right direction.
    pub found: f64,
    /// Of the cells that do not differ, those marked.
    pub false_cells: f64,
    /// Tables in which any cell is marked that does not differ.
    pub false_tables: f64,
}

pub fn marked(result: &CellResult) -> bool {
    matches!(result.verdict, Verdict::Better | Verdict::Worse)
}

/// A cell of one session a side.
pub fn cell(a: &[f64], b: &[f64], design: Design, delta: f64) -> Cell {
    let direction = Direction::HigherIsBetter;
    Cell { a_sessions: vec![a.to_vec()], b_sessions: vec![b.to_vec()], design, direction, delta }
}
