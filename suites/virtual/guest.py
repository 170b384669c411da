"""Guests: Debian with databases, on a layer of the image, as libvirt defines them."""

import base64
import io
import json
import os
import re
import tarfile
import time
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape, quoteattr

from nodes import LONGEST, NodeError, wait_until

# What hosts the nodes is the last of the network.
NETWORK = "10.99.0"
# What no guest here takes, and each second of which an emulator makes several.
MASKED = """
ssh.service e2scrub_reap.service systemd-logind.service systemd-update-utmp.service systemd-binfmt.service
sys-kernel-debug.mount sys-kernel-tracing.mount dev-hugepages.mount dev-mqueue.mount
""".split()
# What a kernel prints that does nothing more.
OVER = re.compile(r"Kernel panic|soft lockup - .* stuck for ([3-9]\d\d|\d{4,})s")
# `no_timer_check`: the timers of an emulator come late on a busy host, and a kernel that checks them panics then. Under KVM Linux leaves that out.
XML = """
<domain type="{type}">
  <name>{name}</name>
  <memory unit="MiB">{memory}</memory>
  <vcpu>{cpus}</vcpu>
  <os>
    <type arch="x86_64" machine="q35">hvm</type>
    <kernel>{image}/kernel</kernel>
    <initrd>{image}/initrd</initrd>
    <cmdline>root=/dev/vda rw console=ttyS0 no_timer_check panic=-1 systemd.hostname={name} quiet systemd.show_status=false {masked}</cmdline>
  </os>
  <features><acpi/></features>
  {cpu}
  <on_crash>destroy</on_crash>
  <on_reboot>destroy</on_reboot>
  <devices>
    {root_ports}
    {system}
      <driver name="qemu" type="qcow2" cache="none"/>
      <target dev="vda" bus="virtio"/>
      <serial>stend-system</serial>
    </disk>
    <disk type="file" device="disk">
      <driver name="qemu" type="raw"/>
      <source file="{seed}"/>
      <target dev="vdb" bus="virtio"/>
      <readonly/>
      <serial>stend-seed</serial>
    </disk>
    <interface type="bridge">
      <mac address="{mac}"/>
      <source bridge="br0"/>
      <model type="virtio"/>
      <rom enabled="no"/>
    </interface>
    <serial type="file"><source path="{console}"/></serial>
    <channel type="unix"><target type="virtio" name="org.qemu.guest_agent.0"/></channel>
    <rng model="virtio"><backend model="random">/dev/urandom</backend></rng>
    <graphics type="vnc" autoport="yes"/>
    <video><model type="vga"/></video>
  </devices>
</domain>
"""


def opening(disk):
    """The beginning of a disk's description: where it is, a file, a block device, or an export of NBD or NFS."""
    if disk.startswith("nbd+unix:"):
        uri = urlsplit(disk)
        (socket,) = parse_qs(uri.query)["socket"]
        host = f'<host transport="unix" socket={quoteattr(socket)}/>'
        return f'<disk type="network" device="disk"><source protocol="nbd" name={quoteattr(uri.path[1:])}>{host}</source>'
    if disk.startswith("nfs:"):
        uri = urlsplit(disk)
        host = f'<host name={quoteattr(uri.hostname)}/><identity user="root" group="root"/>'
        return f'<disk type="network" device="disk"><source protocol="nfs" name={quoteattr(uri.path)}>{host}</source>'
    kind, attribute = ("block", "dev") if disk.startswith("/dev/") else ("file", "file")
    return f'<disk type="{kind}" device="disk"><source {attribute}={quoteattr(disk)}/>'


