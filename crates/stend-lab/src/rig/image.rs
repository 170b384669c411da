//! Images: made of a distribution's packages by mmdebstrap, once, and kept by the digest of what they are made of. Guests lie on them in layers
//! and do not change them.
//!
//! One that is made is moved to its place whole, so an image is there or it is not.

use std::path::Path;

use stend_model::identity::{digest_of, short};
use stend_model::image::Image;
use stend_stand::host::{Command, Host, HostError};

use super::ability::Need;
use super::servers::{OfServer, Step, Written};
use super::thing::Thing;
use super::{Obstacle, Refusal};

/// The directory of the images, in the one for runs' files.
const DIRECTORY: &str = "images";
/// What making one takes, beside what a guest takes, each with the Debian package that has it.
pub(super) const NEED: Need = Need {
    programs: &[
        ("mmdebstrap", "mmdebstrap"),
        ("mke2fs", "e2fsprogs"),
        ("unshare", "util-linux"),
        ("flock", "util-linux"),
    ],
    kernel: &[],
};
/// What an image's disk is called.
pub(super) const DISK: &str = "disk.qcow2";
/// The files of an image, but for their digests.
pub(super) const FILES: [&str; 4] = [DISK, "kernel", "initrd", "packages"];
/// Those that have a digest, by their names.
pub(super) const CHECKED: [&str; 3] = [DISK, "initrd", "kernel"];
/// The file of the digests, as `sha256sum` writes them.
pub(super) const DIGESTS: &str = "sha256";
/// The disk by which a guest gets what it is to have at its first boot: an archive that is unpacked over its root.
pub(super) const SEED: &str = "stend-seed";

const SEED_UNIT: &str = "\
[Unit]
Description=Unpack what stend gives to this guest
DefaultDependencies=no
Requires=dev-disk-by\\x2did-virtio\\x2dstend\\x2dseed.device
After=dev-disk-by\\x2did-virtio\\x2dstend\\x2dseed.device local-fs.target
Before=sysinit.target systemd-networkd.service

[Service]
Type=oneshot
ExecStart=/usr/bin/tar -x -p -f /dev/disk/by-id/virtio-stend-seed -C /

[Install]
WantedBy=sysinit.target
";
/// The serial port by which ssh reaches a guest that has no network.
pub(super) const SSH_PORT: &str = "stend.ssh";
/// One connection after the other: while nobody is connected, the port is at its end at once.
const SSH_UNIT: &str = "\
[Unit]
Description=ssh by a serial port
BindsTo=dev-virtio\\x2dports-stend.ssh.device
After=dev-virtio\\x2dports-stend.ssh.device stend-seed.service
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/sbin/sshd -i
StandardInput=file:/dev/virtio-ports/stend.ssh
StandardOutput=file:/dev/virtio-ports/stend.ssh
StandardError=journal
RuntimeDirectory=sshd
RuntimeDirectoryPreserve=yes
KillMode=process
Restart=always
RestartSec=1

[Install]
WantedBy=dev-virtio\\x2dports-stend.ssh.device
";
const NETWORK: &str = "[Match]\nType=ether\n\n[Network]\nDHCP=yes\n";
/// A guest that is emulated on a busy machine may take minutes for what systemd gives up after 90 seconds: then it would boot without its network.
const TIMES: &str = "[Manager]\nDefaultTimeoutStartSec=30min\nDefaultDeviceTimeoutSec=30min\n";
/// Mounts that are made are gone when it ends, however it ends. A user is root in a namespace, whose other numbers are the user's in /etc/subuid.
const AS_ROOT: &str = r#"
[ "$(id -u)" -ne 0 ] || exec unshare --mount --propagation private "$@"
exec unshare --map-root-user --map-auto --pid --fork --kill-child --mount --propagation private "$@"
"#;
const MAKE: &str = r#"
set -eu
release=$1 architecture=$2 packages=$3 size=$4 kept=$5 mirror=$6
shift 6
umask 022
# The kernel's package would make an initrd, and what makes it for that package another: one is enough, when all is there.
export TMPDIR="$PWD" DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 INITRD=No
mkdir image
mmdebstrap --quiet --mode=root --variant=minbase --format=null --architectures="$architecture" --include="$packages" \
    --extract-hook='sh leave-out.sh "$1"' --customize-hook="sh fill-disk.sh \"\$1\" $size $*" "$release" - ${mirror:+"$mirror"} >/dev/null
