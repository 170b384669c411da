//! All that happened while a scenario loaded storage, on one axis of time: rows of drawings one below the other, and lines through all of
//! them where something happened.

mod subject;

use stend_model::metric::Unit;
use stend_model::run::{Origin, Series};

use super::chart::{Axis, Band, Detail, Segment, path};
use super::phrase::Phrase;
use super::points::Points;
use super::scale::{CANVAS, Scale, Tick, log_ticks, padded, ticks, top_of_shares};
use super::scene::{Description, Mark, Role, Scene, Shape, column, upright};
use super::series::{Stretch, lun_metric};
use super::text::{decimals_for, duration, grouped};
use super::texts::drawn;
use subject::{Repeat, Subject};

/// A part of a repeat this short beside its measured part is not shaded.
const SHORTEST_ASIDE: f64 = 0.005;

/// The width of a flag's number on a narrow screen, in hundredths of the drawing's.
const FLAG_PERCENT: f64 = 7.0;

/// At most so many numbers stand one below the other.
const MOST_LEVELS: usize = 4;

/// The whole drawing.
pub(super) struct Timeline {
    pub(super) rows: Vec<Row>,
    pub(super) bands: Vec<Band>,
    pub(super) flags: Vec<Flag>,
    /// Rows of the flags' numbers.
    pub(super) levels: usize,
    /// Round moments.
    pub(super) moments: Vec<Tick>,
}

/// A drawing in it.
pub(super) struct Row {
    pub(super) caption: Phrase,
    /// The names of its lines, if it has several.
    pub(super) names: Vec<Phrase>,
    /// Whether what is below each line is filled, because they stand one on the other.
    pub(super) stacked: bool,
    pub(super) scene: Scene,
    /// Of each line those of its points that a page holds.
    pub(super) points: Vec<Points>,
}

/// Operations a second of what is no storage, as instruments call it.
const RATE: &str = "operations_per_s";

/// A moment at which something happened.
pub(super) struct Flag {
    pub(super) number: usize,
    /// How many rows below the first its number stands, so that numbers do not cover each other.
    pub(super) level: usize,
    pub(super) x: f64,
    pub(super) percent: f64,
    /// Its style: `phase`, `operation`, `fault`, `recovery`, `gate`.
    pub(super) class: &'static str,
    /// When, from the beginning of its repeat.
    pub(super) time: String,
    /// The repeat, where there are several.
    pub(super) repeat: String,
    pub(super) label: Phrase,
}

/// Whether a series is drawn here, so that it needs no drawing of its own.
pub(super) fn draws(series: &Series) -> bool {
    let metric = series.metric.as_str();
    match series.origin {
        Origin::Instrument => {
            let plain =
                ["read_", "write_", "trim_"].iter().find_map(|prefix| metric.strip_prefix(prefix)).unwrap_or(metric);
            ["iops", "bandwidth_bytes_per_s"].contains(&plain)
                || metric == RATE
                || (plain.starts_with("latency_") && plain.ends_with("_ns"))
                || lun_metric(metric) == Some("iops")
        }
        Origin::Machine => metric.starts_with("cpu.") && metric.ends_with("_ns_total"),
    }
}

/// Whether a scenario's series are those of a load that was looked at all the time.
fn is_of_load(series: &[&Series]) -> bool {
    let is_rate = |metric: &str| metric.ends_with("iops") || metric == RATE;
    series.iter().any(|series| series.origin == Origin::Instrument && is_rate(&series.metric))
}

/// Draws a scenario's run, with names on the page that begin with `id`; `None` where nothing was loaded that has a timeline.
pub(super) fn timeline(segments: &[Segment], threads: u32, detail: Detail, id: String) -> Option<Timeline> {
    if !segments.iter().any(|segment| is_of_load(&segment.series)) {
        return None;
    }
    let axis = Axis::new(segments);
    let repeats: Vec<_> = segments
        .iter()
        .zip(&axis.origins)
        .map(|(segment, (origin_ns, offset))| {
            let series = segment.series.iter().map(|one| ((one.origin, one.metric.as_str()), *one)).collect();
            (Repeat { series, threads, origin_ns: *origin_ns }, *offset)
        })
        .collect();
    let (flags, asides, moments) = (flags(segments, &axis), asides(segments, &axis), moments(axis.seconds));
    let mut rows: Vec<Row> =
        Subject::ALL.into_iter().filter_map(|subject| row(subject, &repeats, &axis, detail, &id)).collect();
    for Row { scene, .. } in &mut rows {
        let lines = std::mem::take(&mut scene.marks);
        scene.marks.extend(axis.bands.iter().map(Band::mark));
        for (left, width) in &asides {
            scene.push(Role::Aside, column(*left, *width));
        }
        scene.rules();
        for moment in &moments {
            scene.push(Role::Rule, upright(moment.x()));
        }
        scene.axes();
        scene.marks.extend(lines);
        for flag in &flags {
            scene.push_titled(Role::Flag(flag.class), upright(flag.x), flag.label.clone());
        }
    }
    let levels = flags.iter().map(|flag| flag.level + 1).max().unwrap_or(0);
    Some(Timeline { rows, flags, levels, moments, bands: axis.bands })
}