class Guest:
    """A guest of this name, whose address ends in `number`. Its disk lies in the `shared` storage, which QEMU reaches as files or
    by `nfs`, in its node's own (`local`), or on a LUN."""

    def __init__(self, cluster, name, number, memory=1024, cpus=2, storage="shared"):
        self.cluster, self.name, self.memory, self.cpus, self.storage = cluster, name, memory, cpus, storage
        self.address, self.mac = f"{NETWORK}.{number}", f"52:54:00:99:00:{number:02x}"
        self.seed, self.console = f"{cluster.shared}/{name}.tar", f"{cluster.shared}/{name}.console"
        folders = {"shared": cluster.shared, "nfs": f"nfs://{NETWORK}.254{cluster.shared}", "local": "/var/lib/libvirt/images"}
        folder = folders.get(storage)
        self.disk = f"{folder}/{name}.qcow2" if folder else storage

    def xml(self):
        is_kvm = self.cluster.accelerator == "kvm"
        return XML.format(
            type="kvm" if is_kvm else "qemu",
            cpu='<cpu mode="host-model"/>' if is_kvm else '<cpu mode="custom"><model>qemu64</model></cpu>',
            root_ports='<controller type="pci" index="0" model="pcie-root"/>' + '<controller type="pci" model="pcie-root-port"/>' * 12,
            image=escape(self.cluster.image),
            system=opening(self.disk),
            masked=" ".join(f"systemd.mask={unit}" for unit in MASKED),
            **{key: escape(str(value)) for key, value in vars(self).items() if key != "cluster"},
        )

    def write_seed(self):
        network = f"[Match]\nMACAddress={self.mac}\n\n[Network]\nAddress={self.address}/24\nIPv6AcceptRA=no\n".encode()
        with tarfile.open(self.seed, "w") as archive:
            entry = tarfile.TarInfo("etc/systemd/network/70-stend.network")
            entry.size, entry.mode = len(network), 0o644
            archive.addfile(entry, io.BytesIO(network))

    def make(self, node, backing=None):
        """Makes its disk, a layer on the image or on another file, and defines it on a node."""
        self.write_seed()
        node.make_layer(self.disk, backing or self.cluster.template)
        self.define(node)

    def define(self, node, xml=None):
        path = f"{self.cluster.shared}/{self.name}.xml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(xml or self.xml())
        node.virsh("define", path)

    def start(self, node):
        node.virsh("start", self.name)

    def migrate(self, node, to, *options):
        if self.cluster.accelerator == "tcg":
            # QEMU's emulator may lose what a guest writes while its memory is sent for the second time. On a machine so slow that it comes to
            # that, the guest is suspended before.
            options = [*options, "--timeout", "2" if self.storage == "local" else "1"]
        node.virsh("migrate", "--live", "--unsafe", "--persistent", "--undefinesource", *options, self.name, to.uri)

    def elsewhere(self, node):
        """What is wrong if it does not run on this node, and on no other."""
        running = self.cluster.where_runs(self.name)
        names = " and ".join(one.name for one in running) or "no node"
        return [] if running == [node] else [f"{self.name} runs on {names}, not on {node.name}"]

    def remove(self):
        """Takes it away from all nodes, with its disks."""
        for node in self.cluster.nodes:
            if node.answers() and node.state(self.name) is not None:
                node.drop(self.name)
            if self.storage == "local":
                node.does("run", "rm", "-f", self.disk)
        for path in (f"{self.cluster.shared}/{self.name}.qcow2", self.seed, self.console, f"{self.cluster.shared}/{self.name}.xml"):
            if os.path.exists(path):
                os.remove(path)

    def agent(self, node, command, timeout=60, **arguments):
        """What the guest agent answers."""
        asked = json.dumps({"execute": command, **({"arguments": arguments} if arguments else {})})
        said = node.virsh("qemu-agent-command", "--timeout", str(int(timeout)), self.name, asked, timeout=timeout + 5)
        return json.loads(said)["return"]

    def execute(self, node, *words):
        """What a program in the guest prints."""
        started = self.agent(node, "guest-exec", path=words[0], arg=list(words[1:]), **{"capture-output": True})
        until = time.monotonic() + LONGEST
        while not (state := self.agent(node, "guest-exec-status", pid=started["pid"]))["exited"]:
            if time.monotonic() > until:
                raise NodeError(f"{words[0]} in {self.name} has not ended after {LONGEST:g} s")
            time.sleep(0.1)
        text = {key: base64.b64decode(state.get(key, "")).decode(errors="replace") for key in ("out-data", "err-data")}
        if state.get("exitcode") != 0:
            raise NodeError(f"{words[0]} in {self.name}: {(text['err-data'] or text['out-data']).strip()[-200:]}")
        return text["out-data"]

    def burn(self, node, count):
        """Keeps so many of its processors busy, or none any more."""
        start = f"for i in $(seq {count}); do sh -c 'while :; do :; done' stend-burns >/dev/null 2>&1 & done"
        self.execute(node, "sh", "-c", start if count else "pkill -f stend-burn[s] || true")

    def has_agent(self, node, seconds):
        """Whether its agent answers within so many seconds."""
        try:
            return self.agent(node, "guest-ping", timeout=seconds) == {}
        except NodeError:
            return False

    def wait_for_agent(self, node):
        def answers():
            if self.has_agent(node, 10):
                return True
            if node.state(self.name) != "running":
                raise NodeError(f"{self.name} does not run on {node.name} any more: {self.last_words()}")
            return False

        wait_until(f"the guest agent of {self.name} answers", answers, pause=0.5)

    def screens(self):
        """What it shows, as a PNG, by where that is."""
        path, screens = f"{self.cluster.shared}/{self.name}.png", {}
        for node in self.cluster.where_runs(self.name):
            asked = {"execute": "screendump", "arguments": {"filename": path, "format": "png"}}
            try:
                node.virsh("qemu-monitor-command", self.name, json.dumps(asked))
            except NodeError:
                # QEMU before 7.1 writes no PNG.
                continue
            with open(path, "rb") as file:
                picture = base64.b64encode(file.read()).decode()
            os.remove(path)
            address, display = node.virsh("vncdisplay", self.name).strip().rsplit(":", 1)
            screens[f"{self.name} on {node.name}, VNC {address}:{5900 + int(display)}"] = picture
        return screens

    def check(self):
        """Raises an error if its kernel has given up, or hangs for five minutes: nothing is to be expected of it then."""
        over = next((line for line in self.printed() if OVER.search(line)), None)
        if over:
            raise NodeError(f"{self.name}: {over}")

    def last_words(self):
        return next((line for line in reversed(self.printed()) if line), "it has printed nothing")

    def printed(self):
        """The last lines that it has printed."""
        try:
            with open(self.console, "rb") as file:
                return [line.strip() for line in file.read()[-4000:].decode(errors="replace").splitlines()]
        except OSError:
            return []
