"""Live migration, to the other node and back."""

import contextlib
import json
import re
import subprocess
import time

from nodes import NodeError, wait_until
from wire import mark

GANESHA = """
NFS_CORE_PARAM { Protocols = 3; Enable_NLM = false; Enable_RQUOTA = false; }
NFSV4 { Graceless = true; }
EXPORT { Export_Id = 1; Path = %s; Pseudo = /shared; Access_Type = RW; Squash = No_Root_Squash; Transports = TCP; FSAL { Name = VFS; } }
"""


@contextlib.contextmanager
def nfs_server(cluster):
    """Exports what the nodes share, by NFS 3, which is what QEMU asks for."""
    path, log = f"{cluster.directory}/ganesha.conf", f"{cluster.directory}/ganesha.log"
    with open(path, "w", encoding="utf-8") as file:
        file.write(GANESHA % json.dumps(cluster.shared))
    with contextlib.ExitStack() as stack:

        def start(*words):
            # It is to be gone with what measures, however that ends.
            words = ["setpriv", "--pdeathsig", "KILL", *words]
            server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.kill)
            return server

        start("rpcbind", "-f", "-w")
        server = start("ganesha.nfsd", "-F", "-f", path, "-L", log, "-p", f"{cluster.directory}/ganesha.pid")

        def has_export():
            if server.poll() is not None:
                with open(log, encoding="utf-8", errors="replace") as file:
                    raise NodeError(f"ganesha.nfsd has ended: {file.read()[-300:]}")
            asked = ["showmount", "--no-headers", "--exports", "127.0.0.1"]
            return subprocess.run(asked, capture_output=True, check=False).stdout.strip()

        wait_until("ganesha.nfsd has an export", has_export, pause=0.3)
        yield


def migrate_over_nfs(bench):
    with nfs_server(bench.cluster):
        try:
            migrate(bench, "nfs")
        finally:
            # Its disk is gone with the server.
            bench.guest.remove()


def migrate(bench, storage):
    node = bench.stand(storage)
    name = bench.guest.name
    # The layer; what it lies on is on both.
    options = ["--copy-storage-inc"] if storage == "local" else []
    took, gaps, downtimes = [], [], []
    with bench.loaded() as (rows,):
        for number in range(2):
            if number:
                time.sleep(bench.settle)
            to = bench.cluster.other(node)
            if storage == "local":
                to.make_layer(bench.guest.disk, bench.cluster.template)
            begin = mark("operation", f"migration to {to.name}")
            bench.guest.migrate(node, to, *options)
            end = mark("recovery", f"it runs on {to.name}")
            rows.wait_for_more(end)
            took.append(end - begin)
            gaps.append(rows.longest_gap_ns(begin))
            job = to.virsh("domjobinfo", name, "--completed")
            downtimes.append(milliseconds(job, "Total downtime"))
            if storage == "local":
                node.does("run", "rm", "-f", bench.guest.disk)
            node = to
    observed = {"took_ns": sum(took) // len(took), "downtime_ns": max(gaps), "paused_ns": max(downtimes)}
    bench.report(observed, bench.guest.elsewhere(node))


def milliseconds(job, name):
    found = re.search(rf"^{name}:\s+(\d+)\s+ms", job, re.MULTILINE)
    return int(found[1]) * 1_000_000 if found else 0


OPERATIONS = {
    "live migration, shared disk": lambda bench: migrate(bench, "shared"),
    "live migration, disk on NFS": migrate_over_nfs,
    "live migration, disk copied": lambda bench: migrate(bench, "local"),
}