fn row(subject: Subject, repeats: &[(Repeat, f64)], axis: &Axis, detail: Detail, id: &str) -> Option<Row> {
    let mut lines: Vec<(Phrase, Vec<Stretch>)> = Vec::new();
    for (repeat, offset) in repeats {
        for (name, mut stretches) in subject.lines(repeat) {
            stretches.iter_mut().flatten().for_each(|point| point.0 += offset);
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, line)) => line.extend(stretches),
                None => lines.push((name, stretches)),
            }
        }
    }
    if subject.logarithmic() {
        lines.iter_mut().flat_map(|(_, line)| line).for_each(|stretch| stretch.retain(|point| point.1 > 0.0));
    }
    lines.retain(|(_, line)| line.iter().any(|stretch| !stretch.is_empty()));
    let values = || lines.iter().flat_map(|(_, line)| line.iter().flatten().map(|point| point.1));
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let scale = subject.scale(repeats.iter().any(|(repeat, _)| repeat.has_rate()));
    let (bottom, top, ticks) = if subject.logarithmic() {
        let air = 0.02 + 0.05 * (high / low).log10();
        let (bottom, top) = (low.log10() - air, high.log10() + air);
        (bottom, top, log_ticks(scale, bottom, top))
    } else {
        // From nothing, so that a dip is seen for as deep as it is.
        let high = high.max(f64::MIN_POSITIVE);
        let top = if scale == Scale::Unit(Unit::Percent) { top_of_shares(0.0, high) } else { padded(0.0, high).1 };
        (0.0, top, ticks(scale, 0.0, top))
    };
    let samples: usize = lines.iter().flat_map(|(_, line)| line).map(Vec::len).sum();
    let stacked = subject == Subject::Shares;
    let height = |value: f64| if subject.logarithmic() { value.log10() } else { value };
    let id = format!("{id}-{}", subject as usize);
    let (lowest, highest) =
        if subject.logarithmic() { (scale.show(low), scale.show(high)) } else { scale.show_range(low, high) };
    let mut drawn_points = 0;
    let (mut marks, mut points) = (Vec::new(), Vec::new());
    for (number, (_, line)) in lines.iter().enumerate() {
        let kept = detail.drawn(line, axis.seconds);
        let place = |stretch: &Stretch| {
            let mut placed: Stretch = stretch.iter().map(|(moment, value)| (*moment, height(*value))).collect();
            if stacked && let (Some(first), Some(last)) = (placed.first().copied(), placed.last().copied()) {
                // Down to the ground and back, so that it can be filled.
                placed.insert(0, (first.0, 0.0));
                placed.push((last.0, 0.0));
            }
            placed
        };
        drawn_points += kept.iter().map(Vec::len).sum::<usize>();
        let placed: Vec<Stretch> = kept.iter().map(place).collect();
        let role = if stacked { Role::Area(number) } else { Role::Line(number) };
        marks.push(Mark::new(role, Shape::Path(path(placed.iter(), axis.seconds, (bottom, top)))));
        points.push(detail.held(line, &kept));
    }
    if stacked {
        // What stands on others is behind them.
        marks.reverse();
    }
    let shown = (drawn_points < samples).then(|| grouped(drawn_points));
    let caption = drawn(&lowest, &highest, &grouped(samples), shown.as_deref());
    let names = if lines.len() > 1 { lines.into_iter().map(|(name, _)| name).collect() } else { Vec::new() };
    let scene = Scene {
        tall: false,
        readout: Some(scale.readout(bottom, top, subject.logarithmic())),
        marks,
        ..Scene::new(id, subject.title(), Description::Within(caption.clone()), ticks)
    };
    Some(Row { caption, names, stacked, scene, points })
}

/// Where a moment of a repeat stands on the axis, in seconds; never outside the repeat.
fn place(axis: &Axis, repeat: usize, t_ns: i64) -> f64 {
    let (origin_ns, offset) = axis.origins[repeat];
    let end = axis.origins.get(repeat + 1).map_or(axis.seconds, |next| next.1);
    (offset + t_ns.saturating_sub(origin_ns) as f64 * 1e-9).clamp(offset, end)
}

