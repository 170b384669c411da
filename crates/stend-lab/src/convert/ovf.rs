//! OVF: a text in XML that describes a machine with its disks; and OVA, an archive of both.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use serde::Serialize;
use stend_instrument::xml::text_of;

use super::Bad;

/// Of a description so many bytes are read.
pub(super) const LONGEST: u64 = 4 << 20;
/// A machine has no more disks; and an archive no more files.
pub(super) const MOST_FILES: usize = 1000;
/// How deep its elements may lie.
const DEEPEST: usize = 64;
const PROCESSORS: &str = "3";
const MEMORY: &str = "4";

/// A machine as it is described.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// How many processors it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How many bytes of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The names of its disks' files.
    #[serde(skip)]
    pub disks: Vec<String>,
}

/// Reads a description.
///
/// # Errors
/// It is none, or a file of it is packed.
pub fn read(text: &str) -> Result<Machine, Bad> {
    let xml = |error: &dyn std::fmt::Display| Bad::Xml(error.to_string());
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let (mut files, mut machine, mut path) = (BTreeMap::new(), Machine::default(), Vec::<String>::new());
    let (mut words, mut item) = (String::new(), BTreeMap::<String, String>::new());
    loop {
        match reader.read_event().map_err(|error| xml(&error))? {
            Event::Start(tag) => {
                let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                if path.is_empty() && name != "Envelope" || path.len() >= DEEPEST {
                    return Err(xml(&format!("<{name}> is no <Envelope> of OVF")));
                }
                words.clear();
                let of = |name| attribute(&tag, name);
                match name.as_str() {
                    "File" if files.len() < MOST_FILES => {
                        if !["", "identity"].contains(&of("compression").as_str()) || !of("chunkSize").is_empty() {
                            return Err(Bad::Packed(of("href")));
                        }
                        files.insert(of("id"), of("href"));
                    }
                    "Disk" if machine.disks.len() < MOST_FILES => {
                        machine.disks.extend(files.get(&of("fileRef")).cloned())
                    }
                    "VirtualSystem" if machine.name.is_empty() => machine.name = of("id"),
                    "Item" => item.clear(),
                    _ => {}
                }
                path.push(name);
            }
            Event::End(_) => {
                let name = path.pop().unwrap_or_default();
                match (name.as_str(), path.last().map_or("", String::as_str)) {
                    ("Name", "VirtualSystem") => machine.name = words.trim().to_owned(),
                    ("Item", _) => taken(&item, &mut machine),
                    (_, "Item") => drop(item.insert(name, words.trim().to_owned())),
                    _ => {}
                }
                words.clear();
            }
            // Nobody needs one here, and it may define entities that grow without end.
            Event::DocType(_) => return Err(xml(&"it has a document type")),
            Event::Eof if path.is_empty() && !text.trim().is_empty() => return Ok(machine),
            Event::Eof => return Err(Bad::Cut),
            other => words.extend(text_of(&other)),
        }
    }
}

fn attribute(tag: &BytesStart, name: &str) -> String {
    let is_it = |key: &[u8]| key == name.as_bytes();
    let found = tag.attributes().flatten().find(|attribute| is_it(attribute.key.local_name().as_ref()));
    let value = found.and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(Into::into));
    value.unwrap_or_default()
}

/// Takes from an entry of the hardware how much of it there is.
fn taken(item: &BTreeMap<String, String>, machine: &mut Machine) {
    let of = |key: &str| item.get(key).map_or("", String::as_str);
    let quantity = of("VirtualQuantity").parse::<u64>().ok();
    match of("ResourceType") {
        PROCESSORS => machine.cpus = quantity.and_then(|cpus| cpus.try_into().ok()),
        MEMORY => machine.memory = quantity.and_then(|quantity| quantity.checked_mul(unit(of("AllocationUnits"))?)),
        _ => {}
    }
}

/// How many bytes a unit has: `byte * 2^20`, or as older ones write, `MegaBytes`.
fn unit(text: &str) -> Option<u64> {
    match text.split_once("2^") {
        Some((_, power)) => 1_u64.checked_shl(power.trim().parse().ok()?),
        None => match text.to_ascii_lowercase().as_str() {
            "byte" | "bytes" => Some(1),
            "kilobytes" => Some(1 << 10),
            "gigabytes" => Some(1 << 30),
            _ => Some(1 << 20),
        },
    }
}
