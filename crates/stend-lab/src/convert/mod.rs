//! Disks of VMware and Hyper-V in a directory: which there are, of what files each consists, and what is wrong with it.
//!
//! What the files say is written by others. Each file that one names is looked for below the directory only; and QEMU, which converts them
//! ([`crate::rig::conversion`]), is told the name and the format of each file that it may open.

pub mod hyperv;
pub mod ovf;
pub mod vmdk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use stend_model::position::plain;
use thiserror::Error;

use self::ovf::Machine;
use self::vmdk::{Descriptor, ExtentKind, SECTOR, Vmdk};

/// Of a directory so many files are looked at, so deep.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 32;
/// A chain of snapshots is at most so long. VMware makes 32.
const LONGEST_CHAIN: usize = 256;

/// What is wrong with a disk.
#[derive(Debug, Error)]
pub enum Bad {
    /// The system does not give it.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// Its end is missing.
    #[error("it is cut off: a part that it tells of lies behind its end")]
    Cut,
    /// It is something else.
    #[error("it is no {}", .0.trim_start_matches("a "))]
    NoDisk(&'static str),
    /// A line of a descriptor.
    #[error("line {0} of its descriptor is not understood")]
    Line(usize),
    /// It has only what was changed after a checkpoint.
    #[error(
        "it has only what differs from another disk, which qemu-img does not read; merge it in Hyper-V first (Merge-VHD)"
    )]
    Differencing,
    /// A file that may not be read.
    #[error("it names \"{0}\", which lies outside the directory and is not read")]
    Outside(String),
    /// A file that is not there.
    #[error("it needs \"{0}\", which is not there as a file")]
    Missing(String),
    /// A parent is no disk.
    #[error("its parent {0}: {1}")]
    OfParent(String, String),
    /// The parent is another one by now.
    #[error("its parent {0} was changed after the snapshot was made")]
    Changed(String),
    /// A chain that does not end.
    #[error("its chain of parents has no end")]
    Endless,
    /// A description.
    #[error("its description is not understood: {}", plain(.0))]
    Xml(String),
    /// A disk of an archive.
    #[error("its disk \"{0}\" is packed or split in the archive; unpack it first")]
    Packed(String),
    /// It is not in one file, and lies in an archive.
    #[error("it is split or a snapshot, and lies in an archive; unpack that first")]
    SplitInArchive,
    /// What describes it is missing.
    #[error("it is a part of a disk whose descriptor is not here")]
    Part,
    /// Nothing describes a machine.
    #[error("it has no description (.ovf)")]
    NoDescription,
}

/// A file, a part of one, or bytes.
pub trait ReadAt {
    /// How many bytes it has.
    fn length(&self) -> u64;

    /// Fills a buffer with the bytes from a place on.
    ///
    /// # Errors
    /// It has not so many, or cannot be read.
    fn exact(&self, at: u64, into: &mut [u8]) -> Result<(), Bad>;
}

impl ReadAt for [u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn exact(&self, at: u64, into: &mut [u8]) -> Result<(), Bad> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).ok_or(Bad::Cut)?;
        into.copy_from_slice(rest.get(..into.len()).ok_or(Bad::Cut)?);
        Ok(())
    }
}

impl ReadAt for &[u8] {
    fn length(&self) -> u64 {
        (**self).length()
    }

    fn exact(&self, at: u64, into: &mut [u8]) -> Result<(), Bad> {
        (**self).exact(at, into)
    }
}

/// A number, its lowest byte first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Where bytes lie: a file, or a part of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// Where it begins, and how long it is.
    part: Option<(u64, u64)>,
}

struct Opened {
    file: File,
    begin: u64,
    length: u64,
}

impl Place {
    fn open(&self) -> Result<Opened, Bad> {
        let file = File::open(&self.path)?;
        let (begin, length) = self.part.map_or_else(|| Ok((0, file.metadata()?.len())), Ok::<_, std::io::Error>)?;
        Ok(Opened { file, begin, length })
    }

    /// As QEMU opens it.
    fn node(&self) -> Value {
        let file = json!({ "driver": "file", "filename": self.path.to_string_lossy() });
        match self.part {
            None => file,
            Some((offset, size)) => json!({ "driver": "raw", "offset": offset, "size": size, "file": file }),
        }
    }
}

impl ReadAt for Opened {
    fn length(&self) -> u64 {
        self.length
    }

