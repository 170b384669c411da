//! Charts of sample series: one for each metric of a scenario, its repeats one after the other.
//!
//! A chart is stretched to the page's width, so lines are drawn in whole units of a wide canvas. Text stands beside the drawing, not in it,
//! and keeps its size.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stend_model::metric::Unit;
use stend_model::run::{Origin, Repeat, Series};

use super::phrase::Phrase;
use super::points::{self, Points};
use super::scale::{CANVAS, Readout, Scale, Tick, padded, ticks, top_of_shares};
use super::scene::{Description, Mark, Path, Point, Role, Scene, Shape, column};
use super::series::{self, Cpu, Stretch, cpu_metric, cpu_time, is_counter, lun_metric, reduce};
use super::text::{duration, grouped};
use super::texts::{TEXTS, drawn};
use crate::words;

/// What drawings are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A page: its script draws single metrics, of the points that the page holds.
    Page,
    /// Files, each of which has its lines.
    Files,
}

/// How finely the charts of a report are drawn, and how much they hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// Columns of the axis of time; of a line at most four points are drawn in each.
    pub(super) columns: usize,
    /// Whether a page holds all points of each line, and not only those that are drawn at first.
    all_points: bool,
    pub(super) purpose: Purpose,
}

impl Detail {
    /// As many columns as a chart has pixels or so.
    const MOST_COLUMNS: usize = 500;
    /// Fewer would show no shape.
    const FEWEST_COLUMNS: usize = 25;
    /// At most about so many points are drawn in all; a point takes some six bytes of the page.
    const MOST_DRAWN: usize = 300_000;

    /// For a report of so many charts with so many samples.
    pub(super) fn of(purpose: Purpose, charts: usize, samples: usize) -> Self {
        let columns = Self::MOST_DRAWN / 4 / charts.max(1);
        Self {
            columns: columns.clamp(Self::FEWEST_COLUMNS, Self::MOST_COLUMNS),
            all_points: samples <= points::MOST_SAMPLES,
            purpose,
        }
    }

    /// What is drawn of a line on an axis of so many seconds: all of it where there is room.
    pub(super) fn drawn(self, line: &[Stretch], seconds: f64) -> Cow<'_, [Stretch]> {
        if line.iter().map(Vec::len).sum::<usize>() <= 4 * self.columns {
            return Cow::Borrowed(line);
        }
        Cow::Owned(line.iter().map(|stretch| reduce(stretch, seconds / self.columns as f64)).collect())
    }

    /// The points of a line that a page holds: all of them if there is room, else those that are drawn. Files hold none.
    pub(super) fn held(self, line: &[Stretch], drawn: &[Stretch]) -> Points {
        match self.purpose {
            Purpose::Page => points::points(if self.all_points { line } else { drawn }),
            Purpose::Files => Points::default(),
        }
    }
}

/// The samples of one repeat.
pub(super) struct Segment<'a> {
    /// Its number, `w` before it for a warm-up: the same repeat has it in every run.
    pub(super) repeat: String,
    /// What stands over it.
    pub(super) label: String,
    /// Its style: `valid`, `invalid`, `failed`, `warmup`.
    pub(super) class: &'static str,
    /// What its tooltip says.
    pub(super) title: Phrase,
    /// Its series.
    pub(super) series: Vec<&'a Series>,
    /// From when to when it was observed: all drawings of a run have one axis of time.
    pub(super) span: (i64, i64),
    /// From where to where it was measured, if that is known, on the machine's monotonic clock.
    pub(super) measured: Option<(i64, i64)>,
    /// What happened meanwhile.
    pub(super) moments: Vec<Moment>,
}

