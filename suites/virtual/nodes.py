"""The nodes of a cluster, by virsh and by the cluster's own script."""

import os
import subprocess
import time


# What takes longer has failed, in seconds: not what a slow machine takes, but what nobody would wait for.
LONGEST = 600


class NodeError(Exception):
    """A node did not do what it was asked."""


def run(words, timeout=LONGEST, given=None):
    """What a program prints."""
    try:
        done = subprocess.run(words, input=given, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise NodeError(f"{words[0]} has not ended after {timeout:g} s: {' '.join(words[1:])}") from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit status {done.returncode}"
        raise NodeError(f"{' '.join(words[:6])}: {said[-500:]}")
    return done.stdout


def wait_until(what, is_so, pause=0.1):
    """Waits until something is so, and gives what it is then."""
    until = time.monotonic() + LONGEST
    while not (found := is_so()):
        if time.monotonic() > until:
            raise NodeError(f"{what}: not after {LONGEST:g} s")
        time.sleep(pause)
    return found


class Node:
    def __init__(self, script, name, uri):
        self.script, self.name, self.uri = script, name, uri

    def virsh(self, *words, timeout=LONGEST):
        return run(["virsh", "--quiet", "--connect", self.uri, *words], timeout)

    def answers(self, timeout=60):
        try:
            self.virsh("list", "--name", timeout=timeout)
        except NodeError:
            return False
        return True

    def state(self, guest):
        """As virsh says it: `running`, `shut off`; `None` where the node has no guest of this name."""
        try:
            return self.virsh("domstate", guest).strip()
        except NodeError as error:
            if "failed to get domain" in str(error) or "no domain" in str(error).lower():
                return None
            raise

    def drop(self, guest):
        """Ends a guest, whatever it does, and forgets it."""
        if self.state(guest) != "shut off":
            self.virsh("destroy", guest)
        self.virsh("undefine", guest, "--snapshots-metadata")

    def make_layer(self, path, under):
        """Makes a disk that has what another one has, and keeps what is written to it."""
        self.does("run", "qemu-img", "create", "-q", "-f", "qcow2", "-b", under, "-F", "qcow2", path)

    def does(self, verb, *words):
        """What the cluster's script does with it: `power-off`, `power-on`, `cut`, `join`, `run`."""
        return run(["sh", self.script, verb, self.name, *words])


class Cluster:
    def __init__(self, directory, image, accelerator):
        self.directory, self.image, self.accelerator = directory, image, accelerator
        self.shared, self.template = f"{directory}/shared", f"{image}/disk.qcow2"
        script = f"{directory}/nodes.sh"
        self.nodes = [Node(script, *line.split()) for line in run(["sh", script, "list"]).splitlines()]
        if len(self.nodes) < 2:
            raise NodeError(f"there are two nodes needed, and {len(self.nodes)} there")

    def other(self, node):
        return next(other for other in self.nodes if other is not node)

    def mend(self):
        """Sees to it that all nodes are on and joined, which a repeat that failed may have left otherwise."""
        for node in self.nodes:
            node.does("join")
            node.does("power-on")
            wait_until(f"{node.name} answers", node.answers)

    def clear(self):
        """Takes all guests away from all nodes, with their disks, whatever state they are in."""
        for node in self.nodes:
            for guest in node.virsh("list", "--all", "--name").split():
                node.drop(guest)
            node.does("run", "sh", "-c", "rm -f /var/lib/libvirt/images/*.qcow2")
        for name in os.listdir(self.shared):
            os.remove(f"{self.shared}/{name}")

    def where_runs(self, guest):
        """The nodes on which a guest runs."""
        return [node for node in self.nodes if node.answers() and node.state(guest) == "running"]
