"""Does something to a guest whose database is loaded, and reports as stend's instruments do."""

import argparse
import contextlib
import os
import sys
import time

import balance
import clones
import death
import hotplug
import limits
import migration
import snapshot
import storage
from guest import Guest
from nodes import Cluster, NodeError
from rows import Postgresql, Rows, all_rows
from wire import emit

OPERATIONS = {
    name: operation
    for module in (migration, death, snapshot, clones, limits, hotplug, balance, storage)
    for name, operation in module.OPERATIONS.items()
}


def seconds(text):
    value, unit = (text[:-2], 0.001) if text.endswith("ms") else (text.removesuffix("s"), 1)
    return float(value) * unit


class Bench:
    """What all operations have: the nodes, a guest with a database, and its load."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.settle, self.rate, self.runtime, self.lun = arguments.settle, arguments.rate, arguments.runtime, arguments.lun
        Postgresql.SYNCHRONOUS_COMMIT = arguments.synchronous_commit
        self.cluster = Cluster(arguments.directory, arguments.image, arguments.accelerator)
        self.guest = self.rows = None
        # It is there while something is done, and stays where that fails.
        self.unfinished = f"{self.cluster.shared}/unfinished"

    def begin(self):
        """Says what is measured, by what."""
        versions = dict(line.split(": ", 1) for line in self.cluster.nodes[0].virsh("version").splitlines() if ": " in line)
        build = {"libvirt": versions.get("Using library", ""), "qemu": versions.get("Running hypervisor", "")}
        if self.cluster.accelerator == "tcg":
            build["emulator"] = "qemu-system"
        given = self.arguments
        parameters = {
            "operation": given.operation,
            "rate": given.rate,
            "settle_s": given.settle,
            "synchronous_commit": given.synchronous_commit,
        }
        emit(
            "begin",
            wire=1,
            t_ns=time.monotonic_ns(),
            instrument=f"virtual {given.operation}",
            version=build["qemu"],
            build=build,
            parameters=parameters,
        )

    def stand(self, storage="shared"):
        """Sees to it that the guest runs, alone, and gives the node on which it does."""
        guests = {
            of: Guest(self.cluster, f"db-{of}", number, storage=of)
            for of, number in {"shared": 100, "local": 101, "nfs": 103}.items()
        }
        self.guest = guests.pop(storage)
        # Balancing needs a second one beside it.
        others = [*guests.values()] + ([Guest(self.cluster, "second", 112)] if storage != "shared" else [])
        for other in others:
            other.remove()
        running = self.cluster.where_runs(self.guest.name)
        if not running:
            running = self.cluster.nodes[:1]
            self.guest.make(running[0])
            self.guest.start(running[0])
        return running[0]

    def do(self, operation):
        """Does something to nodes and guests that are as they should be."""
        self.cluster.mend()
        if os.path.exists(self.unfinished):
            self.cluster.clear()
        open(self.unfinished, "w", encoding="utf-8").close()
        operation(self)
        os.remove(self.unfinished)

    def start_databases(self, node, databases, guest=None):
        """Starts in a guest what does not start by itself."""
        guest = guest or self.guest
        guest.wait_for_agent(node)
        for database in databases:
            guest.execute(node, "systemctl", "start", database.UNIT)

    @contextlib.contextmanager
    def loaded(self, databases=(Postgresql,)):
        """Loads databases from a little before what is done to a little after it."""
        self.rows = [Rows(database, self.guest.address, self.rate, check=self.guest.check) for database in databases]
        for rows in self.rows:
            rows.prepare()
        for rows in self.rows:
            rows.start()
        try:
            for rows in self.rows:
                rows.wait_for_more(0)
            time.sleep(self.settle)
            yield self.rows
            time.sleep(self.settle)
        finally:
            for rows in self.rows:
                rows.is_over.set()
        for rows in self.rows:
            rows.stop()
        self.rows[0].emit_series()

    def report(self, observed, wrong=(), wanted=None):
        """Compares the rows that are there with those that were acknowledged, or with those of them that are wanted, and reports. `wrong`: what
        else is wrong."""
        wrong, lost = [*wrong], 0
        for rows in self.rows:
            lost_here, complaint = rows.judge(all_rows(rows.database, self.guest.address, rows.table), wanted)
            lost += lost_here
            wrong += [complaint] if complaint else []
        acknowledged = sum(len(rows.acknowledged) for rows in self.rows) if wanted is None else len(wanted)
        first = self.rows[0]
        observed = {
            "lost_rows": lost,
            "connections": first.connections,
            "latency_p50_ns": first.percentile_ns(0.5),
            "latency_p99_ns": first.percentile_ns(0.99),
            **observed,
        }
        evidence = f"all {acknowledged} acknowledged rows are there as they were sent"
        began, ended = first.acknowledged[0][1], first.acknowledged[-1][2]
        self.emit_repeat(began, ended - began, {"operations": acknowledged}, observed, wrong, evidence, first.latencies())

    def emit_repeat(self, began, wall, work, observed, wrong, evidence, latencies=None):
        emit(
            "repeat",
            t_ns=began,
            wall_ns=wall,
            work=work,
            observed=observed,
            latencies=latencies or {},
            check="failed" if wrong else "passed",
            evidence="; ".join(wrong) if wrong else evidence,
            screens=self.guest.screens() if self.guest else {},
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operation", choices=OPERATIONS, required=True)
    parser.add_argument("--directory", required=True, help="the cluster's own")
    parser.add_argument("--image", required=True, help="the directory of the guests' image")
    parser.add_argument("--accelerator", choices=["kvm", "tcg"], required=True)
    parser.add_argument("--rate", type=float, required=True, help="rows a second")
    parser.add_argument("--settle", type=seconds, required=True, help="how long the load runs before and after: 5s")
    parser.add_argument("--synchronous_commit", choices=["on", "off"], required=True, help="of PostgreSQL")
    parser.add_argument("--lun", help="where a disk on a pool is: a path or an NBD URI")
    parser.add_argument("--runtime", type=seconds, default=0, help="how long the load runs on the pool: 20s")
    arguments = parser.parse_args()
    try:
        bench = Bench(arguments)
        if arguments.lun is None:
            bench.begin()
        bench.do(OPERATIONS[arguments.operation])
        emit("end", repeats=1)
    except (NodeError, OSError) as error:
        sys.exit(f"virtual: {' '.join(str(error).split())}")


main()
