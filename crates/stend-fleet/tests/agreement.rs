//! Both agreements do the same: what a model in memory does, and what work for jobs takes, whatever happens to answers and to nodes.

mod chaos;
mod cluster;
mod disks;
mod engines;
mod hosts;
mod mirrors;
mod power;
mod rights;
mod troubles;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chaos::{Node, Not, claims};
use engines::{Engine, engines};
use proptest::prelude::*;
use stend_fleet::{
    Agreement, Change, Committed, Condition, Entry, Lookout, MOST_OWNERS, News, Revision, Silent, Told, Watch,
};
use stend_testing::{patience, wait_for};

/// What any agreement must be.
#[derive(Default)]
struct Model(BTreeMap<String, (String, Revision)>);

impl Model {
    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Absent(key) => !self.0.contains_key(key),
            Condition::Unchanged(key, revision) => self.0.get(key).is_some_and(|(_, last)| last == revision),
        }
    }

    /// Makes changes, and gives what is told of them.
    fn make(&mut self, changes: &[Change], revision: Revision) -> Vec<News> {
        let mut told = Vec::new();
        for change in changes {
            match change {
                Change::Put(key, value) => {
                    self.0.insert(key.clone(), (value.clone(), revision));
                    told.push(News::Put(Entry { key: key.clone(), value: value.clone(), revision }));
                }
                Change::Remove(key) => {
                    told.extend(self.0.remove(key).map(|_| News::Removed(key.clone(), revision)));
                }
            }
        }
        told
    }

    fn list(&self, prefix: &str) -> Vec<Entry> {
        let below = self.0.iter().filter(|(key, _)| key.starts_with(prefix));
        let entry = |(key, (value, revision)): (&String, &(String, Revision))| Entry {
            key: key.clone(),
            value: value.clone(),
            revision: *revision,
        };
        below.map(entry).collect()
    }
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]/[a-c]", "[ab]", Just("a/\u{10FFFF}".to_owned()), Just("я/ß".to_owned())]
}

/// A condition that holds, or one that is drawn; and changes of distinct keys.
#[derive(Debug, Clone)]
enum Wanted {
    AsItIs(String),
    Drawn(Condition),
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let drawn = prop_oneof![
        key().prop_map(Condition::Absent),
        (key(), 0..40_i64).prop_map(|(key, revision)| Condition::Unchanged(key, revision))
    ];
    prop_oneof![3 => key().prop_map(Wanted::AsItIs), 1 => drawn.prop_map(Wanted::Drawn)]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = proptest::option::weighted(0.7, "[a-zя\"\\\\\u{0}]{0,8}");
    proptest::collection::btree_map(key(), change, 1..4).prop_map(|all| {
        let change = |(key, value): (String, Option<String>)| match value {
            Some(value) => Change::Put(key, value),
            None => Change::Remove(key),
        };
        all.into_iter().map(change).collect()
    })
}

fn told(watch: &mut dyn Watch, count: usize) -> Vec<News> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(watch.next(patience()).unwrap().news);
    }
    all
}