/// From when to when a repeat was observed, in nanoseconds of the machine's monotonic clock: while its command ran, and its samples were
/// taken. Samples alone do not tell it: of a repeat that is shorter than what lies between two of them there is one, or two at its ends.
pub(super) fn observed(repeat: &Repeat, series: &[&Series]) -> (i64, i64) {
    let (first, last) = span(series);
    let of_command = repeat.usage.as_ref().map(|usage| (usage.t_ns, usage.wall_ns));
    let of_report = repeat.report.as_ref().map(|report| (report.t_ns, report.wall_ns));
    let told = || of_command.into_iter().chain(of_report);
    let from_to = |(began, wall): (Option<i64>, u64)| began.map(|began| (began, began.saturating_add_unsigned(wall)));
    match told().find_map(from_to).filter(|(began, ended)| *began <= last && *ended >= first) {
        Some((began, ended)) => (began.min(first), ended.max(last)),
        None => {
            // Older runs know how long it took and not when it began: as much of it is put before the samples as after them.
            let wall = told().map(|(_, wall)| wall).next().unwrap_or(0);
            let more = i64::try_from(wall).unwrap_or(i64::MAX).saturating_sub(last.saturating_sub(first)).max(0);
            (first.saturating_sub(more / 2), last.saturating_add(more - more / 2))
        }
    }
}

/// The first and the last moment of these series, in nanoseconds.
pub(super) fn span(series: &[&Series]) -> (i64, i64) {
    let times = || series.iter().flat_map(|series| series.times_ns.first().into_iter().chain(series.times_ns.last()));
    (times().min().copied().unwrap_or(0), times().max().copied().unwrap_or(0))
}

/// Something that happened.
pub(super) struct Moment {
    /// When, on the machine's monotonic clock.
    pub(super) t_ns: i64,
    /// Its style: `phase`, `operation`, `fault`, `recovery`, `gate`.
    pub(super) class: &'static str,
    pub(super) label: Phrase,
}

/// The charts of a scenario's run.
pub(super) struct Charts {
    /// The repeats, which all of them have.
    pub(super) bands: Vec<Band>,
    /// The instrument's.
    pub(super) instrument: Vec<Chart>,
    /// The machine's.
    pub(super) machine: Vec<Chart>,
    /// Metrics that had one value throughout.
    pub(super) constant: Vec<String>,
}

/// One chart.
pub(super) struct Chart {
    /// Its name on the page, for the references between its parts.
    pub(super) id: String,
    /// What is drawn.
    pub(super) title: Phrase,
    /// How much of it, and its extremes.
    pub(super) caption: Phrase,
    pub(super) lines: Vec<Line>,
    pub(super) ticks: Vec<Tick>,
    pub(super) readout: Readout,
    /// The length of the axis of time.
    pub(super) length: String,
}

impl Chart {
    /// The drawing with its lines, over the places of its repeats.
    pub(super) fn scene(&self, bands: &[Band]) -> Scene {
        let mut scene = Scene::new(self.id.clone(), self.title.clone(), Description::None, self.ticks.clone());
        scene.marks.extend(bands.iter().map(Band::mark));
        scene.rules();
        scene.axes();
        for (number, line) in self.lines.iter().enumerate() {
            scene.push(Role::Line(number), Shape::Path(line.path.clone()));
        }
        scene
    }
}

/// A repeat's place in a chart.
pub(super) struct Band {
    /// Its number, `w` before it for a warm-up.
    pub(super) repeat: String,
    pub(super) left: f64,
    pub(super) width: f64,
    /// In hundredths of the whole, for the label over it.
    pub(super) percent: f64,
    pub(super) label: String,
    pub(super) class: &'static str,
    pub(super) title: Phrase,
}

impl Band {
    /// Where it is, for who asks which repeat this is.
    pub(super) fn mark(&self) -> Mark {
        let (role, shape) = (Role::Band(self.class), column(self.left, self.width));
        Mark { role, shape, title: Some(self.title.clone()) }
    }
}

/// A line of a chart.
pub(super) struct Line {
    /// Its name, if the chart has several.
    pub(super) name: Option<Phrase>,
    /// What is drawn of it, where it is not the page's script that draws it.
    pub(super) path: Path,
    /// Those of its points that a page holds.
    pub(super) points: Points,
}

