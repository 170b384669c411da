//! Guests that go to another machine: a line of JSON that says what the guest is, then a tar archive of its image and its disks.
//!
//! The image goes while the guest runs. Then the guest is suspended: its memory is kept on its disk as a [snapshot](super::snapshots), and its
//! QEMU ends. Whoever receives it starts it only when all of it is there, up to the last entry, so until that is written the sender may let the
//! guest go on.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stend_model::image::Architecture;
use stend_model::target::Where;
use stend_model::target::vm::{Format, Vm, VmText};
use stend_stand::host::Host;

use super::power::{end, switch_on};
use super::snapshots::files_with_snapshots;
use super::{Checked, Standing, accelerator, disk_file, first_lun, need, plan, standing_guest, tap};
use crate::rig::ability::lack;
use crate::rig::check::{memory, space};
use crate::rig::image::{self, Kept};
use crate::rig::ledger::Begun;
use crate::rig::servers::OfServer;
use crate::rig::thing::Thing;
use crate::rig::{Misuse, Obstacle, Refusal, Up, base, is_name, make_whole_with, real_path, take_down};

/// The snapshot that holds the memory of a guest that was sent. No user can name one so.
pub(super) const SENT: &str = "stend.sent";
/// A file beside the disks of a guest that was suspended and has not gone on since: only then that is its memory.
const SUSPENDED: &str = "suspended";
/// The form in which a guest is written.
const FORM: u32 = 1;
/// The first line is no longer, in bytes.
const LONGEST_LINE: u64 = 64 << 10;
/// Of tar, in bytes.
const BLOCK: usize = 512;
/// The last entry: what does not end with it is not whole.
const END: &str = "end";
const SYSTEM: &str = "system.qcow2";
/// A guest writes more while it is sent.
const MORE: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// What the first line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    stend_guest: u32,
    name: String,
    vm: Vm,
    architecture: Architecture,
    image: String,
    /// As the image has them.
    digests: String,
    /// What the addresses of its network with the host come from.
    network: String,
    /// Whether it goes on with its memory; else it boots.
    has_memory: bool,
    /// All of it takes no more than this, in bytes.
    bytes: u64,
}

impl Head {
    /// The entries of the archive, in their order, but for the last one.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let image = image::FILES.into_iter().map(|file| Entry { of_image: true, file: file.into() });
        let disks = (0..self.vm.disks.len()).map(disk_file);
        let rest = ["seed.tar", "key", "key.pub", "known_hosts"].map(str::to_owned);
        let of_guest = [SYSTEM.to_owned()].into_iter().chain(disks).chain(rest);
        image.chain(of_guest.map(|file| Entry { of_image: false, file }))
    }

    /// Refuses what no guest is.
    fn check(&self) -> Result<(), Refusal> {
        if self.stend_guest != FORM {
            return Err(no_guest(&format!("it is of form {}, and this stend reads form {FORM}", self.stend_guest)));
        }
        let is_plain = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        };
        if !is_name(&self.name) || !is_plain(&self.image) {
            return Err(no_guest("its name or that of its image is none"));
        }
        if !are_digests(&self.digests) || !are_digits(&self.network, 8) {
            return Err(no_guest("its digests or its network are none"));
        }
        let vm = self.vm.clone();
        let text = VmText {
            kind: None,
            image: Some(vm.image),
            cpus: Some(vm.cpus),
            memory: Some(vm.memory),
            accelerator: vm.accelerator,
            machine: vm.machine,
            network: Some(vm.network),
            disk: Some(vm.disks),
        };
        text.vm().map_err(|error| no_guest(&error.to_string()))?;
        first_lun(&self.vm).map_or(Ok(()), |lun| Err(no_guest(&format!("the LUN {lun} is a disk of it"))))
    }
}

