//! What a load that is verified writes. Every 512 bytes say which start of which run wrote them, to which LUN and to which offset, so that
//! a block that was never written, is of an earlier repeat or is another's, is another block; random bytes fill the rest.

use stend_model::checked::Stood;
use stend_model::identity::digest_of;
use stend_stats::SplitMix64;

/// How long what is repeated in each block is: fio takes no longer pattern.
const LENGTH: usize = 512;
/// fio writes the block's offset there, eight bytes, the lowest first.
const OFFSET: usize = 8;
const BEGIN: &str = "stend ";
const BEFORE_OFFSET: &str = " at ";
/// So many bits in a whole block are some that turned over, and no other data.
const MOST_BITS: u32 = 64;

/// The pattern of a LUN, as fio's `verify_pattern` takes it. `mark` is this start's own, without quotes.
pub(super) fn pattern(mark: &str, lun: usize) -> String {
    use std::fmt::Write as _;
    let head = head(mark, lun);
    let mut pattern = format!("\"{head}\"%o0x");
    for byte in rest(&head) {
        let _ = write!(pattern, "{byte:02x}");
    }
    pattern
}

/// What fio makes of that pattern in a block at this offset.
pub(super) fn block(mark: &str, lun: usize, offset: u64, length: usize) -> Vec<u8> {
    let head = head(mark, lun);
    let one: Vec<u8> = head.bytes().chain(offset.to_le_bytes()).chain(rest(&head)).collect();
    one.into_iter().cycle().take(length).collect()
}

fn head(mark: &str, lun: usize) -> String {
    format!("{BEGIN}{mark} lun{lun}{BEFORE_OFFSET}")
}

/// The random bytes behind the offset.
fn rest(head: &str) -> impl Iterator<Item = u8> {
    let seed = u64::from_str_radix(&digest_of(head.as_bytes())[..16], 16).expect("these are hexadecimal digits");
    let mut random = SplitMix64::new(seed);
    (head.len() + OFFSET..LENGTH).map(move |_| random.next_u64() as u8)
}

/// What stands in a block where something else was to stand.
pub(super) fn what_stands(found: &[u8], wanted: &[u8]) -> Stood {
    let differ = |(a, b): (&u8, &u8)| (a ^ b).count_ones();
    let bits: u32 = found.iter().zip(wanted).map(differ).sum();
    let Some(first) = found.iter().zip(wanted).position(|(a, b)| a != b) else {
        return Stood::Part;
    };
    let sector = |block: &[u8]| block.chunks(LENGTH).nth(first / LENGTH).unwrap_or_default().to_vec();
    let (sector, own) = (sector(found), sector(wanted));
    match who_wrote(&sector) {
        // Blocks of one repeat and LUN differ in their offsets alone, which is more than a bit in all of their sectors.
        Some(who) if bits > 1 && who_wrote(&own).as_ref() != Some(&who) => who,
        _ if bits <= MOST_BITS => Stood::BitsTurned { bits, first: first as u64 },
        _ if sector.iter().all(|byte| *byte == 0) => Stood::Zeros,
        _ => {
            let bytes: Vec<_> = sector.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            Stood::Bytes { hex: bytes.join(" ") }
        }
    }
}

fn who_wrote(sector: &[u8]) -> Option<Stood> {
    let end = sector.windows(BEFORE_OFFSET.len()).position(|window| window == BEFORE_OFFSET.as_bytes())?;
    let text = str::from_utf8(&sector[..end]).ok()?.strip_prefix(BEGIN)?;
    let offset = sector[end + BEFORE_OFFSET.len()..].first_chunk::<OFFSET>()?;
    let [run, number, _, lun] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let [run, repeat, lun] = [run, number, lun].map(str::to_owned);
    Some(Stood::Written { run, repeat, lun, offset: u64::from_le_bytes(*offset) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_else_stands_in_a_block_is_told() {
        let marks = ["20261124-0816-3f9a 7 0123456789abcdef", "20261124-0816-3f9a 6 fedcba9876543210"];
        let own = block(marks[0], 0, 8192, 4096);
        let older = block(marks[1], 0, 8192, 4096);
        let other = block(marks[0], 12, 1 << 40, 4096);
        assert_eq!(own[..LENGTH], own[LENGTH..2 * LENGTH]);
        let written = |repeat: &str, lun: &str, offset| {
            let [run, repeat, lun] = ["20261124-0816-3f9a", repeat, lun].map(str::to_owned);
            Stood::Written { run, repeat, lun, offset }
        };
        assert_eq!(what_stands(&older, &own), written("6", "lun0", 8192));
        assert_eq!(what_stands(&other, &own), written("7", "lun12", 1 << 40));
        assert_eq!(what_stands(&[0; 4096], &own), Stood::Zeros);
        let next = block(marks[0], 0, 12288, 4096);
        assert_eq!(what_stands(&next, &own), written("7", "lun0", 12288));
        let mut torn = own.clone();
        torn[3072..].copy_from_slice(&older[3072..]);
        assert_eq!(what_stands(&torn, &own), what_stands(&older, &own), "half of it is of then");
        let mut turned = own.clone();
        turned[3000] ^= 4;
        assert_eq!(what_stands(&turned, &own), Stood::BitsTurned { bits: 1, first: 3000 });
        let bytes = |block: &[u8]| match what_stands(block, &own) {
            Stood::Bytes { hex } => hex,
            other => panic!("{other:?}"),
        };
        assert!(bytes(&[0xA5; 4096]).starts_with("a5 a5"));
        assert!(bytes(&b"stend is a word ".repeat(256)).starts_with("73 74"));
        assert_eq!(what_stands(&[], &own), Stood::Part);
    }

    #[test]
    fn patterns_differ_in_more_than_their_words() {
        let one = block("a 1 0", 0, 0, LENGTH);
        let other = block("a 2 0", 0, 0, LENGTH);
        let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 64, "{same} bytes of {LENGTH} are the same");
    }
}
