//! VMDK: the disks of VMware. A text, the descriptor, names the files that the sectors lie in, and the disk that a snapshot was made of. It stands in a
//! file of its own, or in the one file that has the sectors too.

use std::fmt::Write as _;

use super::{Bad, ReadAt, number};

/// Of a descriptor so many bytes are read. One of a disk of 60 TiB in files of 2 GB has half of that.
const LONGEST: u64 = 4 << 20;
/// How a file with a grain directory begins.
const MAGIC: &[u8; 4] = b"KDMV";
/// How a descriptor in a file of its own does.
const DESCRIPTOR: &[u8] = b"# Disk DescriptorFile";
pub(super) const SECTOR: u64 = 512;
/// The content id of the parent of a disk that has none.
const NO_PARENT: u32 = u32::MAX;
/// Where the grain directory lies that was written after all grains: the last sectors say it.
const AT_END: u64 = u64::MAX;
/// How many grains each table of the directory has.
const PER_TABLE: u64 = 512;
/// Beyond 64 TiB, in sectors, there is none.
const LARGEST: u64 = 1 << 37;
const COMPRESSED: u32 = 1 << 16;
/// What stands before a compressed grain: its place, and how many bytes it has.
const MARKER: usize = 12;

/// What a disk says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The id of its contents, which changes with them.
    pub cid: u32,
    /// The disk that a snapshot was made of: its id then, and its file.
    pub parent: Option<(u32, String)>,
    /// What its sectors lie in, in order.
    pub extents: Vec<Extent>,
    /// The file that says for backups what was changed.
    pub changes: Option<String>,
}

/// Sectors that lie in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// How many.
    pub sectors: u64,
    /// How the file has them.
    pub kind: ExtentKind,
    /// The file's name; sectors that are all zeros need none.
    pub file: Option<String>,
    /// The first one's place in a file that has them one after the other.
    pub offset: u64,
}

/// How a file has sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtentKind {
    /// One after the other.
    Flat,
    /// In grains, by a directory.
    Sparse,
    /// The same as ESX writes snapshots.
    VmfsSparse,
    /// The same as newer ones do.
    SeSparse,
    /// They are all zeros.
    Zero,
}

impl ExtentKind {
    const ALL: [(&str, Self); 6] = [
        ("FLAT", Self::Flat),
        ("VMFS", Self::Flat),
        ("SPARSE", Self::Sparse),
        ("VMFSSPARSE", Self::VmfsSparse),
        ("SESPARSE", Self::SeSparse),
        ("ZERO", Self::Zero),
    ];
}

impl Descriptor {
    /// Reads a descriptor.
    ///
    /// # Errors
    /// A line is not understood, or it has no sectors.
    pub fn parse(text: &str) -> Result<Self, Bad> {
        let (mut cid, mut parent_cid, mut hint, mut changes) = (0, NO_PARENT, None, None);
        let mut extents = Vec::new();
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            let bad = || Bad::Line(number);
            let id = |value: &str| u32::from_str_radix(value, 16).map_err(|_| bad());
            if ["RW ", "RDONLY ", "NOACCESS "].iter().any(|access| line.starts_with(access)) {
                extents.push(Extent::parse(line).ok_or_else(bad)?);
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
            let value = value.trim().trim_matches('"');
            match key.trim() {
                "CID" => cid = id(value)?,
                "parentCID" => parent_cid = id(value)?,
                "parentFileNameHint" => hint = Some(value.to_owned()),
                "changeTrackPath" => changes = Some(value.to_owned()),
                _ => {}
            }
        }
        if extents.is_empty() {
            return Err(Bad::NoDisk("a VMDK: its descriptor names no extent"));
        }
        let parent = match (parent_cid, hint) {
            (NO_PARENT, _) => None,
            (cid, Some(file)) => Some((cid, file)),
            (_, None) => return Err(Bad::NoDisk("a whole VMDK: it is a snapshot and does not name its parent")),
        };
        Ok(Self { cid, parent, extents, changes })
    }

    /// How many bytes the disk has.
    pub fn size(&self) -> u64 {
        self.extents.iter().fold(0, |sum: u64, extent| sum.saturating_add(extent.sectors.saturating_mul(SECTOR)))
    }

    /// A descriptor of the same disk with these names for its files, which says nothing else: no path of a parent, and nothing that QEMU might
    /// take for more than a file.
    pub fn renamed(&self, name: impl Fn(usize) -> String) -> String {
        let parent = self.parent.as_ref().map_or(NO_PARENT, |(cid, _)| *cid);
        let mut text = format!("# Disk DescriptorFile\nversion=1\nCID={:08x}\nparentCID={parent:08x}\n", self.cid);
        // QEMU reads each kind of extent in disks of this one.
        text.push_str("createType=\"twoGbMaxExtentSparse\"\n");
        for (number, extent) in self.extents.iter().enumerate() {
            let (kind, _) = ExtentKind::ALL.iter().find(|(_, kind)| *kind == extent.kind).expect("each has a name");
            let _ = write!(text, "RW {} {kind}", extent.sectors);
            if extent.file.is_some() {
                let _ = write!(text, " \"{}\"", name(number));
            }
            let _ = match extent.kind {
                ExtentKind::Flat => writeln!(text, " {}", extent.offset),
                _ => writeln!(text),
            };
        }
        text
    }
}