fn are_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether these are digests of the files of an image, and of no other ones.
fn are_digests(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split_once("  ").filter(|(digest, _)| are_digits(digest, 64)));
    let Some(mut lines) = lines.collect::<Option<Vec<_>>>() else { return false };
    lines.sort_by_key(|(_, file)| *file);
    lines.iter().map(|(_, file)| *file).eq(image::CHECKED)
}

struct Entry {
    of_image: bool,
    file: String,
}

impl Entry {
    fn name(&self) -> String {
        if self.of_image { format!("image/{}", self.file) } else { self.file.clone() }
    }
}

/// Writes a guest that stands. One that runs is off and suspended then; if it cannot be written to its end it goes on.
///
/// # Errors
/// There is none of this name; it has a disk that cannot be sent; it cannot be written; or the user interrupted it.
pub fn send(
    host: &dyn Host,
    probe: &str,
    work: &str,
    name: &str,
    to: &mut dyn Write,
    tell: &mut dyn FnMut(&str),
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let standing = standing_guest(host, work, name)?;
    let Standing { guest, vm, .. } = &standing;
    if let Some(disk) = first_lun(vm) {
        return Err(Misuse::LunStays { name: name.into(), disk }.into());
    }
    let runs = guest.runs(host);
    if runs {
        files_with_snapshots(vm).map_err(|disk| {
            let why = format!("its memory cannot be sent, because a disk of it is {disk}");
            Misuse::GuestIsOn { name: name.into(), why }
        })?;
    }
    image::check(host, work, &guest.image)?;
    let image = PathBuf::from(image::directory(work, &guest.image));
    let failed = |error: io::Error| Refusal::from(Obstacle::NotSent { name: name.into(), said: error.to_string() });
    let mut head = Head {
        stend_guest: FORM,
        name: name.into(),
        vm: vm.clone(),
        architecture: guest.architecture,
        image: guest.image.clone(),
        digests: fs::read_to_string(image.join(image::DIGESTS)).map_err(failed)?,
        network: standing.token().to_owned(),
        has_memory: runs || is_suspended(&standing),
        bytes: vm.memory.0 + MORE,
    };
    let path = |entry: &Entry| if entry.of_image { image.join(&entry.file) } else { guest.home().join(&entry.file) };
    let (of_image, of_guest): (Vec<_>, Vec<_>) = head.entries().partition(|entry| entry.of_image);
    let size = |entries: &[Entry]| -> u64 {
        entries.iter().map(|entry| fs::metadata(path(entry)).map_or(0, |file| file.len())).sum()
    };
    head.bytes += size(&of_image) + size(&of_guest);
    let line = serde_json::to_string(&head).expect("it has only texts and numbers");
    let put = |to: &mut dyn Write, entries: &[Entry]| {
        entries.iter().try_for_each(|entry| put(to, &entry.name(), &path(entry), interrupted, &failed))
    };
    writeln!(to, "{line}").map_err(failed)?;
    tell(&format!("sending its image, {} MiB", size(&of_image) >> 20));
    put(to, &of_image)?;
    if runs {
        tell("suspending it");
        fs::write(guest.home().join(SUSPENDED), "").map_err(failed)?;
        let kept = standing.ask(|monitor| monitor.suspend(SENT));
        kept.inspect_err(|_| went_on(&standing))?;
        end(host, &standing)?;
    }
    tell(&format!("sending what it has written, {} MiB", size(&of_guest) >> 20));
    // At once: what is less is not the end.
    let sent = put(to, &of_guest).and_then(|()| to.write_all(&ending()).and_then(|()| to.flush()).map_err(failed));
    match sent {
        Err(refusal) if runs => match resume(host, probe, work, &standing, &|| false) {
            Ok(()) => Err(refusal),
            Err(error) => Err(Obstacle::Left { refusal: refusal.into(), error: error.into() }.into()),
        },
        sent => sent,
    }
}

/// Whether a guest is off and has its memory still.
pub(super) fn is_suspended(standing: &Standing) -> bool {
    standing.guest.home().join(SUSPENDED).exists()
}

