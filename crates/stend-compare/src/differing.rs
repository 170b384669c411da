//! In what the machines of two runs differ, and the targets that they loaded.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::identity::{identity_of, short};
use stend_model::machine::{Difference, differences_of};
use stend_model::server::{Server, plain_name};
use stend_model::target::TargetOfRun;

use stend_model::record::Record;

/// In what the machine of `after` differs from that of `before`, and then their targets.
pub fn differences(before: &Record, after: &Record) -> Vec<Difference> {
    let mut differences = before.run.machine.differences(&after.run.machine);
    differences.extend(match [before, after].map(|record| record.run.target.as_ref()) {
        [Some(one), Some(other)] => of_targets([(one, found(before)), (other, found(after))]),
        [None, None] => Vec::new(),
        one_of_both => {
            let [before, after] =
                one_of_both.map(|of_run| of_run.map(|of_run| of_run.target.to_string()).unwrap_or_default());
            vec![Difference { what: "target".into(), before, after }]
        }
    });
    let servers = |record: &Record| -> BTreeMap<String, String> {
        let of = |(name, server): (&String, &Server)| {
            let settings = server
                .settings
                .iter()
                .map(|(setting, value)| (format!("{}.{setting}", plain_name(name)), value.clone()));
            // Its files and commands are too long to be set against each other.
            let rest = Server { settings: BTreeMap::new(), ..server.clone() };
            settings
                .chain([(format!("{} without settings", plain_name(name)), short(&identity_of(&rest)).to_owned())])
                .collect::<Vec<_>>()
        };
        record.run.suite.servers.iter().flat_map(of).collect()
    };
    differences_of("server", &servers(before), &servers(after), &mut differences);
    differences
}

/// Each target with what was found of it, which goes before what was asked for. What a run of an old version does not say is no difference.
fn of_targets([(one, found), (other, found_other)]: [(&TargetOfRun, BTreeMap<String, String>); 2]) -> Vec<Difference> {
    let mut differences = Vec::new();
    let both = !found.is_empty() && !found_other.is_empty();
    let asked = |of_run: &TargetOfRun| -> BTreeMap<String, String> {
        let is_found = |key: &str| both && (found.contains_key(key) || found_other.contains_key(key));
        let settings = of_run.target.settings().into_iter().filter(|(key, _)| !is_found(key));
        settings.map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let (mut all, mut all_other) = (asked(one), asked(other));
    if both {
        all.extend(found.clone());
        all_other.extend(found_other.clone());
    }
    differences_of("target", &all, &all_other, &mut differences);
    if !one.tools.is_empty() && !other.tools.is_empty() {
        differences_of("target.tools", &one.tools, &other.tools, &mut differences);
    }
    differences
}

/// What was found of the target by the repeats that count. One that was made several times may have been found in several ways.
pub(super) fn found(record: &Record) -> BTreeMap<String, String> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in record.repeats.iter().filter(|repeat| repeat.counts()).flat_map(|repeat| &repeat.target) {
        values.entry(name).or_default().insert(value);
    }
    let one = |values: BTreeSet<&str>| values.into_iter().collect::<Vec<_>>().join(" or ");
    values.into_iter().map(|(name, values)| (name.to_owned(), one(values))).collect()
}