/// What a chart is about, in the order in which charts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'a> {
    /// What the CPU time of the whole machine went to.
    CpuTime,
    /// How busy the busiest and the idlest CPU are.
    EachCpuBusy,
    /// Another metric of each CPU.
    EachCpu(&'a str),
    /// A metric of each LUN.
    EachLun(&'a str),
    /// Any other metric.
    Metric(&'a str),
}

impl<'a> Subject<'a> {
    fn of(series: &'a Series) -> Self {
        let metric = &series.metric;
        match (series.origin, cpu_metric(metric), cpu_time(metric)) {
            (Origin::Machine, _, Some((Cpu::All, _))) => Self::CpuTime,
            (Origin::Machine, _, Some((Cpu::One(_), _))) => Self::EachCpuBusy,
            (Origin::Machine, Some((Cpu::One(_), name)), None) => Self::EachCpu(name),
            (Origin::Instrument, ..) => lun_metric(metric).map_or(Self::Metric(metric), Self::EachLun),
            _ => Self::Metric(metric),
        }
    }

    /// How its values are written, and the factor to that.
    fn scale(self) -> (Scale, f64) {
        match self {
            Self::CpuTime | Self::EachCpuBusy => (Scale::Unit(Unit::Percent), 1.0),
            Self::EachCpu(name) | Self::EachLun(name) | Self::Metric(name) => Scale::of(name),
        }
    }

    fn title(self) -> Phrase {
        let of_metric = |name: &str, each: Option<&Phrase>| {
            let said = words::sampled(name);
            // Words say what is drawn of a counter; its name does not.
            let slope = (said.is_none() && is_counter(name)).then(|| TEXTS.slope.clone());
            let title: Vec<_> = said.or_else(|| Some(name.into())).into_iter().chain(each.cloned()).collect();
            Phrase::joined(&[Phrase::joined(&title, ", ")].into_iter().chain(slope).collect::<Vec<_>>(), ": ")
        };
        match self {
            Self::CpuTime => TEXTS.cpu.clone(),
            Self::EachCpuBusy => TEXTS.each_cpu_busy.clone(),
            Self::EachCpu(name) => of_metric(name, Some(&TEXTS.each_cpu)),
            Self::EachLun(name) => of_metric(name, Some(&TEXTS.each_lun)),
            Self::Metric(name) => of_metric(name, None),
        }
    }

    /// The lines of one repeat. `threads` is the number of CPUs.
    fn lines(self, series: &[&'a Series], threads: u32, origin_ns: i64) -> Vec<(&'static str, Vec<Stretch>)> {
        let line = |series: &&Series| {
            if is_counter(&series.metric) {
                series::slopes(series, origin_ns)
            } else {
                series::values(series, origin_ns)
            }
        };
        match self {
            Self::CpuTime => series::cpu_shares(series, threads, origin_ns),
            Self::EachCpuBusy => {
                let mut cpus: BTreeMap<Cpu, Vec<&Series>> = BTreeMap::new();
                for one in series {
                    cpus.entry(cpu_time(&one.metric).map_or(Cpu::All, |(cpu, _)| cpu)).or_default().push(one);
                }
                let busy = |counters: &Vec<&Series>| {
                    let shares = series::cpu_shares(counters, 1, origin_ns).into_iter();
                    shares.filter(|(name, _)| *name == "busy").flat_map(|(_, stretches)| stretches).collect()
                };
                series::envelope(cpus.values().map(busy).collect())
            }
            Self::EachCpu(_) | Self::EachLun(_) => series::envelope(series.iter().map(line).collect()),
            Self::Metric(_) => vec![("", series.iter().flat_map(line).collect())],
        }
    }
}

/// About how many charts these series make.
pub(super) fn number_of_charts(series: &[&Series]) -> usize {
    let subjects: BTreeSet<_> = series.iter().map(|series| (series.origin, Subject::of(series))).collect();
    subjects.len()
}

/// Draws all series of a scenario's run. `prefix` makes the charts' names unique.
pub(super) fn charts(segments: &[Segment], threads: u32, detail: Detail, prefix: &str) -> Charts {
    let axis = Axis::new(segments);
    let mut raw: BTreeMap<(Origin, Subject), Raw> = BTreeMap::new();
    for (segment, (origin_ns, offset)) in segments.iter().zip(&axis.origins) {
        let mut subjects: BTreeMap<(Origin, Subject), Vec<&Series>> = BTreeMap::new();
        for one in &segment.series {
            subjects.entry((one.origin, Subject::of(one))).or_default().push(one);
        }
        for ((origin, subject), series) in subjects {
            let (scale, factor) = subject.scale();
            let chart = raw.entry((origin, subject)).or_insert_with(|| Raw { scale, samples: 0, lines: Vec::new() });
            chart.samples += series.iter().map(|series| series.values.len()).sum::<usize>();
            for (name, stretches) in subject.lines(&series, threads, *origin_ns) {
                chart.add(name, stretches, *offset, factor);
            }
        }
    }
    let mut charts = Charts { bands: Vec::new(), instrument: Vec::new(), machine: Vec::new(), constant: Vec::new() };
    for ((origin, subject), mut raw) in raw {
        let Some((low, high)) = raw.range() else { continue };
        if low == high
            && let Subject::Metric(name) | Subject::EachCpu(name) | Subject::EachLun(name) = subject
        {
            charts.constant.push(format!("{name} = {}", raw.scale.show(low)));
            continue;
        }
        if subject == Subject::CpuTime {
            // Of the parts only those that happened are drawn.
            raw.lines.retain(|(name, line)| *name == "busy" || line.iter().flatten().any(|point| point.1 != 0.0));
        }
        let (list, mark) =
            if origin == Origin::Instrument { (&mut charts.instrument, 'i') } else { (&mut charts.machine, 'm') };
        let id = format!("{prefix}-{mark}{}", list.len());
        list.push(raw.chart(id, subject, &axis, detail, (low, high)));
    }
    charts.bands = axis.bands;
    charts
}

/// The axis of time: the repeats' samples one after the other.
pub(super) struct Axis {
    /// For each segment its first moment in nanoseconds, and where it stands on the axis in seconds.
    pub(super) origins: Vec<(i64, f64)>,
    pub(super) bands: Vec<Band>,
    pub(super) seconds: f64,
}

impl Axis {
    pub(super) fn new(segments: &[Segment]) -> Self {
        let mut offset = 0.0;
        let mut spans = Vec::new();
        for segment in segments {
            let (first, last) = segment.span;
            let length = last.saturating_sub(first) as f64 * 1e-9;
            spans.push((first, offset, length));
            offset += length;
        }
        let seconds = if offset > 0.0 { offset } else { 1.0 };
        let band = |(segment, (_, start, length)): (&Segment, &(i64, f64, f64))| Band {
            left: (start / seconds * CANVAS.0).round(),
            width: (length / seconds * CANVAS.0).round(),
            percent: start / seconds * 100.0,
            repeat: segment.repeat.clone(),
            label: if length / seconds > 0.035 { segment.label.clone() } else { String::new() },
            class: segment.class,
            title: segment.title.clone(),
        };
        let bands = segments.iter().zip(&spans).map(band).collect();
        Self { origins: spans.into_iter().map(|(first, start, _)| (first, start)).collect(), bands, seconds }
    }
}

/// A chart's data before it is drawn.
struct Raw {
    scale: Scale,
    samples: usize,
    lines: Vec<(&'static str, Vec<Stretch>)>,
}

impl Raw {
    fn add(&mut self, name: &'static str, stretches: Vec<Stretch>, offset: f64, factor: f64) {
        let moved = stretches.into_iter().map(|mut stretch| {
            stretch.iter_mut().for_each(|(time, value)| (*time, *value) = (*time + offset, *value * factor));
            stretch
        });
        match self.lines.iter_mut().find(|(line, _)| *line == name) {
            Some((_, line)) => line.extend(moved),
            None => self.lines.push((name, moved.collect())),
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let values = || self.lines.iter().flat_map(|(_, stretches)| stretches.iter().flatten().map(|point| point.1));
        let (low, high) =
            values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // Values too far apart for numbers to tell have no axis.
        let (bottom, top) = padded(low, high);
        (low <= high && (top - bottom).is_finite()).then_some((low, high))
    }

    fn chart(self, id: String, subject: Subject, axis: &Axis, detail: Detail, (low, high): (f64, f64)) -> Chart {
        let (bottom, top) = match subject {
            Subject::CpuTime => (0.0, top_of_shares(low, high)),
            Subject::EachCpuBusy => (padded(low, high).0, top_of_shares(low, high)),
            _ => padded(low, high),
        };
        let total: usize = self.lines.iter().flat_map(|(_, stretches)| stretches).map(Vec::len).sum();
        let mut points = 0;
        let several = self.lines.len() > 1;
        let mut lines = Vec::new();
        for (name, stretches) in &self.lines {
            let drawn = detail.drawn(stretches, axis.seconds);
            points += drawn.iter().map(Vec::len).sum::<usize>();
            let path = match detail.purpose {
                Purpose::Page => Path::new(),
                Purpose::Files => path(drawn.iter(), axis.seconds, (bottom, top)),
            };
            let points = detail.held(stretches, &drawn);
            lines.push(Line { name: several.then(|| line_name(name)), path, points });
        }
        let shown = (points < total).then(|| grouped(points));
        let (lowest, highest) = self.scale.show_range(low, high);
        let caption = drawn(&lowest, &highest, &grouped(self.samples), shown.as_deref());
        let ticks = ticks(self.scale, bottom, top);
        Chart {
            id,
            title: subject.title(),
            caption,
            lines,
            ticks,
            readout: self.scale.readout(bottom, top, false),
            length: duration(axis.seconds * 1e9),
        }
    }
}

pub(super) fn line_name(name: &str) -> Phrase {
    match name {
        "user" => TEXTS.user.clone(),
        "system" => TEXTS.system.clone(),
        "iowait" => TEXTS.iowait.clone(),
        "steal" => TEXTS.steal.clone(),
        "lowest" => TEXTS.lowest.clone(),
        "mean" => TEXTS.mean.clone(),
        "highest" => TEXTS.highest.clone(),
        _ => TEXTS.busy.clone(),
    }
}

/// As wide as this a single point is drawn, in units of the canvas: of a dot as wide as the line nothing would be seen.
const DOT: f64 = 16.0;

/// A line over these stretches, in whole units. A single point becomes a dash about its place.
pub(super) fn path<'a>(stretches: impl Iterator<Item = &'a Stretch>, seconds: f64, (bottom, top): (f64, f64)) -> Path {
    let at = |(time, value): &series::Point| -> Point {
        let x = (time / seconds * CANVAS.0).round().clamp(0.0, CANVAS.0);
        (x, ((top - value) / (top - bottom) * CANVAS.1).round().clamp(0.0, CANVAS.1))
    };
    let line = |stretch: &Stretch| match stretch.as_slice() {
        [one] => {
            let (x, y) = at(one);
            let left = (x - DOT / 2.0).clamp(0.0, CANVAS.0 - DOT);
            vec![(left, y), (left + DOT, y)]
        }
        points => points.iter().map(at).collect(),
    };
    stretches.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_point_alone_is_wide_enough_to_be_seen_and_stays_on_the_canvas() {
        let drawn = |time: f64| path([vec![(time, 0.5)]].iter(), 10.0, (0.0, 1.0)).concat();
        let dash = |from, to| vec![(from, 500.0), (to, 500.0)];
        assert_eq!([0.0, 5.0, 10.0].map(drawn), [dash(0.0, 16.0), dash(1992.0, 2008.0), dash(3984.0, 4000.0)]);
    }

    fn one(metric: &str, values: Vec<f64>) -> Series {
        let times_ns = (0..values.len() as i64).map(|index| 1_000 + index * 1_000_000_000).collect();
        Series { metric: metric.into(), origin: Origin::Machine, times_ns, values }
    }

    fn of(series: &[Series]) -> Charts {
        let segment = Segment {
            repeat: "1".into(),
            label: "1".into(),
            class: "valid",
            title: Phrase::default(),
            series: series.iter().collect(),
            span: span(&series.iter().collect::<Vec<_>>()),
            measured: None,
            moments: Vec::new(),
        };
        charts(&[segment], 2, Detail::of(Purpose::Files, 1, 0), "c")
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let drawn = of(&[one("x", vec![]), one("y_total", vec![5.0]), one("z", vec![f64::NAN])]);
        assert!(drawn.machine.is_empty() && drawn.instrument.is_empty() && drawn.constant.is_empty());
        assert!(charts(&[], 2, Detail::of(Purpose::Files, 1, 0), "c").machine.is_empty());
    }

    #[test]
    fn a_line_that_never_moves_becomes_a_sentence() {
        let drawn = of(&[one("swap.pages_total", vec![7.0, 7.0, 7.0]), one("cpu.clock_hz", vec![3.1e9, 3.1e9])]);
        assert_eq!(drawn.constant, ["cpu.clock_hz = 3.10 GHz", "swap.pages_total = 0 /s"]);
    }

    #[test]
    fn many_cpus_make_few_charts() {
        let mut series = Vec::new();
        for cpu in 0..128 {
            series.push(one(&format!("cpu{cpu}.frequency_hz"), vec![3e9, 3e9 + f64::from(cpu), 3e9]));
            series.push(one(&format!("cpu{cpu}.user_ns_total"), vec![0.0, 5e8, 1e9]));
            series.push(one(&format!("cpu{cpu}.idle_ns_total"), vec![0.0, 5e8, 2e9]));
        }
        series.push(one("cpu.user_ns_total", vec![0.0, 5e8, 2e9]));
        let drawn = of(&series);
        let titles: Vec<_> = drawn.machine.iter().map(|chart| chart.title.english()).collect();
        assert_eq!(
            titles,
            ["CPU time, % of the whole machine", "Busy time of each CPU, %", "Clock frequency, of each CPU"]
        );
        assert_eq!(drawn.machine[1].lines.len(), 3);
        assert_eq!(number_of_charts(&series.iter().collect::<Vec<_>>()), 3);
    }

    #[test]
    fn a_path_goes_from_corner_to_corner() {
        let stretches = [vec![(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)], vec![(1.0, 0.5)]];
        let lines = path(stretches.iter(), 2.0, (0.0, 1.0));
        assert_eq!(lines[0], [(0.0, 1000.0), (2000.0, 0.0), (4000.0, 1000.0)]);
        assert_eq!(lines[1], [(1992.0, 500.0), (2008.0, 500.0)]);
    }

    proptest! {
        #[test]
        fn no_chart_has_a_value_that_is_no_number(values in prop::collection::vec(any::<f64>(), 0..60), counter in any::<bool>()) {
            let drawn = of(&[one(if counter { "x_total" } else { "x" }, values)]);
            for chart in drawn.machine {
                let points = chart.lines.iter().flat_map(|line| line.path.iter().flatten());
                prop_assert!(points.into_iter().all(|(x, y)| x.is_finite() && y.is_finite()));
                prop_assert!(chart.ticks.len() <= 9 && chart.ticks.iter().all(|tick| tick.percent.is_finite()));
            }
        }
    }
}
