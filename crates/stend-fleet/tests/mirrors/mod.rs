//! Memories of nodes that change the same entries.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stend_fleet::{
    Agreement, Alone, Change, Changed, Committed, Draft, Entry, Known, Mirror, Revision, Table, Trouble,
};
use stend_testing::wait_for;

use crate::chaos::Flaky;
use crate::engines::{Engine, engines};

#[derive(Default)]
struct Records {
    notes: Table<Note>,
    sums: Table<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Note {
    by: String,
    /// The sum with it.
    sum: u64,
}

impl Known for Records {
    fn set(&mut self, key: &str, entry: Option<&Entry>) {
        match key.split_once('/') {
            Some(("note", number)) => self.notes.set(number, entry),
            Some(("sum", name)) => self.sums.set(name, entry),
            _ => {}
        }
    }

    fn revision(&self, key: &str) -> Option<Revision> {
        match key.split_once('/')? {
            ("note", number) => self.notes.revision(number),
            ("sum", name) => self.sums.revision(name),
            _ => None,
        }
    }
}

fn sum(records: &Records) -> u64 {
    records.sums.get("all").copied().unwrap_or_default()
}

/// Adds one, and notes who did.
fn add(draft: &mut Draft<Records>, by: &str) -> Result<u64, Trouble> {
    let sum = sum(draft.known) + 1;
    draft.put("sum/all", &sum);
    let number = draft.known.notes.last_key().map_or(1, |last| last.parse::<u64>().unwrap() + 1);
    draft.put(&format!("note/{number:06}"), &Note { by: by.to_owned(), sum });
    Ok(sum)
}

#[test]
fn no_change_is_lost_or_made_twice_whatever_becomes_of_answers() {
    const NODES: usize = 4;
    const EACH: usize = 25;
    for Engine { name, fresh, .. } in &engines() {
        let agreement: Arc<dyn Agreement> = Arc::from(fresh());
        let flaky = Arc::new(Flaky::new(Arc::clone(&agreement), 7));
        let mirror = |node: &str| loop {
            if let Ok(mirror) = Mirror::<Records>::open(Arc::clone(&flaky) as Arc<dyn Agreement>, node) {
                return Arc::new(mirror);
            }
        };
        let work = |node: String| {
            let (mirror, flaky) = (mirror(&node), Arc::clone(&flaky));
            mirror.follow(|_| {});
            std::thread::spawn(move || {
                // What each became: acknowledged, or nobody knows.
                let mut tried = Vec::new();
                for by in (0..EACH).map(|count| format!("{node} {count}")) {
                    let is_acknowledged = loop {
                        flaky.tick();
                        match mirror.change(|draft| add(draft, &by)) {
                            Ok(_) => break true,
                            Err(Trouble::Unknown(_)) => break false,
                            Err(_) => {}
                        }
                    };
                    tried.push((by, is_acknowledged));
                }
                tried
            })
        };
        let threads: Vec<_> = (0..NODES).map(|at| work(format!("node-{at}"))).collect();
        let tried: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        flaky.calm();
        flaky.tick();
        let calm = Mirror::<Records>::open(agreement, "calm").unwrap();
        let known = calm.known();
        let notes: Vec<Note> = known.notes.iter().map(|(_, note)| note.clone()).collect();
        for (at, note) in notes.iter().enumerate() {
            assert_eq!(note.sum, at as u64 + 1, "{name}: {notes:?}");
        }
        assert_eq!(sum(&known), notes.len() as u64, "{name}");
        for (by, is_acknowledged) in tried {
            let count = notes.iter().filter(|note| note.by == by).count();
            assert!(count == 1 || count == 0 && !is_acknowledged, "{name}: {by} is noted {count} times");
        }
    }
}

#[test]
fn what_other_processes_change_is_known_and_what_was_missed_is_read_anew() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Arc::new(Alone::open(&directory.path().join("a.db")).unwrap());
    let (one, other) = (open(), open());
    let mirror = Mirror::<Records>::open(one, "one").unwrap();
    let elsewhere = Mirror::<Records>::open(Arc::clone(&other) as Arc<dyn Agreement>, "other").unwrap();
    elsewhere.change(|draft| add(draft, "other")).unwrap();
    assert_eq!(sum(&mirror.known()), 1, "it is known as soon as it is acknowledged");
    // More than is kept for whoever watches.
    for count in 0..1100 {
        let puts = [Change::Put("elsewhere".into(), count.to_string())];
        assert!(matches!(other.commit(&[], &puts), Ok(Committed::At(_))));
    }
    elsewhere.change(|draft| add(draft, "other")).unwrap();
    assert_eq!(mirror.change(|draft| add(draft, "one")), Ok(3));
    assert_eq!(sum(&elsewhere.known()), 3);
    let mirror = Arc::new(mirror);
    let (sender, told) = std::sync::mpsc::channel();
    mirror.follow(move |changed| drop(sender.send(changed)));
    elsewhere.change(|draft| add(draft, "other")).unwrap();
    wait_for("the change is told", || {
        let keys = ["note/000004", "sum/all"].map(str::to_owned).to_vec();
        told.try_iter().any(|changed| changed == Changed::Keys(keys.clone()))
    });
}
