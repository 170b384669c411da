"""Limits that are set while a guest runs, and what is reached under them: disk, processors, network."""

import contextlib
import json
import socket
import threading
import time

from guest import NETWORK
from nodes import NodeError
from wire import mark

SECONDS = 3


def limit(bench, what):
    node = bench.stand()
    guest = bench.guest
    guest.wait_for_agent(node)
    set_to, lift, measure, asked = LIMITS[what](node, guest)
    began = mark("operation", f"{what}: {asked:g}")
    try:
        set_to()
        reached, wall, work = measure()
    finally:
        lift()
    mark("recovery", "it is lifted")
    free, _, _ = measure()
    # Without it there is more, or nothing was shown.
    wrong = [] if free > reached else [f"with the limit {reached:g} is reached, without it {free:g}"]
    observed = {"asked": asked, "reached": reached, "reached_share": reached / asked, "unlimited": free}
    bench.emit_repeat(began, int(wall * 1e9), work, observed, wrong, f"{reached:.4g} of {asked:g} are reached, without the limit {free:.4g}")


def disk(node, guest, asked, key, bs, count):
    """Random writes in the guest; `count` gives what of fio's figures is limited: operations or bytes."""

    def measure():
        said = guest.execute(
            node, "fio", "--name=limit", "--filename=/var/tmp/limit", "--size=32m", "--rw=randwrite", f"--bs={bs}", "--iodepth=8",
            "--ioengine=libaio", "--direct=1", "--time_based", "--ramp_time=1", f"--runtime={SECONDS}", "--output-format=json",
        )  # fmt: skip
        done = json.loads(said[said.index("{") :])["jobs"][0]["write"]
        name, amount, a_second = count(done)
        return a_second, done["runtime"] / 1000, {name: amount}

    tune = lambda value: node.virsh("blkdeviotune", guest.name, "vda", key, str(value), "--live")
    return lambda: tune(asked), lambda: tune(0), measure, asked


def iops(node, guest):
    return disk(node, guest, 300, "--total-iops-sec", "4k", lambda done: ("operations", done["total_ios"], done["iops"]))


def throughput(node, guest):
    return disk(node, guest, 8 << 20, "--total-bytes-sec", "64k", lambda done: ("bytes", done["io_bytes"], done["bw_bytes"]))


def processors(node, guest):
    """Of all virtual processors together, in processors."""
    asked = 0.6

    def measure():
        guest.burn(node, guest.cpus)
        try:
            time.sleep(1)
            before, since = used(), time.monotonic()
            time.sleep(SECONDS)
            share, wall = used() - before, time.monotonic() - since
        finally:
            guest.burn(node, 0)
        return share / wall, wall, {"operations": share}

    def used():
        said = node.virsh("domstats", "--vcpu", guest.name).splitlines()
        return sum(int(line.split("=")[1]) for line in said if line.strip().startswith("vcpu.") and ".time=" in line) / 1e9

    tune = lambda quota: node.virsh("schedinfo", guest.name, "--live", "--set", f"vcpu_quota={quota}")
    return lambda: tune(int(asked / guest.cpus * 100_000)), lambda: tune(-1), measure, asked


def network(node, guest):
    """To the guest, in bytes a second, by the queue of its network device on the node."""
    asked = 2 << 20
    devices = [line.split()[0] for line in node.virsh("domiflist", guest.name).splitlines() if guest.mac in line]
    if not devices:
        raise NodeError(f"{guest.name} has no network device on {node.name}")

    def measure():
        with socket.create_server(("", 0)) as server:

            def give():
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):
                    while True:
                        connection.sendall(bytes(1 << 16))

            giver = threading.Thread(target=give, daemon=True)
            giver.start()
            port = server.getsockname()[1]
            take = f"timeout {SECONDS} cat </dev/tcp/{NETWORK}.254/{port} | wc -c"
            received = int(guest.execute(node, "bash", "-c", take))
            giver.join(60)
            return received / SECONDS, SECONDS, {"bytes": received}

    queue = ["run", "tc", "qdisc"]
    of_guest = ["dev", devices[0], "root"]
    set_to = lambda: node.does(*queue, "add", *of_guest, "tbf", "rate", f"{asked * 8}bit", "burst", "64kb", "latency", "50ms")
    return set_to, lambda: node.does(*queue, "del", *of_guest), measure, asked


LIMITS = {"IOPS": iops, "throughput": throughput, "processors": processors, "network": network}
OPERATIONS = {f"limit: {what}": lambda bench, what=what: limit(bench, what) for what in LIMITS}
