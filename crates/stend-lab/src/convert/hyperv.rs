//! VHD and VHDX: the disks of Hyper-V. Of both only that is read which tells how large a disk is, and whether it is whole by itself.

use super::{Bad, ReadAt, number};

/// How a VHD ends.
const VHD: &[u8; 8] = b"conectix";
const FOOTER: u64 = 512;
/// The kind of a VHD that has only what differs from another one.
const DIFFERENCING: u64 = 4;

/// How a VHDX begins, and its two tables.
const VHDX: &[u8; 8] = b"vhdxfile";
const REGIONS: (u64, &[u8]) = (192 << 10, b"regi");
const METADATA: &[u8] = b"metadata";
/// No table has more entries.
const MOST_ENTRIES: u64 = 2047;
/// The names of a table's entries, as they lie in the file.
const OF_METADATA: u128 = 0x8B7C_A206_4790_4B9A_B8FE_575F_050F_886E;
const OF_PARAMETERS: u128 = 0xCAA1_6737_FA36_4D43_B3B6_33F0_AA44_E76B;
const OF_SIZE: u128 = 0x2FA5_4224_CD1B_4876_B211_5DBE_D83B_F4B8;
const HAS_PARENT: u64 = 2;

/// Reads how many bytes a VHD has.
///
/// # Errors
/// It is no VHD, cut off, or only what differs from another one.
pub fn vhd(file: &impl ReadAt) -> Result<u64, Bad> {
    let mut footer = [0; FOOTER as usize];
    let end = file.length().checked_sub(FOOTER).ok_or(Bad::NoDisk("a VHD"))?;
    file.exact(end, &mut footer)?;
    if !footer.starts_with(VHD) {
        // All but those of a fixed size begin as they end.
        let mut head = [0; VHD.len()];
        file.exact(0, &mut head)?;
        return Err(if &head == VHD { Bad::Cut } else { Bad::NoDisk("a VHD, or its end is missing") });
    }
    let big =
        |at: usize, length: usize| footer[at..at + length].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    if big(60, 4) == DIFFERENCING { Err(Bad::Differencing) } else { Ok(big(48, 8)) }
}

/// Reads how many bytes a VHDX has.
///
/// # Errors
/// It is no VHDX, cut off, or only what differs from another one.
pub fn vhdx(file: &impl ReadAt) -> Result<u64, Bad> {
    let mut head = [0; VHDX.len()];
    file.exact(0, &mut head)?;
    if &head != VHDX {
        return Err(Bad::NoDisk("a VHDX"));
    }
    let region = entry(file, REGIONS.0, REGIONS.1, 16, OF_METADATA)?;
    let metadata = number(&region[..8]);
    let value = |name: u128, length: usize| -> Result<u64, Bad> {
        let entry = entry(file, metadata, METADATA, 32, name)?;
        let mut value = vec![0; length];
        file.exact(metadata.saturating_add(number(&entry[..4])), &mut value)?;
        Ok(number(&value))
    };
    if value(OF_PARAMETERS, 8)? >> 32 & HAS_PARENT != 0 { Err(Bad::Differencing) } else { value(OF_SIZE, 8) }
}

/// What follows an entry's name in a table of VHDX. The number of entries stands eight bytes behind the table's begin, or ten.
fn entry(file: &impl ReadAt, table: u64, begins: &[u8], head: u64, name: u128) -> Result<[u8; 16], Bad> {
    let not_one = Bad::NoDisk("a VHDX: a table of it is not understood");
    let mut bytes = [0; 16];
    file.exact(table, &mut bytes)?;
    if !bytes.starts_with(begins) {
        return Err(not_one);
    }
    let count = if head == 16 { number(&bytes[8..12]) } else { number(&bytes[10..12]) };
    for index in 0..count.min(MOST_ENTRIES) {
        let mut entry = [0; 32];
        file.exact(table.saturating_add(head + index * 32), &mut entry)?;
        let (first, rest) = entry.split_at(16);
        if first == on_disk(name) {
            return Ok(rest.try_into().expect("it is the other half"));
        }
    }
    Err(not_one)
}

/// A GUID as it lies in a file: its first three numbers with the lowest byte first.
fn on_disk(guid: u128) -> [u8; 16] {
    let mut bytes = guid.to_be_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}