fn flags(segments: &[Segment], axis: &Axis) -> Vec<Flag> {
    let mut flags = Vec::new();
    for (repeat, segment) in segments.iter().enumerate() {
        for moment in &segment.moments {
            let at = place(axis, repeat, moment.t_ns);
            flags.push(Flag {
                number: 0,
                level: 0,
                x: (at / axis.seconds * CANVAS.0).round(),
                percent: at / axis.seconds * 100.0,
                class: moment.class,
                time: duration((at - axis.origins[repeat].1) * 1e9),
                repeat: if segments.len() > 1 { segment.label.clone() } else { String::new() },
                label: moment.label.clone(),
            });
        }
    }
    flags.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut levels: Vec<f64> = Vec::new();
    for (flag, number) in flags.iter_mut().zip(1..) {
        flag.number = number;
        let free = levels.iter().position(|last| flag.percent - last >= FLAG_PERCENT);
        flag.level = free.unwrap_or(if levels.len() < MOST_LEVELS { levels.len() } else { 0 });
        match levels.get_mut(flag.level) {
            Some(last) => *last = flag.percent,
            None => levels.push(flag.percent),
        }
    }
    flags
}

/// What of each repeat lies before and after its measured part: its run-up, laying out files, reading back.
fn asides(segments: &[Segment], axis: &Axis) -> Vec<(f64, f64)> {
    let mut asides = Vec::new();
    for (repeat, segment) in segments.iter().enumerate() {
        let Some((began, ended)) = segment.measured else { continue };
        let (first, last) = (place(axis, repeat, i64::MIN), place(axis, repeat, i64::MAX));
        for (from, to) in [(first, place(axis, repeat, began)), (place(axis, repeat, ended), last)] {
            if (to - from) / axis.seconds > SHORTEST_ASIDE {
                let x = |at: f64| (at / axis.seconds * CANVAS.0).round();
                asides.push((x(from), x(to) - x(from)));
            }
        }
    }
    asides
}

