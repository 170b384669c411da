//! What must hold for any input.

use proptest::collection::vec;
use proptest::prelude::*;
use stend_stats::*;

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 1.0..1000.0_f64, 1 => (1..20_u32).prop_map(f64::from), 1 => 1e-9..1e9_f64]
}

/// Sessions with at least six repeats in all.
fn sessions() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop_oneof![vec(vec(positive(), 6..25), 1..=1), vec(vec(positive(), 3..10), 2..4),]
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

fn quick() -> RatioOptions {
    RatioOptions { draws: 300, ..RatioOptions::default() }
}

fn near(x: f64, y: f64) -> bool {
    (x / y).ln().abs() < 1e-9
}

fn swap(cell: &Cell) -> Cell {
    Cell { a_sessions: cell.b_sessions.clone(), b_sessions: cell.a_sessions.clone(), ..cell.clone() }
}

fn no_nan(value: f64) -> bool {
    value.is_finite()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

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
    fn an_interval_over_sessions_holds_that_of_all_repeats_and_knows_no_order(mut given in sessions(), down in 0.0..2e3_f64) {
        for value in given.iter_mut().flatten() {
            *value -= down;
        }
        let options = RatioOptions { draws: 300, ..RatioOptions::default() };
        let (low, high) = median_interval_of_sessions(&given, &options).expect("six repeats");
        let pooled = median_interval(&given.concat(), 0.95).expect("six");
        prop_assert!(low <= pooled.low && pooled.high <= high);
        let least = given.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let most = given.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(low >= least - 1e-6 * most.abs() && high <= most + 1e-6 * most.abs());
        given.reverse();
        given.iter_mut().for_each(|session| session.reverse());
        prop_assert_eq!(median_interval_of_sessions(&given, &options), Some((low, high)));
    }

    #[test]
    fn quantiles_are_ordered_and_within(values in vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 1..30),
                                        p in 0.0..=1.0_f64, r in 0.0..=1.0_f64) {
        let (low, high) = (quantile(&values, p.min(r)).unwrap(), quantile(&values, p.max(r)).unwrap());
        prop_assert!(low <= high);
        prop_assert!(quantile(&values, 0.0).unwrap() <= low && high <= quantile(&values, 1.0).unwrap());
    }

    #[test]
    fn ratio_interval_swaps_scales_and_permutes(a in sessions(), b in sessions(), scale in 1e-3..1e3_f64) {
        let there = ratio_interval(&a, &b, &quick()).unwrap();
        prop_assert!(0.0 < there.low && there.low <= there.ratio && there.ratio <= there.high);

        let back = ratio_interval(&b, &a, &quick()).unwrap();
        prop_assert!(near(back.ratio * there.ratio, 1.0));
        prop_assert!(near(back.low * there.high, 1.0) && near(back.high * there.low, 1.0));

        let scaled = |s: &[Vec<f64>]| -> Vec<Vec<f64>> {
            s.iter().map(|s| s.iter().map(|v| v * scale).collect()).collect()
        };
        let both = ratio_interval(&scaled(&a), &scaled(&b), &quick()).unwrap();
        prop_assert!(near(both.low, there.low) && near(both.high, there.high));
        let one = ratio_interval(&scaled(&a), &b, &quick()).unwrap();
        prop_assert!(near(one.low, there.low * scale) && near(one.high, there.high * scale));

        let mut shuffled = a.clone();
        shuffled.reverse();
        shuffled.iter_mut().for_each(|s| s.reverse());
        prop_assert_eq!(ratio_interval(&shuffled, &b, &quick()), Some(there));
    }

    #[test]
    fn paired_interval_swaps(pairs in vec((positive(), positive()), 6..20)) {
        let a = vec![pairs.iter().map(|p| p.0).collect::<Vec<_>>()];
        let b = vec![pairs.iter().map(|p| p.1).collect::<Vec<_>>()];
        let there = paired_ratio_interval(&a, &b, &quick()).unwrap();
        let back = paired_ratio_interval(&b, &a, &quick()).unwrap();
        prop_assert!(there.low <= there.ratio && there.ratio <= there.high);
        prop_assert!(near(back.low * there.high, 1.0) && near(back.high * there.low, 1.0));
    }

    /// Against all averages, sorted; and test and interval agree, turn with the sides, move with the differences, and know no order.
    #[test]
    fn signed_ranks_and_their_interval(mut d in vec(prop_oneof![3 => -1e3..1e3_f64, 1 => (-5..6_i32).prop_map(f64::from)], 1..40), by in -1e3..1e3_f64, scale in 1e-300..1e300_f64) {
        let test = signed_rank(&d).unwrap();
        prop_assert!(test.p > 0.0 && test.p <= 1.0);
        let negative: Vec<f64> = d.iter().map(|d| -d).collect();
        let n = d.len() as f64;
        let back = signed_rank(&negative).unwrap();
        prop_assert_eq!((back.p, back.statistic), (test.p, n * (n + 1.0) / 2.0 - test.statistic));
        let mut all: Vec<f64> = d.iter().enumerate().flat_map(|(i, x)| d[i..].iter().map(move |y| f64::midpoint(*x, *y))).collect();
        all.sort_by(f64::total_cmp);
        prop_assert_eq!(pseudomedian(&d), median(&all));
        prop_assert_eq!(pseudomedian(&negative), median(&all).map(|middle| -middle));
        if let Some(found) = pseudomedian_interval(&d, 0.95) {
            prop_assert_eq!((found.low, found.high), (all[found.rank - 1], all[all.len() - found.rank]));
            prop_assert!(found.attained >= 0.95 && found.attained < 1.0);
            let moved = pseudomedian_interval(&d.iter().map(|d| d + by).collect::<Vec<_>>(), 0.95).unwrap();
            prop_assert!((moved.low - found.low - by).abs() < 1e-9 && (moved.high - found.high - by).abs() < 1e-9);
            if test.method == Method::Exact && all.iter().all(|average| *average != 0.0) {
                prop_assert_eq!(test.p < 0.05, found.low > 0.0 || found.high < 0.0, "{:?} {:?}", test, found);
            }
        } else {
            prop_assert!(d.len() < 6);
        }
        // Sizes do not matter as long as their order is kept; and all may be huge or tiny.
        let scaled: Vec<f64> = d.iter().map(|d| d * scale).collect();
        prop_assert_eq!(signed_rank(&scaled).map(|test| test.p), Some(test.p));
        d.reverse();
        prop_assert_eq!(signed_rank(&d), Some(test));
    }

    /// The greater the effect, the nearer the ratio to it and the further the interval.
    #[test]
    fn pairs_follow_the_effect(pairs in vec((1.0..1000.0_f64, 1.0..1000.0_f64), 6..20), factor in 1.0..10.0_f64) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let more = vec![a.iter().map(|a| a * factor).collect::<Vec<_>>()];
        let there = paired_ratio_interval(&[a], std::slice::from_ref(&b), &quick()).unwrap();
        let further = paired_ratio_interval(&more, &[b], &quick()).unwrap();
        for (greater, less) in [(further.ratio, there.ratio), (further.low, there.low), (further.high, there.high)] {
            prop_assert!(near(greater, less * factor));
        }
    }

    #[test]
    fn tests_swap_permute_and_ignore_scale(mut a in vec(positive(), 1..40), b in vec(positive(), 1..40)) {
        let there = mann_whitney(&a, &b).unwrap();
        let back = mann_whitney(&b, &a).unwrap();
        prop_assert!(there.p > 0.0 && there.p <= 1.0);
        prop_assert!((there.p - back.p).abs() < 1e-12);
        prop_assert_eq!(there.statistic + back.statistic, (a.len() * b.len()) as f64);
        let double = |v: &[f64]| v.iter().map(|x| x * 2.0).collect::<Vec<_>>();
        prop_assert_eq!(mann_whitney(&double(&a), &double(&b)), Some(there));
        let flipped = sign_flip(&a, 1).unwrap().p;
        a.reverse();
        prop_assert_eq!(mann_whitney(&a, &b), Some(there));
        let negative: Vec<f64> = a.iter().map(|v| -v).collect();
        if a.len() <= EXACT_PAIRS {
            prop_assert_eq!(sign_flip(&negative, 1).unwrap().p, flipped);
        }
    }

    #[test]
    fn shift_is_antisymmetric(a in vec(positive(), 1..30), b in vec(positive(), 1..30)) {
        let shift = hodges_lehmann(&a, &b).unwrap();
        prop_assert_eq!(hodges_lehmann(&b, &a).unwrap(), -shift);
    }

    /// Against all differences, sorted; and the interval holds the estimate, moves with the sample and turns with the sides.
    #[test]
    fn interval_of_the_shift(a in vec(positive(), 1..30), b in vec(positive(), 1..30), c in 0.01..0.999_f64, by in -1e3..1e3_f64) {
        let Some(found) = shift_interval(&a, &b, c) else {
            // Not even the range: 2/C(n + m, n) is the least p.
            let from = |start: f64, n: usize| (0..n).map(|i| start + i as f64).collect::<Vec<_>>();
            let least = mann_whitney(&from(0.0, a.len()), &from(1e3, b.len())).unwrap().p;
            prop_assert!(1.0 - least < c + 1e-12);
            return Ok(());
        };
        let mut all: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
        all.sort_by(f64::total_cmp);
        prop_assert_eq!((found.low, found.high), (all[found.rank - 1], all[all.len() - found.rank]));
        prop_assert!(found.attained >= c && found.attained < 1.0);
        let shift = hodges_lehmann(&a, &b).unwrap();
        prop_assert!(found.low <= shift && shift <= found.high);
        let back = shift_interval(&b, &a, c).unwrap();
        prop_assert_eq!((back.low, back.high, back.rank), (-found.high, -found.low, found.rank));
        let moved = shift_interval(&a.iter().map(|a| a + by).collect::<Vec<_>>(), &b, c).unwrap();
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (1.0 + x.abs().max(y.abs()) + by.abs() + 1e9 * f64::EPSILON);
        prop_assert!(near(moved.low, found.low + by) && near(moved.high, found.high + by));
    }

    #[test]
    fn rank_correlation_knows_no_unit(pairs in vec((positive(), positive()), 0..30)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let Some(found) = rank_correlation(&x, &y) else {
            let equal = |v: &[f64]| v.iter().all(|value| *value == v[0]);
            prop_assert!(x.len() < 4 || equal(&x) || equal(&y));
            return Ok(());
        };
        prop_assert!(found.correlation.abs() <= 1.0 && found.p > 0.0 && found.p <= 1.0);
        prop_assert_eq!(rank_correlation(&y, &x), Some(found));
        let logarithms: Vec<f64> = x.iter().map(|x| 3.0 * x).collect();
        prop_assert_eq!(rank_correlation(&logarithms, &y), Some(found));
        let falling: Vec<f64> = x.iter().map(|x| -x).collect();
        prop_assert!((rank_correlation(&falling, &y).unwrap().correlation + found.correlation).abs() < 1e-12);
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
    fn swapping_sides_swaps_the_verdict(a in sessions(), b in sessions(), delta in 0.0..0.3_f64) {
        let cell = Cell { a_sessions: a, b_sessions: b, direction: Direction::LowerIsBetter, delta, paired: false };
        let there = compare_table_with(std::slice::from_ref(&cell), &quick())[0];
        let back = compare_table_with(&[swap(&cell)], &quick())[0];
        let expected = match there.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        prop_assert_eq!(back.verdict, expected);
        prop_assert_eq!(back.reason, there.reason);
    }

    #[test]
    fn nothing_panics_and_no_nan_comes_out(
        x in vec(anything(), 0..30), y in vec(anything(), 0..30), s in vec(vec(anything(), 0..8), 0..4),
        p in anything(), d in anything(), paired: bool,
    ) {
        let finite = |v: Option<f64>| v.is_none_or(no_nan);
        for value in [median(&x), mean(&x), quantile(&x, p), median_absolute_deviation(&x),
                      coefficient_of_variation(&x), hodges_lehmann(&x, &y), geometric_mean_ratio(&x),
                      aa_floor(&x), noise_floor(Some(p), Some(d))] {
            prop_assert!(finite(value), "{value:?}");
        }
        if x.iter().any(|v| !v.is_finite()) {
            prop_assert_eq!((median(&x), mean(&x), mann_whitney(&x, &y), sign_flip(&x, 0)), (None, None, None, None));
            prop_assert!(tukey_marks(&x).is_empty());
        }
        let _ = median_interval(&x, p);
        prop_assert!(shift_interval(&x, &y, p).is_none_or(|i| no_nan(i.low) && i.low <= i.high));
        prop_assert!(rank_correlation(&x, &y).is_none_or(|r| no_nan(r.correlation) && no_nan(r.p)));
        let _ = precision_reached(&x, p);
        let _ = steady_state(&x);
        let _ = tukey_marks(&x);
        prop_assert!(benjamini_hochberg(&x).iter().all(|q| (0.0..=1.0).contains(q)));
        prop_assert!(mann_whitney(&x, &y).is_none_or(|t| no_nan(t.p) && no_nan(t.statistic)));
        prop_assert!(sign_flip(&x, 3).is_none_or(|t| no_nan(t.p) && no_nan(t.statistic)));
        let _ = repeats_needed(Spread { a: p, b: d }, d, p, d);
        let _ = pairs_needed(p, d, p, d);
        prop_assert!(signed_rank(&x).is_none_or(|t| no_nan(t.p) && no_nan(t.statistic)));
        prop_assert!(finite(pseudomedian(&x)));
        prop_assert!(pseudomedian_interval(&x, p).is_none_or(|i| no_nan(i.low) && i.low <= i.high && no_nan(i.high)));
        let _ = paired_ratio_interval(&s, std::slice::from_ref(&x), &RatioOptions { draws: 50, confidence: p, ..RatioOptions::default() });
        let options = RatioOptions { draws: 50, confidence: p, ..RatioOptions::default() };
        let _ = ratio_interval(&s, std::slice::from_ref(&x), &options);
        let direction = Direction::HigherIsBetter;
        let cells = [
            Cell { a_sessions: s.clone(), b_sessions: vec![x.clone()], direction, delta: d, paired },
            Cell { a_sessions: vec![x], b_sessions: vec![y], direction, delta: 0.01, paired },
        ];
        for r in compare_table_with(&cells, &RatioOptions { draws: 50, ..RatioOptions::default() }) {
            prop_assert!(finite(r.ratio) && finite(r.q));
            prop_assert!(r.interval.is_none_or(|i| i.low > 0.0 && i.low <= i.high && no_nan(i.high)));
        }
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
    fn extreme_positive_values_do_not_panic(a in vec(5e-324..f64::MAX, 6..12), b in vec(5e-324..1e-300_f64, 6..12)) {
        for (a, b) in [(&a, &b), (&b, &a), (&a, &a)] {
            if let Some(i) = ratio_interval(std::slice::from_ref(a), std::slice::from_ref(b), &quick()) {
                prop_assert!(i.low > 0.0 && i.low <= i.ratio && i.ratio <= i.high && i.high.is_finite());
            }
        }
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