    fn exact(&self, at: u64, into: &mut [u8]) -> Result<(), Bad> {
        if at.checked_add(into.len() as u64).is_none_or(|end| end > self.length) {
            return Err(Bad::Cut);
        }
        let read = self.file.read_exact_at(into, self.begin + at);
        read.map_err(|error| if error.kind() == ErrorKind::UnexpectedEof { Bad::Cut } else { error.into() })
    }
}

/// The format of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// VMware's.
    Vmdk,
    /// Hyper-V's.
    Vhdx,
    /// The older one.
    Vhd,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "vmdk" => Some(Self::Vmdk),
            "vhdx" | "avhdx" => Some(Self::Vhdx),
            "vhd" | "avhd" => Some(Self::Vhd),
            _ => None,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Vmdk => "VMDK",
            Self::Vhdx => "VHDX",
            Self::Vhd => "VHD",
        })
    }
}

/// A disk, or the newest of a chain of snapshots of one.
#[derive(Debug, Serialize)]
pub struct Disk {
    /// Its path below the directory; in an archive, behind the archive's.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// How many bytes the machine sees.
    pub size: u64,
    /// How many bytes its files take.
    pub taken: u64,
    /// How many disks the chain has.
    pub layers: usize,
    /// Its files, by their paths below the directory.
    pub files: Vec<String>,
    /// The machine that it belongs to, if one is described.
    pub machine: Option<Machine>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// The newest first.
    #[serde(skip)]
    chain: Vec<Layer>,
}

/// One disk of a chain.
#[derive(Debug, Clone)]
struct Layer {
    format: Format,
    place: Place,
    /// What a descriptor in a file of its own says, with the file of each extent.
    described: Option<(Descriptor, Vec<PathBuf>)>,
    size: u64,
    cid: u32,
    parent: Option<(u32, PathBuf)>,
}

/// What QEMU is told of a disk.
#[derive(Debug, PartialEq)]
pub struct Source {
    /// Descriptors to be written, by their names.
    pub texts: Vec<(String, String)>,
    /// Links to be made, and to what.
    pub links: Vec<(String, String)>,
    /// The chain, as QEMU opens it.
    pub node: Value,
    /// What QEMU can check by itself, each disk of the chain alone.
    pub checked: Vec<Value>,
}

impl Disk {
    /// What QEMU is told of it, and what is put for that into a directory of its own.
    pub fn source(&self, directory: &str) -> Source {
        let (mut texts, mut links, mut checked, mut node) = (Vec::new(), Vec::new(), Vec::new(), Value::Null);
        for (number, layer) in self.chain.iter().enumerate().rev() {
            let file = match &layer.described {
                None => layer.place.node(),
                Some((descriptor, extents)) => {
                    let name = |extent| format!("disk{number}-{extent}");
                    let text = format!("disk{number}");
                    links.extend((0..).map(name).zip(extents.iter().map(|path| path.to_string_lossy().into_owned())));
                    let node = json!({ "driver": "file", "filename": format!("{directory}/{text}") });
                    texts.push((text, descriptor.renamed(name)));
                    node
                }
            };
            node = match layer.format {
                Format::Vmdk => {
                    checked.push(json!({ "driver": "vmdk", "file": file, "backing": null }));
                    json!({ "driver": "vmdk", "file": file, "backing": node })
                }
                Format::Vhdx => json!({ "driver": "vhdx", "file": file }),
                // By the geometry it would be somewhat smaller.
                Format::Vhd => json!({ "driver": "vpc", "file": file, "force_size_calc": "current_size" }),
            };
        }
        Source { texts, links, node, checked }
    }