fn does_as_the_model(agreement: &dyn Agreement, steps: &[(Vec<Wanted>, Vec<Change>)]) {
    let mut model = Model::default();
    let begin = agreement.list("").unwrap().revision;
    let mut whole = agreement.watch("", begin).unwrap();
    let mut below = agreement.watch("a/", begin).unwrap();
    let (mut expected, mut last) = (Vec::new(), begin);
    for (wanted, changes) in steps {
        let condition = |wanted: &Wanted| match wanted {
            Wanted::Drawn(Condition::Unchanged(key, revision)) => Condition::Unchanged(key.clone(), begin + revision),
            Wanted::Drawn(condition) => condition.clone(),
            Wanted::AsItIs(key) => match model.0.get(key) {
                Some((_, revision)) => Condition::Unchanged(key.clone(), *revision),
                None => Condition::Absent(key.clone()),
            },
        };
        let conditions: Vec<_> = wanted.iter().map(condition).collect();
        match agreement.commit(&conditions, changes).unwrap() {
            Committed::At(revision) => {
                assert!(conditions.iter().all(|condition| model.holds(condition)), "{conditions:?}");
                let new = model.make(changes, revision);
                assert!(revision > last || new.is_empty(), "{revision} is behind {last}");
                last = revision.max(last);
                expected.extend(new);
            }
            Committed::Refused => assert!(!conditions.iter().all(|condition| model.holds(condition)), "{conditions:?}"),
        }
        for prefix in ["", "a", "a/", "b/b", "я", "a/\u{10FFFF}"] {
            assert_eq!(agreement.list(prefix).unwrap().entries, model.list(prefix), "{prefix}");
        }
        for change in changes {
            let (Change::Put(key, _) | Change::Remove(key)) = change;
            assert_eq!(agreement.get(key).unwrap(), model.list(key).into_iter().find(|entry| entry.key == *key));
        }
    }
    assert_eq!(told(&mut *whole, expected.len()), expected);
    let of_it = |news: &&News| {
        let (News::Put(Entry { key, .. }) | News::Removed(key, _)) = news;
        key.starts_with("a/")
    };
    let expected_below: Vec<_> = expected.iter().filter(of_it).cloned().collect();
    assert_eq!(told(&mut *below, expected_below.len()), expected_below);
    // Whoever comes later goes on from anywhere between.
    let middle = agreement.list("").unwrap().revision;
    let mut late = agreement.watch("", middle).unwrap();
    assert_eq!(late.next(Duration::ZERO), Ok(Told { news: Vec::new(), revision: middle }));
}

#[test]
fn each_does_what_the_model_does() {
    let steps = proptest::collection::vec((proptest::collection::vec(wanted(), 0..3), changes()), 1..20);
    for Engine { name, fresh, cases } in &engines() {
        let config = ProptestConfig { cases: *cases, failure_persistence: None, ..ProptestConfig::default() };
        let tested = proptest::test_runner::TestRunner::new(config).run(&steps, |steps| {
            does_as_the_model(&*fresh(), &steps);
            Ok(())
        });
        tested.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn each_repeat_is_stored_once_under_the_last_claim_whatever_happens() {
    for Engine { name, fresh, cases } in &engines() {
        let config =
            ProptestConfig { cases: (cases / 4).max(1), failure_persistence: None, ..ProptestConfig::default() };
        let tested = proptest::test_runner::TestRunner::new(config).run(&any::<u64>(), |seed| {
            chaos::run(Arc::from(fresh()), seed);
            Ok(())
        });
        tested.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn who_speaks_again_keeps_its_job_and_what_many_have_lost_is_given_up() {
    let lease = Duration::from_secs(1);
    for Engine { name, fresh, .. } in &engines() {
        let agreement: Arc<dyn Agreement> = Arc::from(fresh());
        let (mut first, looks) = (Node::new(&agreement, "1", 1), Node::new(&agreement, "looks", 1));
        assert!(first.beat(), "{name}");
        first.add("job", "machine");
        first.look_for_work(Duration::ZERO, lease, |_| 0);
        let mut lookout = Lookout::default();
        let mut is_silent =
            |node: &str, leases: u32| lookout.look(&*agreement, node, || lease * leases, lease).unwrap();
        let take = |silent: &Silent, by: &str| {
            looks.mirror.change(|draft| draft.take_over(claims, "job", silent, by).map_err(Not::from))
        };
        wait_for("the claim is known", || {
            looks.mirror.catch_up(Duration::ZERO).is_ok() && looks.claim_to("job").is_some()
        });
        assert_eq!(is_silent("1", 0), None, "{name}");
        let silent = is_silent("1", 1).unwrap();
        assert!(first.beat());
        assert!(take(&silent, "2").is_err(), "{name}: it has said something meanwhile");
        assert_eq!((looks.claim_to("job").unwrap().node.as_str(), is_silent("1", 1)), ("1", None), "{name}");
        // Others have never said anything.
        for (owner, leases) in (1..=MOST_OWNERS).zip(2..) {
            is_silent(&owner.to_string(), leases - 1);
            let silent = is_silent(&owner.to_string(), leases).unwrap();
            let taken = take(&silent, &(owner + 1).to_string()).unwrap();
            assert_eq!(taken.map(|claim| claim.owners), Some(owner + 1).filter(|it| *it <= MOST_OWNERS), "{name}");
            assert!(take(&silent, "late").is_err() || owner == MOST_OWNERS, "{name}: it has lost it already");
        }
    }
}