/// Notes that what a guest had in its memory when it was suspended is no longer its memory.
pub(super) fn went_on(standing: &Standing) {
    let _ = fs::remove_file(standing.guest.home().join(SUSPENDED));
}

/// Switches a guest on that was suspended, with its memory.
pub(super) fn resume(
    host: &dyn Host,
    probe: &str,
    work: &str,
    standing: &Standing,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    went_on(standing);
    switch_on(host, probe, work, standing, Some(SENT), interrupted).inspect_err(|_| {
        let _ = fs::write(standing.guest.home().join(SUSPENDED), "");
    })?;
    drop_memory(standing);
    Ok(())
}

/// Removes what was kept of a guest's memory. What stays takes space, until it is suspended again.
fn drop_memory(standing: &Standing) {
    let _ = standing.ask(|monitor| monitor.forget(SENT));
}

fn header(name: &str, size: u64) -> io::Result<tar::Header> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_path(name)?;
    header.set_mode(0o600);
    header.set_size(size);
    header.set_cksum();
    Ok(header)
}

/// The last entry, which is empty, and the end of an archive.
fn ending() -> Vec<u8> {
    let header = header(END, 0).expect("it is a short name");
    [header.as_bytes(), &[0; 2 * BLOCK][..]].concat()
}

fn put(
    to: &mut dyn Write,
    name: &str,
    path: &Path,
    interrupted: &dyn Fn() -> bool,
    failed: &dyn Fn(io::Error) -> Refusal,
) -> Result<(), Refusal> {
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    to.write_all(header(name, size).map_err(failed)?.as_bytes()).map_err(failed)?;
    copy(&mut file, to, size, interrupted, failed)?;
    let rest = usize::try_from(size % BLOCK as u64).expect("it is less than a block");
    to.write_all(&[0; BLOCK][..(BLOCK - rest) % BLOCK]).map_err(failed)
}

/// Copies so many bytes.
fn copy(
    from: &mut dyn Read,
    to: &mut dyn Write,
    size: u64,
    interrupted: &dyn Fn() -> bool,
    failed: &dyn Fn(io::Error) -> Refusal,
) -> Result<(), Refusal> {
    let (mut left, mut buffer) = (size, vec![0; CHUNK]);
    while left > 0 {
        if interrupted() {
            return Err(Refusal::Interrupted);
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(CHUNK));
        let length = from.read(&mut buffer[..most]).map_err(failed)?;
        if length == 0 {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        }
        to.write_all(&buffer[..length]).map_err(failed)?;
        left -= length as u64;
    }
    Ok(())
}

/// A guest of which the beginning has come.
pub struct Arriving<'a> {
    head: Head,
    rest: BufReader<&'a mut dyn Read>,
}

/// Reads what a guest is that [`send`] has written.
///
/// # Errors
/// It is none, or cannot be read.
pub fn arriving(from: &mut dyn Read) -> Result<Arriving<'_>, Refusal> {
    let mut rest = BufReader::new(from);
    let mut line = String::new();
    (&mut rest).take(LONGEST_LINE).read_line(&mut line).map_err(unreceived)?;
    let head: Head =
        serde_json::from_str(&line).map_err(|_| no_guest("it does not begin as what `stend rig send` writes"))?;
    head.check()?;
    Ok(Arriving { head, rest })
}

fn no_guest(why: &str) -> Refusal {
    Obstacle::NotReceived { said: why.into() }.into()
}

fn unreceived(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => no_guest("it ends too early"),
        _ => no_guest(&error.to_string()),
    }
}

/// What a guest that arrives takes along.
#[derive(Debug)]
pub(super) struct Received {
    /// What the addresses of its network with the host come from.
    pub(super) network: String,
    /// The snapshot that has its memory, if it does not boot.
    pub(super) snapshot: Option<&'static str>,
}

