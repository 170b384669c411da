//! The kernel's command line, without what names this machine.

/// Removes what names a machine, its disks, its addresses or its owner, and what goes to the first process instead of the
/// kernel. What stays is what changes the kernel's behaviour.
pub(super) fn anonymous(command_line: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    for word in words(command_line) {
        // All that follows is for init.
        if word == "--" {
            break;
        }
        let (key, value) = word.split_once('=').map_or((word, None), |(key, value)| (key, Some(value)));
        if NAMES_A_MACHINE.contains(&key) || NAMES_A_MACHINE_BEFORE.iter().any(|prefix| key.starts_with(prefix)) {
            continue;
        }
        match value {
            Some(value) if identifies(value) => kept.push(format!("{key}=…")),
            None if identifies(key) => {}
            _ => kept.push(word.to_owned()),
        }
    }
    kept.join(" ")
}

const NAMES_A_MACHINE: [&str; 17] = [
    "root",
    "rootflags",
    "rootfstype",
    "resume",
    "resume_offset",
    "ip",
    "nfsroot",
    "nfsaddrs",
    "BOOT_IMAGE",
    "BOOTIF",
    "initrd",
    "hostname",
    "ifname",
    "cryptdevice",
    "cryptkey",
    "netroot",
    "url",
];
const NAMES_A_MACHINE_BEFORE: [&str; 9] =
    ["rd.luks", "rd.lvm", "rd.md", "luks", "systemd.machine_id", "systemd.hostname", "androidboot.", "inst.", "ds"];

/// Splits at spaces outside double quotes, as the kernel does.
fn words(text: &str) -> Vec<&str> {
    let mut quoted = false;
    let words = text.split(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether a value looks like a UUID, a MAC or an IP address, a long number, or a name with a host in it.
fn identifies(value: &str) -> bool {
    let mut parts = value.split(|c: char| !(c.is_ascii_alphanumeric() || "-:.@".contains(c)));
    parts.any(|part| {
        let all = |allowed: &str| part.chars().all(|c| c.is_ascii_hexdigit() || allowed.contains(c));
        let pieces = |separator: char| part.split(separator).filter(|piece| !piece.is_empty()).count();
        let digits = part.chars().filter(char::is_ascii_hexdigit).count();
        let ipv4 = part.split(':').next().is_some_and(|address| {
            address.split('.').count() == 4 && address.split('.').all(|piece| piece.parse::<u8>().is_ok())
        });
        ipv4 || (all("-") && digits >= 16 && !part.starts_with("0x"))
            || (all(":") && pieces(':') >= 6)
            || part.contains('@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_the_machine_is_removed() {
        let line = "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.4 root=UUID=0a1b2c3d-0000-1111-2222-333344445555 ro quiet mitigations=off \
                    ip=10.0.0.2::10.0.0.1 isolcpus=2-7 nohz_full=2-7 console=ttyS0,115200 log=192.168.1.4:514 \
                    dyndbg=\"file a.c +p\" net.mac=02:00:00:aa:bb:cc memmap=4G!12G crashkernel=1G-:0M \
                    rd.luks.uuid=luks-1 key=0123456789abcdef0123 to=me@host -- --secret=1";
        assert_eq!(
            anonymous(line),
            "ro quiet mitigations=off isolcpus=2-7 nohz_full=2-7 console=ttyS0,115200 log=… dyndbg=\"file a.c +p\" net.mac=… \
             memmap=4G!12G crashkernel=1G-:0M key=… to=…"
        );
    }
}