/// Round moments along the axis.
fn moments(seconds: f64) -> Vec<Tick> {
    const STEPS: [f64; 21] = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0,
        600.0, 900.0, 1800.0,
    ];
    let wanted = seconds / 5.0;
    let step = STEPS.into_iter().find(|step| *step >= wanted);
    let step = step.unwrap_or_else(|| (wanted / 3600.0).ceil() * 3600.0);
    let label = |at: f64| {
        let whole = at.round() as u64;
        match whole {
            _ if at == 0.0 => "0".into(),
            _ if step < 1.0 => format!("{at:.*} s", decimals_for(step)),
            ..120 if step < 60.0 => format!("{whole} s"),
            _ if whole < 3600 => format!("{}:{:02}", whole / 60, whole % 60),
            _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
        }
    };
    let count = (seconds / step).floor() as u32;
    (0..=count).map(|index| f64::from(index) * step).map(|at| Tick::at(at / seconds, label(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{self, Purpose};
    use crate::texts::TEXTS;

    const SECOND: i64 = 1_000_000_000;

    fn series(metric: &str, origin: Origin, value: impl Fn(i64) -> f64) -> Series {
        let times: Vec<i64> = (0..=600).map(|tick| 50 * SECOND + tick * SECOND / 10).collect();
        let values = (0..=600).map(value).collect();
        Series { metric: metric.into(), origin, times_ns: times, values }
    }

    /// A minute of one of two processors that works: half of it the load, a quarter and an eighth two controllers.
    fn storage() -> Vec<Series> {
        let machine = |metric: &str, share: f64| series(metric, Origin::Machine, move |tick| share * tick as f64 * 1e8);
        let gauge = |metric: &str, value: f64| {
            series(metric, Origin::Instrument, move |tick| if tick == 300 { value * 40.0 } else { value })
        };
        vec![
            machine("cpu.user_ns_total", 0.6),
            machine("cpu.system_ns_total", 0.4),
            machine("cpu.idle_ns_total", 0.9),
            machine("cpu.steal_ns_total", 0.1),
            machine("loader.user_ns_total", 0.25),
            machine("loader.system_ns_total", 0.25),
            machine("controller0.cpu_ns_total", 0.25),
            machine("controller1.cpu_ns_total", 0.125),
            machine("pool.queue_ns_total", 3.0),
            machine("pool.busy_ns_total", 0.5),
            machine("disk.vda.queue_ns_total", 9.0),
            gauge("iops", 12_000.0),
            gauge("lun0.iops", 4_000.0),
            gauge("lun1.iops", 8_000.0),
            gauge("latency_p50_ns", 100_000.0),
            gauge("latency_max_ns", 2_000_000.0),
        ]
    }

    fn segment<'a>(series: &'a [Series], moments: Vec<chart::Moment>) -> Segment<'a> {
        Segment {
            repeat: "1".into(),
            label: "1".into(),
            class: "valid",
            title: Phrase::default(),
            series: series.iter().collect(),
            span: chart::span(&series.iter().collect::<Vec<_>>()),
            measured: Some((60 * SECOND, 110 * SECOND)),
            moments,
        }
    }

    fn drawn_of(series: &[Series], moments: Vec<chart::Moment>) -> Timeline {
        timeline(&[segment(series, moments)], 2, Detail::of(Purpose::Files, 1, 0), "t".into()).unwrap()
    }

    fn row<'a>(timeline: &'a Timeline, title: &Phrase) -> &'a Row {
        timeline.rows.iter().find(|row| row.scene.title == *title).unwrap_or_else(|| panic!("{title:?}"))
    }

    fn names(row: &Row) -> Vec<String> {
        row.names.iter().map(|name| name.english().to_string()).collect()
    }

    #[test]
    fn the_share_of_a_single_window_is_filled_over_all_of_it() {
        let mut series = storage();
        for one in &mut series {
            one.times_ns = vec![70 * SECOND, 90 * SECOND];
            one.values.truncate(2);
        }
        let drawn = drawn_of(&series, vec![]);
        let shares = row(&drawn, &TEXTS.timeline_shares);
        assert!(shares.stacked && shares.names.len() > 2);
        for number in 0..shares.names.len() {
            // From the ground up at the left, across all of it, and down to the ground.
            let area = shares.scene.paths(Role::Area(number)).concat();
            let [(0.0, 1000.0), (0.0, left), (4000.0, right), (4000.0, 1000.0)] = area[..] else { panic!("{area:?}") };
            assert!(left == right && left < 1000.0, "{area:?}");
        }
    }

    #[test]
    fn who_used_the_machine_stands_one_on_the_other() {
        let series = storage();
        let repeat = Repeat {
            series: series.iter().map(|one| ((one.origin, one.metric.as_str()), one)).collect(),
            threads: 2,
            origin_ns: 50 * SECOND,
        };
        let shares = repeat.shares();
        let at_end: Vec<_> = shares.iter().map(|(name, line)| (name.english(), line[0].last().unwrap().1)).collect();
        let wanted = [
            ("load", 25.0),
            ("controller 0", 37.5),
            ("controller 1", 43.75),
            ("other programs and the kernel", 50.0),
            ("taken by the hypervisor", 55.0),
        ];
        for ((name, share), (wanted_name, wanted)) in at_end.iter().zip(wanted) {
            assert!(*name == wanted_name && (share - wanted).abs() < 1e-6, "{at_end:?}");
        }
        assert_eq!(at_end.len(), wanted.len());
        let drawn = drawn_of(&series, vec![]);
        let row = row(&drawn, &TEXTS.timeline_shares);
        assert!(row.stacked && row.names.len() == 5);
        // Each area begins and ends on the ground.
        for area in (0..5).map(|number| row.scene.paths(Role::Area(number)).concat()) {
            assert!(area[0].1 == 1000.0 && area[1].1 < 1000.0 && area[area.len() - 1].1 == 1000.0, "{area:?}");
        }
    }

    #[test]
    fn a_server_has_its_part_beside_the_load() {
        let mut series = storage();
        let machine = |metric: &str| super::tests::series(metric, Origin::Machine, |tick| tick as f64 * 1e7);
        series.extend(["server-nginx.cpu_ns_total", "server-nginx.memory_bytes"].map(machine));
        let drawn = drawn_of(&series, vec![]);
        let controllers = TEXTS.controllers.english().to_string();
        let parts = ["load", &controllers, "server nginx", "other programs and the kernel", "taken by the hypervisor"];
        assert_eq!(names(row(&drawn, &TEXTS.timeline_shares)), parts);
        series.retain(|one| !one.metric.starts_with("controller"));
        let drawn = drawn_of(&series, vec![]);
        assert_eq!(names(row(&drawn, &TEXTS.timeline_shares))[..2], ["load", "server nginx"]);
        // However many there are, each line has a colour of its own.
        let many = |number| machine(&format!("server-s{number}.cpu_ns_total"));
        series.extend((0..30).map(many));
        assert_eq!(names(row(&drawn_of(&series, vec![]), &TEXTS.timeline_shares)).len(), 5);
    }

    #[test]
    fn every_subject_has_its_row_and_what_is_unknown_none() {
        let drawn = drawn_of(&storage(), vec![]);
        assert_eq!(names(row(&drawn, &TEXTS.timeline_latency)), ["p50", "highest"]);
        assert_eq!(names(row(&drawn, &TEXTS.timeline_luns)), ["lowest", "mean", "highest"]);
        assert!(names(row(&drawn, &TEXTS.timeline_queue)).is_empty(), "the pool's disks alone, and not the machine's");
        assert_eq!(
            row(&drawn, &TEXTS.timeline_queue).caption.english().split(';').next(),
            Some("lowest 3.00, highest 3.00")
        );
        assert!(!drawn.rows.iter().any(|row| row.scene.title == TEXTS.timeline_memory), "nobody sampled memory");
        let without: Vec<_> = storage().into_iter().filter(|one| one.origin == Origin::Machine).collect();
        assert!(timeline(&[segment(&without, vec![])], 2, Detail::of(Purpose::Files, 1, 0), "t".into()).is_none());
    }

    #[test]
    fn a_peak_of_one_sample_is_drawn() {
        let mut series = storage();
        let long: Vec<i64> = (0..100_000).map(|tick| 50 * SECOND + tick * SECOND / 10).collect();
        let values = (0..100_000).map(|tick| if tick == 77_777 { 96_000.0 } else { 12_000.0 }).collect();
        series.push(Series { metric: "iops".into(), origin: Origin::Instrument, times_ns: long, values });
        series.swap_remove(11);
        let drawn = drawn_of(&series, vec![]);
        let row = row(&drawn, &TEXTS.timeline_iops);
        assert!(row.caption.english().contains("highest 96.0 kIOPS"), "{}", row.caption.english());
        // Up to the top, which has 6 % of air over it, and down again.
        let line = row.scene.paths(Role::Line(0)).concat();
        let highest = line.iter().map(|(_, y)| *y).fold(1000.0, f64::min);
        assert_eq!(highest, ((1.0 - 1.0 / 1.06) * 1000.0_f64).round());
        assert!(line.len() <= 2000, "{}", line.len());
    }

    #[test]
    fn what_happened_stands_where_it_happened() {
        let at = |t_ns, class, label: &'static str| chart::Moment { t_ns, class, label: label.into() };
        let moments = vec![
            at(80 * SECOND, "recovery", "disk 3 is back"),
            at(65 * SECOND, "fault", "disk 3 dies"),
            at(i64::MAX, "gate", "too much steal"),
            at(81 * SECOND, "phase", "rebuilding"),
        ];
        let drawn = drawn_of(&storage(), moments);
        let flags: Vec<_> =
            drawn.flags.iter().map(|flag| (flag.number, flag.level, flag.x, flag.class, flag.time.as_str())).collect();
        assert_eq!(
            flags,
            [
                (1, 0, 1000.0, "fault", "15.0 s"),
                (2, 0, 2000.0, "recovery", "30.0 s"),
                (3, 1, 2067.0, "phase", "31.0 s"),
                (4, 0, 4000.0, "gate", "60.0 s")
            ]
        );
        // Ten seconds of run-up, and of what came after fifty seconds that were measured nothing.
        let is_aside = |mark: &&Mark| mark.role == Role::Aside;
        let asides: Vec<_> = drawn.rows[0].scene.marks.iter().filter(is_aside).map(|mark| &mark.shape).collect();
        assert!(
            matches!(asides[..], [Shape::Rectangle(aside)] if (aside.left, aside.width) == (0.0, 667.0)),
            "{asides:?}"
        );
        let labels: Vec<_> = drawn.moments.iter().map(|moment| moment.label.as_str()).collect();
        assert_eq!(labels, ["0", "15 s", "30 s", "45 s", "60 s"]);
    }

    #[test]
    fn moments_are_round_whatever_the_length() {
        let labels = |seconds| moments(seconds).into_iter().map(|moment| moment.label).collect::<Vec<_>>();
        assert_eq!(labels(3600.0), ["0", "15:00", "30:00", "45:00", "1:00:00"]);
        assert_eq!(labels(1.5), ["0", "0.5 s", "1.0 s", "1.5 s"]);
        assert_eq!(labels(0.2), ["0", "0.05 s", "0.10 s", "0.15 s", "0.20 s"]);
        assert!((2..=7).contains(&labels(40.0 * 3600.0).len()));
    }
}