    /// Checks that nothing of its files is missing at their ends, which takes its time on a large disk.
    ///
    /// # Errors
    /// A file is cut off, by its name.
    pub fn check(&self) -> Result<(), (String, Bad)> {
        for layer in &self.chain {
            match &layer.described {
                None if layer.format == Format::Vmdk => {
                    layer.place.open().and_then(|file| vmdk::check_grains(&file)).map_err(of(&layer.place.path))?;
                }
                None => {}
                Some((descriptor, paths)) => {
                    let with_files = descriptor.extents.iter().filter(|extent| extent.file.is_some());
                    for (extent, path) in with_files.zip(paths) {
                        check_extent(extent, path).map_err(of(path))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Names the file that something is wrong with.
fn of(path: &Path) -> impl Fn(Bad) -> (String, Bad) {
    move |bad| (path.to_string_lossy().into_owned(), bad)
}

fn check_extent(extent: &vmdk::Extent, path: &Path) -> Result<(), Bad> {
    let opened = Place { path: path.to_owned(), part: None }.open()?;
    let end = extent.sectors.saturating_add(extent.offset).saturating_mul(SECTOR);
    let mut magic = [0; 4];
    match extent.kind {
        ExtentKind::Flat if end > opened.length => Err(Bad::Cut),
        ExtentKind::Flat | ExtentKind::Zero | ExtentKind::SeSparse => Ok(()),
        ExtentKind::Sparse => vmdk::check_grains(&opened),
        // QEMU goes by what the file says.
        ExtentKind::VmfsSparse => match opened.exact(0, &mut magic) {
            Ok(()) if &magic == b"COWD" => Ok(()),
            _ => vmdk::check_grains(&opened),
        },
    }
}

/// The directory that is looked through.
struct Scan {
    /// Without links in its path.
    root: PathBuf,
    /// What is a part of another disk, or what others were made of.
    parts: BTreeSet<PathBuf>,
}

/// Lists the disks in a directory and those below it. Links are not followed.
///
/// # Errors
/// It cannot be listed, or is too large.
pub fn scan(directory: &Path) -> std::io::Result<Vec<Disk>> {
    let root = directory.canonicalize()?;
    let mut files = Vec::new();
    walk(&root, 0, &mut files)?;
    files.sort();
    let mut scan = Scan { root, parts: BTreeSet::new() };
    let mut layers: BTreeMap<PathBuf, Result<Layer, Bad>> = BTreeMap::new();
    for path in &files {
        let Some(format) = Format::of(path) else { continue };
        let place = Place { path: path.clone(), part: None };
        layers.insert(path.clone(), scan.layer(format, place));
    }
    scan.parts.extend(layers.values().flatten().filter_map(|layer| Some(layer.parent.as_ref()?.1.clone())));
    let mut disks: Vec<Disk> = Vec::new();
    for (path, layer) in layers.iter().filter(|(path, _)| !scan.parts.contains(*path)) {
        let format = Format::of(path).expect("it has one");
        let chain = layer.as_ref().map_err(ToString::to_string);
        let chain = chain.and_then(|layer| scan.chain(layer, &layers).map_err(|bad| bad.to_string()));
        disks.push(scan.disk(scan.name(path), format, chain));
    }
    for path in &files {
        match path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("ova") => disks.extend(scan.archive(path)),
            Some("ovf") => {
                let place = Place { path: path.clone(), part: None };
                let Ok(machine) = place.open().and_then(|opened| text(&opened)).and_then(|text| ovf::read(&text))
                else {
                    continue;
                };
                let beside = |name: &String| scan.within(path, name).ok().map(|path| scan.name(&path));
                let names: Vec<_> = machine.disks.iter().filter_map(beside).collect();
                let of_it = disks.iter_mut().filter(|disk| disk.files.iter().any(|file| names.contains(file)));
                of_it.for_each(|disk| disk.machine = Some(machine.clone()));
            }
            _ => {}
        }
    }
    disks.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(disks)
}

fn walk(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            match walk(&entry.path(), depth + 1, files) {
                // Somebody else's, such as what was found lost.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                done => done?,
            }
        } else if kind.is_file() {
            files.push(entry.path());
        }
        if files.len() > MOST_FILES {
            return Err(std::io::Error::other(format!("it has more than {MOST_FILES} files; name one below it")));
        }
    }
    Ok(())
}

fn text(file: &impl ReadAt) -> Result<String, Bad> {
    let mut bytes = vec![0; file.length().min(ovf::LONGEST) as usize];
    file.exact(0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Scan {
    /// A path below the directory.
    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The file that another one names, if it lies in the directory.
    fn within(&self, file: &Path, name: &str) -> Result<PathBuf, Bad> {
        let outside = || Bad::Outside(name.into());
        let mut path = PathBuf::new();
        for component in file.parent().unwrap_or(&self.root).join(name).components() {
            match component {
                Component::ParentDir => drop(path.pop()),
                other => path.push(other),
            }
        }
        if !path.starts_with(&self.root) {
            return Err(outside());
        }
        let real = path.canonicalize().map_err(|_| Bad::Missing(name.into()))?;
        match real.starts_with(&self.root) {
            true if real.is_file() => Ok(real),
            true => Err(Bad::Missing(name.into())),
            false => Err(outside()),
        }
    }

    /// Reads one disk, without its parents.
    fn layer(&mut self, format: Format, place: Place) -> Result<Layer, Bad> {
        let opened = place.open()?;
        let descriptor = match format {
            Format::Vmdk => vmdk::read(&opened)?,
            Format::Vhd | Format::Vhdx => {
                let size = if format == Format::Vhd { hyperv::vhd(&opened) } else { hyperv::vhdx(&opened) }?;
                return Ok(Layer { format, place, described: None, size, cid: 0, parent: None });
            }
        };
        let (descriptor, is_alone) = match descriptor {
            Vmdk::Described(_) if place.part.is_some() => return Err(Bad::SplitInArchive),
            Vmdk::Described(descriptor) => (descriptor, true),
            Vmdk::Whole(descriptor) => (descriptor, false),
            Vmdk::Part => return Err(Bad::Part),
        };
        let mut extents = Vec::new();
        if is_alone {
            let names = descriptor.extents.iter().filter_map(|extent| extent.file.as_deref());
            extents = names.map(|name| self.within(&place.path, name)).collect();
            let others = descriptor.changes.iter().filter_map(|name| self.within(&place.path, name).ok());
            let parts: Vec<_> = extents.iter().flatten().cloned().chain(others).collect();
            self.parts.extend(parts);
        }
        let extents = extents.into_iter().collect::<Result<Vec<_>, _>>()?;
        let parent = descriptor.parent.as_ref();
        let parent = parent.map(|(cid, name)| Ok::<_, Bad>((*cid, self.within(&place.path, name)?))).transpose()?;
        let (size, cid) = (descriptor.size(), descriptor.cid);
        Ok(Layer { format, place, described: is_alone.then_some((descriptor, extents)), size, cid, parent })
    }

    /// A disk with all that it was made of, the newest first.
    fn chain(&self, newest: &Layer, layers: &BTreeMap<PathBuf, Result<Layer, Bad>>) -> Result<Vec<Layer>, Bad> {
        let mut chain = vec![newest.clone()];
        while let Some((cid, path)) = &chain[chain.len() - 1].parent {
            let name = self.name(path);
            let parent = match layers.get(path) {
                Some(Ok(parent)) => parent,
                Some(Err(bad)) => return Err(Bad::OfParent(name, bad.to_string())),
                None => return Err(Bad::Missing(name)),
            };
            if parent.cid != *cid {
                return Err(Bad::Changed(name));
            }
            chain.push(parent.clone());
            if chain.len() > LONGEST_CHAIN {
                return Err(Bad::Endless);
            }
        }
        Ok(chain)
    }

    fn disk(&self, name: String, format: Format, chain: Result<Vec<Layer>, String>) -> Disk {
        let (chain, problem) = chain.map_or_else(|bad| (Vec::new(), Some(bad)), |chain| (chain, None));
        let mut files = Vec::new();
        for layer in &chain {
            files.push(layer.place.path.clone());
            files.extend(layer.described.iter().flat_map(|(_, extents)| extents.clone()));
        }
        let of_archive = chain.first().and_then(|layer| layer.place.part).map(|(_, length)| length);
        let blocks = files.iter().filter_map(|path| Some(path.metadata().ok()?.blocks() * SECTOR));
        Disk {
            name,
            format,
            size: chain.first().map_or(0, |layer| layer.size),
            taken: of_archive.unwrap_or_else(|| blocks.sum()),
            layers: chain.len(),
            files: files.iter().map(|path| self.name(path)).collect(),
            machine: None,
            problem,
            chain,
        }
    }

    /// The disks in an archive, or what is wrong with it.
    fn archive(&mut self, path: &Path) -> Vec<Disk> {
        let name = self.name(path);
        match self.disks_of(path) {
            Ok(disks) => disks,
            Err(bad) => vec![self.disk(name, Format::Vmdk, Err(bad.to_string()))],
        }
    }

    fn disks_of(&mut self, path: &Path) -> Result<Vec<Disk>, Bad> {
        let mut members = BTreeMap::new();
        let mut machine = None;
        let mut archive = tar::Archive::new(File::open(path)?);
        for entry in archive.entries_with_seek()?.take(ovf::MOST_FILES) {
            let entry = entry?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = entry.path()?.to_string_lossy().into_owned();
            let part = Some((entry.raw_file_position(), entry.size()));
            let place = Place { path: path.to_owned(), part };
            if name.to_ascii_lowercase().ends_with(".ovf") && machine.is_none() {
                machine = Some(ovf::read(&text(&place.open()?)?)?);
            }
            members.insert(name, place);
        }
        let machine = machine.ok_or(Bad::NoDescription)?;
        let of_archive = self.name(path);
        let mut disks = Vec::new();
        for file in &machine.disks {
            let place = members.get(file).ok_or_else(|| Bad::Missing(file.clone()))?;
            let format = Format::of(Path::new(file)).ok_or(Bad::NoDisk("a disk that is known here"))?;
            let layer = self.layer(format, place.clone()).and_then(|layer| match layer.parent {
                None => Ok(vec![layer]),
                Some(_) => Err(Bad::SplitInArchive),
            });
            let name = format!("{of_archive}/{file}");
            let mut disk = self.disk(name, format, layer.map_err(|bad| bad.to_string()));
            disk.machine = Some(machine.clone());
            disks.push(disk);
        }
        Ok(disks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OVF: &str = "<Envelope xmlns:ovf=\"o\" xmlns:rasd=\"r\"><References><File ovf:href=\"a.vmdk\" ovf:id=\"f\"/></References>\
        <DiskSection><Disk ovf:fileRef=\"f\"/></DiskSection><VirtualSystem ovf:id=\"vm\"><Name>a &amp; b</Name><Item>\
        <rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits><rasd:ResourceType>4</rasd:ResourceType>\
        <rasd:VirtualQuantity>512</rasd:VirtualQuantity></Item><Item><rasd:ResourceType>3</rasd:ResourceType>\
        <rasd:VirtualQuantity>2</rasd:VirtualQuantity></Item></VirtualSystem></Envelope>";

    #[test]
    fn a_description_names_the_machine_and_its_disks_and_no_entity_is_expanded() {
        let machine = ovf::read(OVF).unwrap();
        assert_eq!((machine.name.as_str(), machine.cpus, machine.memory), ("a & b", Some(2), Some(512 << 20)));
        assert_eq!(machine.disks, ["a.vmdk"]);
        let said = |text: &str| ovf::read(text).unwrap_err().to_string();
        let entities = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>";
        assert!(said(&format!("{entities}{}", OVF.replace("&amp;", "&b;"))).contains("document type"));
        assert!(said(&OVF[..OVF.rfind("</").unwrap()]).contains("cut off"));
        assert!(said(&OVF.replace("Envelope", "html")).contains("no <Envelope>"));
        assert!(said(&OVF.replace("ovf:id=\"f\"", "ovf:id=\"f\" ovf:compression=\"gzip\"")).contains("packed"));
        assert!(said(&"<Envelope>".repeat(100)).contains("no <Envelope>"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_disk_or_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..2048), head in 0..4_usize) {
            let head: &[u8] = [&b"KDMV"[..], b"# Disk DescriptorFile\n", b"vhdxfile", b""][head];
            bytes.splice(..0, head.iter().copied());
            let file = bytes.as_slice();
            let _ = (vmdk::read(&file), vmdk::check_grains(&file), hyperv::vhd(&file), hyperv::vhdx(&file));
            let _ = ovf::read(&String::from_utf8_lossy(file));
        }

        #[test]
        fn what_qemu_is_told_of_a_descriptor_has_no_name_of_it(
            sectors in 1..1_u64 << 40, kind in 0..6_usize, name in "[^\"\r\n]{1,40}", offset in any::<u32>(), hint in "[^\"\r\n]{0,40}",
        ) {
            let kind = ["FLAT", "VMFS", "SPARSE", "VMFSSPARSE", "SESPARSE", "ZERO"][kind];
            let file = if kind == "ZERO" { String::new() } else { format!(" \"{name}\" {offset}") };
            let text = format!("parentCID=00000001\nparentFileNameHint=\"{hint}\"\nRW {sectors} {kind}{file}\n");
            let descriptor = Descriptor::parse(&text).unwrap();
            prop_assert_eq!(descriptor.size(), sectors * SECTOR);
            let renamed = descriptor.renamed(|number| format!("disk{number}"));
            let quoted = renamed.lines().filter(|line| line.starts_with("RW ")).filter_map(|line| line.split('"').nth(1));
            prop_assert!(quoted.into_iter().all(|name| name == "disk0"), "{}", renamed);
            let again = Descriptor::parse(&renamed.replace("parentCID=00000001", "parentCID=ffffffff")).unwrap();
            prop_assert_eq!((again.size(), again.extents[0].kind), (sectors * SECTOR, descriptor.extents[0].kind));
        }
    }
}