impl Arriving<'_> {
    /// What it was called.
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// What it is.
    pub fn vm(&self) -> &Vm {
        &self.head.vm
    }

    /// Sets the guest up under a name that no other has, or nothing of it. It goes on where it was suspended, or boots.
    ///
    /// # Errors
    /// This machine cannot have it; it does not come to its end; it does not go on; or the user interrupted it.
    pub fn receive(
        self,
        host: &dyn Host,
        probe: &str,
        work: &str,
        name: &str,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Up, Refusal> {
        let Self { head, rest } = self;
        let wanted = head.checked(host, work)?;
        take_down(host, work, name)?;
        let base = base(work, name);
        host.make_directory(&base)?;
        let base = real_path(host, &base)?;
        let plan = plan(host, &base, name, &wanted);
        let begun = Begun { vm: Some(wanted.vm.clone()), ..Default::default() };
        let mut rest = Some(rest);
        let mut fill = |thing: &Thing| match (thing, &mut rest) {
            (Thing::Server(thing @ OfServer::Home(_)), rest) => match rest.take() {
                Some(rest) => head.unpack(host, work, rest, Path::new(thing.path()), &wanted.kept, interrupted),
                None => Ok(()),
            },
            _ => Ok(()),
        };
        let up = make_whole_with(host, probe, &base, begun, plan, &mut fill, interrupted)?;
        if head.has_memory {
            drop_memory(&standing_guest(host, work, name)?);
        }
        Ok(up)
    }
}

impl Head {
    /// The guest as it is set up here, on the image that is there or comes.
    fn checked(&self, host: &dyn Host, work: &str) -> Result<Checked, Refusal> {
        let Self { vm, architecture, .. } = self;
        tap(host, vm.network)?;
        if let Some(missing) = lack(host, &need(*architecture)) {
            return Err(Obstacle::NoGuests { missing }.into());
        }
        let accelerator = accelerator(host, vm.accelerator, vm.machine.as_deref(), *architecture)?;
        memory(host, vm.memory.0)?;
        space(host, work, self.bytes, &Where::Work)?;
        let received = Received { network: self.network.clone(), snapshot: self.has_memory.then_some(SENT) };
        Ok(Checked {
            vm: Vm { accelerator: Some(accelerator), ..vm.clone() },
            architecture: *architecture,
            image: None,
            kept: image::alike(host, work, &self.image, &self.digests)?,
            original: None,
            received: Some(received),
            luns: vec![None; vm.disks.len()],
        })
    }

    /// Unpacks the rest into the guest's directory. The image gets its place, unless one like it is there.
    fn unpack(
        &self,
        host: &dyn Host,
        work: &str,
        rest: impl Read,
        home: &Path,
        kept: &Kept,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        let image = home.join("image");
        fs::create_dir(&image).map_err(unreceived)?;
        fs::write(image.join(image::DIGESTS), &self.digests).map_err(unreceived)?;
        let mut archive = tar::Archive::new(rest);
        let mut entries = archive.entries().map_err(unreceived)?;
        let mut left = self.bytes;
        for wanted in self.entries().map(Some).chain([None]) {
            let name = wanted.as_ref().map_or_else(|| END.to_owned(), Entry::name);
            let mut entry =
                entries.next().transpose().map_err(unreceived)?.ok_or_else(|| no_guest("it ends too early"))?;
            let is_it = entry.header().entry_type().is_file() && *entry.path_bytes() == *name.as_bytes();
            if !is_it || entry.size() > left {
                return Err(no_guest(&format!("{name} is not where it should be, or too large")));
            }
            left -= entry.size();
            let Some(wanted) = wanted else { break };
            let path = if wanted.of_image { image.join(&wanted.file) } else { home.join(&wanted.file) };
            let mode = if wanted.of_image { 0o444 } else { 0o600 };
            let file = File::options().write(true).create_new(true).mode(mode).open(&path);
            let size = entry.size();
            copy(&mut entry, &mut file.map_err(unreceived)?, size, interrupted, &unreceived)?;
            if let Some(layers) = self.layers(&wanted) {
                let header = header_of(&path).map_err(unreceived)?;
                layers_are(&header, layers).map_err(|why| no_guest(&format!("{name}: {why}")))?;
            }
        }
        image::keep(host, work, &image, kept)
    }