qemu-img convert -O qcow2 disk.raw image/disk.qcow2
rm disk.raw
(cd image && sha256sum disk.qcow2 kernel initrd >sha256)
chmod a-w image/*
mkdir -p "${kept%/*}"
mv -T image "$kept"
"#;
/// Leaves documents out as soon as dpkg has been unpacked. For --dpkgopt=path-exclude=… mmdebstrap runs a Python program for each essential package.
const LEAVE_OUT: &str = r#"
set -eu
cd "$1"
for documents in doc man locale; do
    rm -rf usr/share/$documents/*
    echo "path-exclude=/usr/share/$documents/*"
done >etc/dpkg/dpkg.cfg.d/stend
"#;
const FILL_DISK: &str = r#"
set -eu
root=$1 size=$2
shift 2
cp -r --no-preserve=ownership files/. "$root/"
chroot "$root" systemctl --quiet enable stend-seed.service stend-ssh.service systemd-networkd.service
[ $# -eq 0 ] || chroot "$root" systemctl --quiet disable "$@"
kernel=$(printf '%s\n' "$root"/boot/vmlinu[xz]-* | sort -V | tail -n 1)
kernel=${kernel##*/}
version=${kernel#*-}
chroot "$root" env -u INITRD run-parts --arg="$version" --arg="/boot/$kernel" /etc/kernel/postinst.d
cp "$root/boot/$kernel" image/kernel
cp "$root/boot/initrd.img-$version" image/initrd
chroot "$root" dpkg-query -W >image/packages
rm -rf "$root"/boot/* "$root"/etc/ssh/ssh_host_* "$root"/var/lib/dbus/machine-id "$root"/var/cache/apt/*.bin "$root"/var/lib/apt/lists/*
: >"$root/etc/machine-id"
# Without what is mounted in it.
mkdir root
mount --bind "$root" root
mke2fs -q -t ext4 -d root disk.raw "$size"
umount root
"#;
/// openssl uses the processor's own instructions, which Debian's sha256sum does not: it takes a quarter of the time.
const FIND_CHANGED: &str = r#"
cd "$1" || exit
last=
while read -r digest file || [ -n "$digest" ]; do
    now=$(openssl dgst -sha256 -r "$file" 2>/dev/null || sha256sum "$file" 2>/dev/null)
    [ "${now%% *}" = "$digest" ] || { echo "$file"; exit; }
    last=$file
done <sha256
[ -n "$last" ] || echo sha256
"#;

/// Where an image is kept, or would be.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) directory: String,
    pub(super) is_there: bool,
}

impl Kept {
    /// So much space it and a guest on it may take. While an image is made it is there as it is and packed.
    pub(super) fn takes(&self, image: &Image) -> u64 {
        if self.is_there { image.size.0 } else { image.size.0.saturating_mul(2) }
    }
}

/// The directory of an image by its name.
pub(super) fn directory(work: &str, name: &str) -> String {
    format!("{work}/{DIRECTORY}/{name}")
}

/// The name under which an image is kept.
fn name_of(name: &str, image: &Image) -> String {
    let plain =
        stend_model::server::plain_name(name).chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c));
    format!("{}-{}", plain.collect::<String>(), short(&key(image)))
}

/// Whether an image has been made.
pub(super) fn is_made(host: &dyn Host, work: &str, name: &str, image: &Image) -> bool {
    super::listed(host, &directory(work, &name_of(name, image))).is_ok_and(|files| files.is_some())
}

/// Looks whether an image has been made, and is as it was made.
///
/// # Errors
/// It was changed since then, or making it takes root, and the user can be that in no namespace.
pub(super) fn kept(host: &dyn Host, work: &str, name: &str, image: &Image) -> Result<Kept, Refusal> {
    let name = name_of(name, image);
    let directory = directory(work, &name);
    let is_there = super::listed(host, &directory)?.is_some();
    if is_there {
        check(host, work, &name)?;
    } else {
        let trial = host.run(&Command::new(["sh", "-c", AS_ROOT, "sh", "true"]))?;
        if trial.exit != Some(0) {
            return Err(Obstacle::ImageNotRoot { said: (&trial).into() }.into());
        }
    }
    Ok(Kept { name, directory, is_there })
}

/// The names of the images that are kept.
///
/// # Errors
/// They cannot be listed.
pub fn names(host: &dyn Host, work: &str) -> Result<Vec<String>, HostError> {
    Ok(super::listed(host, &format!("{work}/{DIRECTORY}"))?.unwrap_or_default())
}

/// Removes an image, and the directory of all with the last one.
///
/// # Errors
/// It cannot be removed.
pub fn remove(host: &dyn Host, work: &str, name: &str) -> Result<(), HostError> {
    host.remove(&directory(work, name))?;
    host.run(&Command::new(["rmdir", "--ignore-fail-on-non-empty", &format!("{work}/{DIRECTORY}")])).map(drop)
}

/// Where an image from elsewhere is kept, or would be: the same one may be there under another name, and another one under the same name.
///
/// # Errors
/// The images cannot be listed, or the one that is there has been changed.
pub(super) fn alike(host: &dyn Host, work: &str, name: &str, digests: &str) -> Result<Kept, Refusal> {
    let names = names(host, work)?;
    let has = |name: &&String| {
        host.read_text(&format!("{}/{DIGESTS}", directory(work, name))).is_ok_and(|its| its == digests)
    };
    let there = names.iter().find(has);
    if let Some(name) = there {
        check(host, work, name)?;
    }
    let is_taken = names.iter().any(|other| other == name);
    let other = || format!("{name}-{}", short(&digest_of(digests.as_bytes())));
    let name = there.cloned().unwrap_or_else(|| if is_taken { other() } else { name.to_owned() });
    Ok(Kept { directory: directory(work, &name), name, is_there: there.is_some() })
}

/// Gives an image from elsewhere its place, or removes it if it is there already.
///
/// # Errors
/// Its files do not have their digests, or it cannot be moved.
pub(super) fn keep(host: &dyn Host, work: &str, from: &Path, kept: &Kept) -> Result<(), Refusal> {
    if kept.is_there {
        return Ok(host.remove(&from.to_string_lossy())?);
    }
    check_at(host, &from.to_string_lossy())?;
    host.make_directory(&format!("{work}/{DIRECTORY}"))?;
    let moved = host.run(&Command::new(["mv", "-T", &from.to_string_lossy(), &kept.directory]))?;
    match moved.exit {
        Some(0) => Ok(()),
        _ => {
            Err(Obstacle::NotReceived { said: super::Said::from(&moved).line().unwrap_or_default().to_owned() }.into())
        }
    }
}

/// Checks an image's digests against those that it had when it was made.
///
/// # Errors
/// One differs, or the machine cannot be asked.
pub fn check(host: &dyn Host, work: &str, name: &str) -> Result<(), Refusal> {
    check_at(host, &directory(work, name))
}

fn check_at(host: &dyn Host, directory: &str) -> Result<(), Refusal> {
    let command = Command::new(["sh", "-c", FIND_CHANGED, "sh", directory]);
    let output = host.run(&Command { timeout: super::LONGEST_MAKING, ..command })?;
    match output.text().trim() {
        "" => Ok(()),
        file => Err(Obstacle::ImageChanged { path: format!("{directory}/{file}") }.into()),
    }
}

/// The digest of all that decides what an image is.
fn key(image: &Image) -> String {
    let text = serde_json::to_string(image).expect("an image has only texts and numbers");
    digest_of([text.as_str(), MAKE, LEAVE_OUT, FILL_DISK, SEED_UNIT, SSH_UNIT, NETWORK, TIMES].join("\0").as_bytes())
}

/// What makes an image: files in the directory of the guest or server that takes it, and a command. Nothing if the image is there.
pub(super) fn things(image: &Image, kept: &Kept, home: &str) -> Vec<Thing> {
    if kept.is_there {
        return Vec::new();
    }
    let in_guest = [
        ("etc/systemd/system/stend-seed.service", SEED_UNIT),
        ("etc/systemd/system/stend-ssh.service", SSH_UNIT),
        ("etc/systemd/network/80-stend.network", NETWORK),
        ("etc/systemd/system.conf.d/stend.conf", TIMES),
    ];
    let given = image.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let in_guest = in_guest.into_iter().chain(given).map(|(path, text)| (format!("files/{path}"), text.to_owned()));
    let scripts = [("make-image.sh", MAKE), ("leave-out.sh", LEAVE_OUT), ("fill-disk.sh", FILL_DISK)];
    let scripts = scripts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let words = ["sh", "-c", AS_ROOT, "sh", "sh", "make-image.sh", &image.release];
    let words = words.into_iter().chain([image.architecture.of_debian()]).map(str::to_owned);
    let mirror = image.mirror.clone().unwrap_or_default();
    let words =
        words.chain([image.packages.join(","), format!("{}k", image.size.0 >> 10), kept.directory.clone(), mirror]);
    let words = words.chain(image.disable.iter().cloned()).collect();
    let file = |(name, text)| OfServer::ServerFile(Written::new(format!("{home}/{name}"), text));
    let step = OfServer::ServerStep(Step::new(home, words));
    in_guest.chain(scripts).map(file).chain([step]).map(Thing::Server).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use stend_stand::host::Local;

    use super::{CHECKED, DIGESTS, check_at};

    /// Digests may come from elsewhere, as lines with or without an end.
    #[test]
    fn each_file_that_is_not_what_it_was_is_found() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let lines = CHECKED.map(|file| format!("{empty}  {file}")).join("\n");
        for digests in [lines.clone(), format!("{lines}\n")] {
            let image = tempfile::tempdir().unwrap();
            let file = |name: &str| image.path().join(name);
            let check = || check_at(&Local, image.path().to_str().unwrap());
            fs::write(file(DIGESTS), digests).unwrap();
            CHECKED.iter().for_each(|name| fs::write(file(name), "").unwrap());
            check().unwrap();
            for name in CHECKED {
                fs::write(file(name), "another one").unwrap();
                let refusal = format!("{:?}", check().unwrap_err());
                assert!(refusal.contains(&format!("{name}\"")), "{name}: {refusal}");
                fs::write(file(name), "").unwrap();
            }
        }
    }
}
