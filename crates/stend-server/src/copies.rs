//! Which nodes keep the file of a run, where not all do.

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use stend_model::identity::digest_of;

use crate::archive::Archived;
use crate::database::Records;

/// The nodes, by which all find out the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Nodes(Vec<(String, u64)>);

impl Nodes {
    /// Those that can keep files.
    pub(crate) fn of(known: &Records) -> Self {
        Self::named(known.nodes.iter().filter(|(_, node)| !node.is_agent()).map(|(name, _)| name))
    }

    fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self(names.map(|name| (name.to_owned(), first_bits(&digest_of(name.as_bytes())))).collect())
    }

    /// Those that keep a file: the one that offered it first. The others follow in an order that each file has of its own:
    /// so all have about as many, and when a node comes or goes only its files move.
    pub(crate) fn keepers(&self, archived: &Archived, copies: NonZeroUsize) -> Vec<&str> {
        let file = first_bits(&archived.sha256);
        let mut nodes: Vec<_> = self.0.iter().collect();
        nodes.sort_by_key(|(name, bits)| (*name != archived.node, Reverse(mixed(file ^ bits))));
        nodes.into_iter().take(copies.get()).map(|(name, _)| name.as_str()).collect()
    }
}

fn first_bits(sha256: &str) -> u64 {
    sha256.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

/// Spreads what differs in a few bits over all of them.
fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    bits ^ (bits >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn archived(at: usize, node: &str) -> Archived {
        Archived::new(digest_of(&at.to_le_bytes()), 1, node)
    }

    #[test]
    fn all_nodes_keep_about_as_many_and_only_those_of_one_that_goes_move() {
        let names = ["a", "b", "c", "d", "e"];
        let (five, four) = (Nodes::named(names.into_iter()), Nodes::named(names[..4].iter().copied()));
        let copies = NonZeroUsize::new(2).unwrap();
        let mut counts = BTreeMap::new();
        for at in 0..10_000 {
            let offered = names[at % 5];
            let archived = archived(at, offered);
            let before = five.keepers(&archived, copies);
            assert!(before.len() == 2 && before[0] == offered && before[1] != offered);
            before.iter().for_each(|node| *counts.entry((*node).to_owned()).or_insert(0) += 1);
            let after = four.keepers(&archived, copies);
            assert!(before.iter().all(|node| *node == "e" || after.contains(node)), "{before:?} {after:?}");
        }
        // 4,000 each, with a standard deviation of 40 or so.
        assert!(counts.len() == 5 && counts.values().all(|count| (3800..4200).contains(count)), "{counts:?}");
        let one = Nodes::named(["a"].into_iter());
        assert_eq!(one.keepers(&archived(0, "gone"), copies), ["a"]);
    }
}