    /// Whether a file of QEMU's format lies on another one, if it is in that format.
    fn layers(&self, entry: &Entry) -> Option<bool> {
        match (entry.of_image, entry.file.as_str()) {
            (true, image::DISK) => Some(false),
            (true, _) => None,
            (false, SYSTEM) => Some(true),
            (false, file) => {
                let disk = self.vm.disks.iter().enumerate().find(|(number, _)| disk_file(*number) == file);
                disk.filter(|(_, disk)| disk.format == Format::Qcow2).map(|_| false)
            }
        }
    }
}

const HEADER: usize = 80;

fn header_of(path: &Path) -> io::Result<[u8; HEADER]> {
    let mut header = [0; HEADER];
    File::open(path)?.read_exact(&mut header)?;
    Ok(header)
}

/// Checks that a file in QEMU's format names no other file but the one that it lies on, if it is to lie on one: QEMU would open that file.
fn layers_are(header: &[u8; HEADER], layers: bool) -> Result<(), &'static str> {
    const EXTERNAL_DATA: u64 = 1 << 2;
    let word = |at: usize| u64::from_be_bytes(header[at..at + 8].try_into().expect("it has eight bytes"));
    let version = word(0) & 0xffff_ffff;
    if &header[..4] != b"QFI\xfb" || !matches!(version, 2 | 3) {
        return Err("it is not qcow2");
    }
    if (word(8) != 0) != layers {
        return Err("it lies on another file than it should");
    }
    if version == 3 && word(72) & EXTERNAL_DATA != 0 {
        return Err("what it has lies in another file");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use stend_stand::host::Local;

    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn head() -> Head {
        let disk = Some(vec!["size=1MiB,format=qcow2".parse().unwrap(), "size=1MiB".parse().unwrap()]);
        Head {
            stend_guest: FORM,
            name: "guest".into(),
            vm: VmText { disk, ..VmText::default() }.vm().unwrap(),
            architecture: Architecture::Amd64,
            image: "debian-12-0123".into(),
            digests: image::CHECKED.map(|file| format!("{DIGEST}  {file}\n")).concat(),
            network: "01234567".into(),
            has_memory: true,
            bytes: 1 << 20,
        }
    }

    /// The beginning of a file in QEMU's format, of version 3.
    fn qcow2(lies_on: u64, features: u64) -> Vec<u8> {
        let words = [0x5146_49fb_0000_0003, lies_on, 0, 0, 0, 0, 0, 0, 0, features];
        words.map(u64::to_be_bytes).concat()
    }

    /// An archive as `head` says, with other contents or another kind of one of its entries.
    fn archive(head: &Head, other: &str, contents: &[u8], kind: tar::EntryType) -> Vec<u8> {
        let mut archive = Vec::new();
        for entry in head.entries() {
            let name = entry.name();
            let own = head.layers(&entry).map_or_else(|| b"own".to_vec(), |lies| qcow2(u64::from(lies) * 104, 0));
            let contents = if name == other { contents } else { &own };
            let mut header = header(&name, contents.len() as u64).unwrap();
            if name == other {
                header.set_entry_type(kind);
                header.set_cksum();
            }
            archive.extend(header.as_bytes());
            archive.extend(contents);
            archive.resize(archive.len().next_multiple_of(BLOCK), 0);
        }
        archive.extend(ending());
        archive
    }

    fn unpacked(head: &Head, archive: &[u8]) -> Result<(), String> {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().to_str().unwrap();
        let kept = Kept { name: head.image.clone(), directory: format!("{path}/images/x"), is_there: true };
        head.unpack(&Local, path, archive, work.path(), &kept, &|| false).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_does_not_come_whole_or_names_other_files_is_refused() {
        let (head, file) = (head(), tar::EntryType::Regular);
        let whole = archive(&head, "", b"", file);
        assert_eq!(unpacked(&head, &whole), Ok(()));
        // Each part of it, but for the blocks behind the last entry, which say that nothing follows.
        for length in (0..whole.len() - 2 * BLOCK).step_by(BLOCK / 2) {
            let said = unpacked(&head, &whole[..length]).unwrap_err();
            assert!(said.contains("cannot be received"), "{length}: {said}");
        }
        let large = vec![0; 2 << 20];
        for (entry, contents, kind, part) in [
            ("key", &b""[..], tar::EntryType::Symlink, "key is not where it should be"),
            ("disk1", &large, file, "disk1 is not where it should be, or too large"),
            ("system.qcow2", &qcow2(0, 0), file, "lies on another file"),
            ("disk0", &qcow2(104, 0), file, "lies on another file"),
            ("image/disk.qcow2", &qcow2(104, 0), file, "lies on another file"),
            ("image/disk.qcow2", &[b'x'; 512], file, "is not qcow2"),
            ("disk0", &qcow2(0, 1 << 2), file, "lies in another file"),
            ("system.qcow2", &[b'Q'; 8], file, "ends too early"),
        ] {
            let said = unpacked(&head, &archive(&head, entry, contents, kind)).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(unpacked(&head, &archive(&head, "disk1", &qcow2(104, 0), file)), Ok(()), "a raw disk has any");
    }

    #[test]
    fn an_image_that_is_not_what_its_digests_say_gets_no_place() {
        let head = head();
        let work = tempfile::tempdir().unwrap();
        let path = work.path().to_str().unwrap();
        let home = work.path().join("home");
        fs::create_dir(&home).unwrap();
        let kept = image::alike(&Local, path, &head.image, &head.digests).unwrap();
        assert!(!kept.is_there && kept.name == head.image);
        let whole = archive(&head, "", b"", tar::EntryType::Regular);
        let refused = head.unpack(&Local, path, &whole[..], &home, &kept, &|| false).unwrap_err().to_string();
        assert!(refused.contains("disk.qcow2 is not what it was"), "{refused}");
        assert!(!work.path().join("images").exists());
    }

    #[test]
    fn a_first_line_that_is_not_as_it_is_written_is_refused() {
        let written = serde_json::to_value(head()).unwrap();
        let read = |value: &serde_json::Value| {
            let mut line = format!("{value}\n").into_bytes();
            line.extend(b"rest");
            arriving(&mut &line[..]).map(|arriving| arriving.name().to_owned()).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(read(&written), Ok("guest".into()));
        let two = format!("{DIGEST}  kernel\n{DIGEST}  ../kernel\n");
        let four = format!("{}{DIGEST} */etc/passwd\n", head().digests);
        for (key, value) in [
            ("stend_guest", 2.into()),
            ("name", "../guest".into()),
            ("image", "../x".into()),
            ("image", ".".into()),
            ("network", "0123".into()),
            ("network", "../../..".into()),
            ("digests", two.into()),
            ("digests", four.into()),
            ("bytes", (-1).into()),
            ("more", 1.into()),
        ] {
            let mut other = written.clone();
            other[key] = value;
            let said = read(&other).unwrap_err();
            assert!(said.contains("cannot be received") && said.lines().count() == 1, "{key}: {said}");
        }
        for (key, value) in
            [("machine", "q35,x=y".into()), ("cpus", 0.into()), ("disks", serde_json::json!([{"from": "/dev/sda"}]))]
        {
            let mut other = written.clone();
            other["vm"][key] = value;
            assert!(read(&other).is_err(), "{key}");
        }
        assert!(arriving(&mut &vec![b'{'; 1 << 20][..]).is_err());
    }
}
