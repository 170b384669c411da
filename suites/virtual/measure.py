"""Does something to a guest whose database is loaded, and reports as stend's instruments do."""

import argparse
import contextlib
import sys
import time

import death
import migration
from guest import BOOT, Guest
from nodes import Cluster, NodeError
from rows import Postgresql, Rows, all_rows
from wire import emit

OPERATIONS = {**migration.OPERATIONS, **death.OPERATIONS}


def seconds(text):
    value, unit = (text[:-2], 0.001) if text.endswith("ms") else (text.removesuffix("s"), 1)
    return float(value) * unit


class Bench:
    """What all operations have: the nodes, a guest with a database, and its load."""

    def __init__(self, arguments):
        self.settle, self.rate = arguments.settle, arguments.rate
        self.cluster = Cluster(arguments.directory, arguments.image, arguments.accelerator)
        self.guest = self.rows = None

    def stand(self, storage="shared"):
        """Sees to it that all nodes are there and the guest runs on one, and gives that."""
        name = f"db-{storage}"
        self.guest = Guest(self.cluster, name, {"shared": 100, "local": 101}[storage], storage=storage)
        self.cluster.mend()
        running = self.cluster.where_runs(name)
        if len(running) != 1 or any(node.state(name) for node in self.cluster.nodes if node is not running[0]):
            # There is none yet, or an earlier repeat has failed.
            self.guest.remove()
            running = self.cluster.nodes[:1]
            self.guest.make(running[0])
            self.guest.start(running[0])
        return running[0]

    @contextlib.contextmanager
    def loaded(self):
        """Loads the database from a little before what is done to a little after it."""
        self.rows = Rows(Postgresql, self.guest.address, self.rate)
        self.rows.prepare(BOOT)
        self.rows.start()
        try:
            self.rows.wait_for_more(0, 60)
            time.sleep(self.settle)
            yield self.rows
            time.sleep(self.settle)
        finally:
            self.rows.is_over.set()
        self.rows.stop()
        self.rows.emit_series()

    def report(self, began, wall, operations, observed, wrong=()):
        """Compares the rows that are there with those that were acknowledged, and reports. `wrong`: what else is."""
        found = all_rows(Postgresql, self.guest.address, self.rows.table)
        lost, complaint = self.rows.judge(found)
        wrong = [*wrong, *([complaint] if complaint else [])]
        acknowledged = len(self.rows.acknowledged)
        emit(
            "repeat",
            t_ns=began,
            wall_ns=wall,
            work={"operations": operations, "rows": acknowledged},
            observed={
                "lost_rows": lost,
                "connections": self.rows.connections,
                "latency_p50_ns": self.rows.percentile_ns(0.5),
                "latency_p99_ns": self.rows.percentile_ns(0.99),
                **observed,
            },
            latencies=self.rows.latencies(),
            check="failed" if wrong else "passed",
            evidence="; ".join(wrong) if wrong else f"all {acknowledged} acknowledged rows are there as they were sent",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operation", choices=OPERATIONS, required=True)
    parser.add_argument("--directory", required=True, help="the cluster's own")
    parser.add_argument("--image", required=True, help="the directory of the guests' image")
    parser.add_argument("--accelerator", choices=["kvm", "tcg"], required=True)
    parser.add_argument("--rate", type=float, required=True, help="rows a second")
    parser.add_argument("--settle", type=seconds, required=True, help="how long the load runs before and after: 5s")
    arguments = parser.parse_args()
    try:
        bench = Bench(arguments)
        versions = dict(line.split(": ", 1) for line in bench.cluster.nodes[0].virsh("version").splitlines() if ": " in line)
        build = {"libvirt": versions.get("Using library", ""), "qemu": versions.get("Running hypervisor", "")}
        if arguments.accelerator == "tcg":
            build["emulator"] = "qemu-system"
        emit(
            "begin",
            wire=1,
            t_ns=time.monotonic_ns(),
            instrument=f"virtual {arguments.operation}",
            version=versions.get("Running hypervisor", ""),
            build=build,
            parameters={"operation": arguments.operation, "rate": arguments.rate, "settle_s": arguments.settle},
        )
        OPERATIONS[arguments.operation](bench)
        emit("end", repeats=1)
    except (NodeError, OSError) as error:
        sys.exit(f"virtual: {' '.join(str(error).split())}")


main()
