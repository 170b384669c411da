//! What must hold for any input.

use proptest::collection::vec;
use proptest::prelude::*;
use stend_stats::*;

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 1.0..1000.0_f64, 1 => (1..20_u32).prop_map(f64::from), 1 => 1e-9..1e9_f64]
}

fn design() -> impl Strategy<Value = Design> {
    prop::sample::select(vec![Design::InTurns, Design::SessionsInTurns, Design::OneAfterTheOther])
}

/// Anything: NaN, infinities, zeros, negatives, subnormals.
fn anything() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>(),
        2 => positive(),
        1 => prop::sample::select(vec![
            0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN,
            f64::MIN_POSITIVE, 5e-324,
        ]),
        2 => -10.0..10.0_f64,
    ]
}

fn near(x: f64, y: f64) -> bool {
    (x / y).ln().abs() < 1e-9
}

fn cell(a_sessions: Vec<Vec<f64>>, b_sessions: Vec<Vec<f64>>, design: Design, delta: f64) -> Cell {
    Cell { a_sessions, b_sessions, design, direction: Direction::LowerIsBetter, delta }
}

fn scaled(sessions: &[Vec<f64>], by: f64) -> Vec<Vec<f64>> {
    sessions.iter().map(|session| session.iter().map(|value| value * by).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_interval_over_sessions_holds_that_of_all_repeats_and_each_sessions_median(mut given in vec(vec(-1e3..1e3_f64, 3..9), 2..5)) {
        let (low, high) = median_interval_of_sessions(&given).expect("six repeats");
        let pooled = median_interval(&given.concat(), 0.95).expect("six");
        prop_assert!(low <= pooled.low && pooled.high <= high);
        for session in &given {
            let middle = median(session).expect("three");
            prop_assert!(low <= middle && middle <= high);
        }
        given.reverse();
        given.iter_mut().for_each(|session| session.reverse());
        prop_assert_eq!(median_interval_of_sessions(&given), Some((low, high)));
    }

    /// Swapping the sides turns ratio, interval and verdict and nothing else; a unit changes nothing; what all of one side is multiplied by
    /// is in the ratio.
    #[test]
    fn an_effect_swaps_and_scales(pairs in vec(vec((positive(), positive()), 1..8), 1..8), more in vec(positive(), 0..9), of in design(), delta in 0.0..0.3_f64, by in 1e-3..1e3_f64) {
        let a: Vec<Vec<f64>> = pairs.iter().map(|session| session.iter().map(|pair| pair.0).collect()).collect();
        let mut b: Vec<Vec<f64>> = pairs.iter().map(|session| session.iter().map(|pair| pair.1).collect()).collect();
        if of == Design::OneAfterTheOther {
            b[0].extend(more);
        }
        let there = compare(&[cell(a.clone(), b.clone(), of, delta)]).remove(0);
        let back = compare(&[cell(b.clone(), a.clone(), of, delta)]).remove(0);
        let expected = match there.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        prop_assert_eq!((back.verdict, back.reason, back.needed), (expected, there.reason, there.needed));
        prop_assert_eq!(back.p.is_some(), there.p.is_some());
        if let (Some(p), Some(other)) = (there.p, back.p) {
            prop_assert!((p - other).abs() < 1e-9);
        }
        prop_assert!(near(there.ratio.unwrap() * back.ratio.unwrap(), 1.0));
        let both = compare(&[cell(scaled(&a, by), scaled(&b, by), of, delta)]).remove(0);
        prop_assert!(near(both.ratio.unwrap(), there.ratio.unwrap()));
        let one = compare(&[cell(scaled(&a, by), b, of, delta)]).remove(0);
        prop_assert!(near(one.ratio.unwrap(), there.ratio.unwrap() * by));
        if let (Some((low, high)), Some((other, _)), Some((moved, _))) = (there.interval, back.interval, one.interval) {
            prop_assert!(low <= there.ratio.unwrap() * (1.0 + 1e-12) && there.ratio.unwrap() <= high * (1.0 + 1e-12));
            prop_assert!((high * other - 1.0).abs() < 1e-6 && (moved / (low * by) - 1.0).abs() < 1e-6);
        }
    }

    /// Ratio, interval, p and verdict never contradict each other.
    #[test]
    fn a_mark_is_what_interval_and_p_say(a in vec(90.0..110.0_f64, 5..20), factor in 0.5..2.0_f64, delta in 0.0..0.1_f64, cells in 1usize..4) {
        let b: Vec<f64> = a.iter().rev().copied().collect();
        let one = cell(scaled(&[a], factor), vec![b], Design::OneAfterTheOther, delta);
        for found in compare(&vec![one; cells]) {
            let ((low, high), p, q) = (found.interval.unwrap(), found.p.unwrap(), found.q.unwrap());
            let (beyond, within) = (low > 1.0 + delta || high < 1.0 / (1.0 + delta), low >= 1.0 / (1.0 + delta) && high <= 1.0 + delta);
            prop_assert!(p <= q + 1e-15);
            // A 95 % interval beyond δ is a p below 0.05: never the one without the other but by the correction.
            prop_assert!(!beyond || p < 0.05, "{found:?}");
            prop_assert_eq!(matches!(found.verdict, Verdict::Better | Verdict::Worse), beyond && q < 0.05);
            prop_assert_eq!(found.verdict == Verdict::Same, within);
            prop_assert_eq!(found.needed.is_some_and(|needed| needed <= found.counts[0].min(found.counts[1])), false);
            if found.verdict == Verdict::Better {
                prop_assert!(found.ratio.unwrap() < 1.0, "a time that is less");
            }
        }
    }

    #[test]
    fn a_mean_over_one_comparison_is_that_comparison(pairs in vec((positive(), positive()), 5..12), design in design()) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let sessions = |side: &[f64]| side.iter().map(|value| vec![*value]).collect::<Vec<_>>();
        let numbers = Numbers::of(design, &sessions(&a), &sessions(&b)).unwrap().0;
        let one = Effect::of(&numbers).unwrap();
        let mean = Effect::of_all(&[(&numbers, Direction::HigherIsBetter)]).unwrap();
        let turned = Effect::of_all(&[(&numbers, Direction::LowerIsBetter)]).unwrap();
        prop_assert!((mean.difference - one.difference).abs() < 1e-9 && (mean.error - one.error).abs() < 1e-9);
        prop_assert!((turned.difference + one.difference).abs() < 1e-9 && (turned.error - one.error).abs() < 1e-9);
        // Of two alike too, but not of comparisons of both kinds.
        let twice = Effect::of_all(&[(&numbers, Direction::HigherIsBetter); 2]).unwrap();
        prop_assert!((twice.difference - one.difference).abs() < 1e-9 && (twice.error - one.error).abs() < 1e-9);
        let other = match &numbers {
            Numbers::Differences(a) => Numbers::Sides { a: a.clone(), b: a.clone() },
            Numbers::Sides { a, .. } => Numbers::Differences(a.clone()),
        };
        prop_assert_eq!(Effect::of_all(&[(&numbers, Direction::HigherIsBetter), (&other, Direction::HigherIsBetter)]), None);
    }

    #[test]
    fn nothing_panics_and_no_nan_comes_out(
        x in vec(anything(), 0..30), y in vec(anything(), 0..30), s in vec(vec(anything(), 0..8), 0..4),
        p in anything(), d in anything(), of in design(),
    ) {
        let finite = |value: Option<f64>| value.is_none_or(f64::is_finite);
        for value in [median(&x), mean(&x), quantile(&x, p), median_absolute_deviation(&x), coefficient_of_variation(&x)] {
            prop_assert!(finite(value), "{value:?}");
        }
        if x.iter().any(|value| !value.is_finite()) {
            prop_assert_eq!((median(&x), mean(&x)), (None, None));
            prop_assert!(tukey_marks(&x).is_empty());
        }
        let _ = (median_interval(&x, p), median_interval_of_sessions(&s), precision_reached(&x, p), steady_state(&x), tukey_marks(&x));
        prop_assert!(benjamini_hochberg(&x).iter().all(|q| (0.0..=1.0).contains(q)));
        prop_assert!(finite(visible_difference(p, x.len(), of, 0.01, y.len())));
        let cells = [cell(s.clone(), vec![x.clone()], of, d), cell(vec![x], vec![y], of, 0.01), cell(s.clone(), s, of, 0.01)];
        for found in compare(&cells) {
            prop_assert!(finite(found.ratio) && finite(found.p) && finite(found.q), "{found:?}");
            prop_assert!(found.interval.is_none_or(|(low, high)| low > 0.0 && low <= high && high.is_finite()));
        }
    }

    #[test]
    fn median_interval_holds_the_median(values in vec(-1e6..1e6_f64, 0..60), c in 0.01..0.999_f64) {
        if let Some(i) = median_interval(&values, c) {
            let m = median(&values).unwrap();
            prop_assert!(i.low <= m && m <= i.high);
            prop_assert!(i.attained >= c && i.attained <= 1.0);
        } else {
            prop_assert!(1.0 - 0.5_f64.powi(values.len() as i32 - 1) < c);
        }
    }

    #[test]
    fn quantiles_are_ordered_and_within(values in vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..30),
                                        p in 0.0..=1.0_f64, r in 0.0..=1.0_f64) {
        let (low, high) = (quantile(&values, p.min(r)).unwrap(), quantile(&values, p.max(r)).unwrap());
        prop_assert!(low <= high);
        prop_assert!(quantile(&values, 0.0).unwrap() <= low && high <= quantile(&values, 1.0).unwrap());
    }

    #[test]
    fn q_values_are_monotone_and_above_p(p in vec(0.0..=1.0_f64, 0..80)) {
        let q = benjamini_hochberg(&p);
        prop_assert_eq!(q.len(), p.len());
        for i in 0..p.len() {
            prop_assert!(p[i] <= q[i] && q[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || q[i] <= q[j]);
            }
        }
        let mut reversed = p.clone();
        reversed.reverse();
        let mut back = benjamini_hochberg(&reversed);
        back.reverse();
        prop_assert_eq!(back, q);
    }

    #[test]
    fn steadiness_knows_no_unit_and_no_direction(
        x in vec(1.0..1e6_f64, 2..30), rounds in 2usize..9, factor in 1e-3..1e3_f64, range in 0.01..0.5_f64, drift in 0.01..0.5_f64,
    ) {
        let rule = SteadyRule { rounds, range, drift };
        let judge = |x: &[f64]| steady_state_by(x, &rule);
        let Some(state) = judge(&x) else {
            prop_assert!(x.len() < rounds);
            return Ok(());
        };
        let window = &x[x.len() - rounds..];
        let scaled = judge(&window.iter().map(|v| v * factor).collect::<Vec<_>>()).expect("as many");
        let back = judge(&window.iter().rev().copied().collect::<Vec<_>>()).expect("as many");
        for other in [scaled.range - state.range, scaled.drift - state.drift, back.range - state.range, back.drift + state.drift] {
            prop_assert!(other.abs() < 1e-9, "{state:?} {scaled:?} {back:?}");
        }
        // The fitted line cannot climb by more than 1.5 times what the values do, and a straight line climbs by exactly that.
        prop_assert!(state.drift.abs() <= 1.5 * state.range + 1e-9, "{state:?}");
        let line = judge(&(0..rounds).map(|i| 100.0 + i as f64).collect::<Vec<_>>()).expect("as many");
        prop_assert!((line.drift - line.range).abs() < 1e-9 && (line.slope - 1.0).abs() < 1e-9);
        // A stricter rule is never met where a milder one is not.
        let milder = SteadyRule { rounds, range: range * 2.0, drift: drift * 2.0 };
        prop_assert!(!state.steady || steady_state_by(&x, &milder).expect("as many").steady);
        prop_assert_eq!(state.steady, state.range <= range + 1e-12 && state.drift.abs() <= drift + 1e-12);
    }

    #[test]
    fn a_histogram_comes_back_from_its_text(pairs in vec((prop_oneof![0u64..5000, 0u64..120_000_000_000, any::<u64>()], 0u64..1 << 40), 0..60), split in 0usize..60) {
        let of = |pairs: &[(u64, u64)]| {
            let mut latencies = Latencies::default();
            pairs.iter().for_each(|(ns, count)| assert!(latencies.record(*ns, *count)));
            latencies
        };
        let (first, rest) = pairs.split_at(split.min(pairs.len()));
        let again = |latencies: &Latencies| Latencies::from_text(&latencies.to_text()).expect("its own text");
        let (whole, parts) = (of(&pairs), [again(&of(first)), again(&of(rest))]);
        prop_assert_eq!(&again(&whole), &whole);
        prop_assert_eq!(&Latencies::merged(&parts), &whole, "merged is the same as counted at once");
        let counted: u64 = whole.buckets().map(|(_, _, count)| count).sum();
        prop_assert_eq!(counted, pairs.iter().map(|(_, count)| count).sum::<u64>());
        for (ns, _) in pairs.iter().filter(|(ns, count)| *count > 0 && *ns < 60_000_000_000) {
            let of_it = whole.buckets().find(|(low, high, _)| (*low..=*high).contains(ns)).expect("a bucket");
            prop_assert!((of_it.1 - of_it.0) as f64 <= *ns as f64 / 1000.0, "{:?}", of_it);
        }
    }

    #[test]
    fn a_damaged_histogram_is_noticed(pairs in vec((0u64..1_000_000, 1u64..1000), 1..40), place in any::<prop::sample::Index>(), with in 32u8..127, cut in any::<bool>()) {
        let mut latencies = Latencies::default();
        pairs.iter().for_each(|(ns, count)| assert!(latencies.record(*ns, *count)));
        let mut text = latencies.to_text().into_bytes();
        let place = place.index(text.len());
        if cut { text.truncate(place) } else { text[place] = with };
        let text = String::from_utf8(text).expect("letters");
        match Latencies::from_text(&text) {
            Ok(read) => prop_assert_eq!(read, latencies),
            Err(why) => prop_assert!(!why.to_string().contains('\n')),
        }
    }

    #[test]
    fn no_text_makes_reading_a_histogram_panic(text in ".{0,80}", bytes in vec(any::<u8>(), 0..80)) {
        let _ = Latencies::from_text(&text);
        let coded = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut zlib, &bytes).and_then(|()| zlib.try_finish()).expect("memory");
        let zlib = zlib.finish().expect("memory");
        let whole: Vec<u8> = [&[0x1c, 0x84, 0x93, 0x14][..], &(zlib.len() as u32).to_be_bytes(), &zlib].concat();
        let _ = (Latencies::from_text(&coded(&bytes)), Latencies::from_text(&coded(&whole)));
    }
}