impl Extent {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ').map(str::trim).skip(1);
        let sectors = parts.next()?.parse().ok().filter(|sectors| *sectors > 0)?;
        let word = parts.next()?;
        let (_, kind) = ExtentKind::ALL.into_iter().find(|(name, _)| *name == word)?;
        if kind == ExtentKind::Zero {
            return Some(Self { sectors, kind, file: None, offset: 0 });
        }
        let (file, offset) = parts.next()?.strip_prefix('"')?.split_once('"')?;
        let offset = if offset.trim().is_empty() { 0 } else { offset.trim().parse().ok()? };
        Some(Self { sectors, kind, file: Some(file.to_owned()), offset })
    }
}

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vmdk {
    /// A descriptor alone.
    Described(Descriptor),
    /// A disk in one file.
    Whole(Descriptor),
    /// A part of a disk, which a descriptor elsewhere names.
    Part,
}

/// Reads what a file says of itself.
///
/// # Errors
/// It is no VMDK, or cut off.
pub fn read(file: &impl ReadAt) -> Result<Vmdk, Bad> {
    let text = |at: u64, length: u64| -> Result<Descriptor, Bad> {
        let mut bytes = vec![0; length.min(LONGEST) as usize];
        file.exact(at, &mut bytes)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Descriptor::parse(&String::from_utf8_lossy(&bytes[..end]))
    };
    let mut head = vec![0; file.length().clamp(1, DESCRIPTOR.len() as u64) as usize];
    file.exact(0, &mut head)?;
    if head.eq_ignore_ascii_case(DESCRIPTOR) {
        return match file.length() {
            length if length > LONGEST => Err(Bad::NoDisk("a VMDK: its descriptor is longer than any")),
            length => text(0, length).map(Vmdk::Described),
        };
    }
    if !head.starts_with(MAGIC) {
        return Err(Bad::NoDisk("a VMDK"));
    }
    let header = Header::read(file, 0)?;
    match header.descriptor {
        (0, _) => Ok(Vmdk::Part),
        (at, length) => text(at.saturating_mul(SECTOR), length.saturating_mul(SECTOR)).map(Vmdk::Whole),
    }
}

/// What stands at the beginning of a file with a grain directory.
struct Header {
    flags: u32,
    capacity: u64,
    grain: u64,
    /// Where the descriptor is, and how long, in sectors.
    descriptor: (u64, u64),
    directory: u64,
}

impl Header {
    fn read(file: &impl ReadAt, at: u64) -> Result<Self, Bad> {
        let mut bytes = [0; SECTOR as usize];
        file.exact(at, &mut bytes)?;
        if !bytes.starts_with(MAGIC) {
            return Err(Bad::NoDisk("a VMDK"));
        }
        let long = |at: usize| number(&bytes[at..at + 8]);
        let header = Self {
            flags: number(&bytes[8..12]) as u32,
            capacity: long(12),
            grain: long(20),
            descriptor: (long(28), long(36)),
            directory: long(56),
        };
        // One without sectors makes QEMU open what the descriptor inside it names.
        let is_sound = (1..=LARGEST).contains(&header.capacity)
            && header.grain.is_power_of_two()
            && (8..=1 << 17).contains(&header.grain)
            && number(&bytes[44..48]) == PER_TABLE;
        if is_sound { Ok(header) } else { Err(Bad::NoDisk("a VMDK: its header has impossible sizes")) }
    }
}

/// Checks that a file with a grain directory holds all that its directory tells of: what lies behind the end of a file, QEMU reads as zeros.
///
/// # Errors
/// It is cut off, or is no such file.
pub fn check_grains(file: &impl ReadAt) -> Result<(), Bad> {
    let mut header = Header::read(file, 0)?;
    if header.directory == AT_END {
        header = Header::read(file, file.length().checked_sub(2 * SECTOR).ok_or(Bad::Cut)?)?;
    }
    let Header { flags, capacity, grain, directory, .. } = header;
    let length = file.length();
    let tables = capacity.div_ceil(grain * PER_TABLE);
    let ends_within = |sector: u64, bytes: u64| sector.saturating_mul(SECTOR).saturating_add(bytes) <= length;
    if !ends_within(directory, tables.saturating_mul(4)) {
        return Err(Bad::Cut);
    }
    let (mut of_directory, mut of_table) = (vec![0; 4], vec![0; PER_TABLE as usize * 4]);
    for table in 0..tables {
        file.exact(directory * SECTOR + table * 4, &mut of_directory)?;
        // Nothing was ever written there.
        let at = number(&of_directory);
        if at == 0 {
            continue;
        }
        file.exact(at * SECTOR, &mut of_table)?;
        for (entry, index) in of_table.chunks_exact(4).map(number).zip(table * PER_TABLE..) {
            let left = capacity.saturating_sub(index * grain).min(grain);
            // 1 is said of zeros that take no place.
            if entry <= 1 || left == 0 {
                continue;
            }
            let mut needs = left * SECTOR;
            if flags & COMPRESSED != 0 {
                let mut marker = [0; MARKER];
                file.exact(entry * SECTOR, &mut marker)?;
                needs = MARKER as u64 + number(&marker[8..]);
            }
            if !ends_within(entry, needs) {
                return Err(Bad::Cut);
            }
        }
    }
    Ok(())
}
