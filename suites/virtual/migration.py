"""Live migration, to the other node and back."""

import re
import time

from wire import mark


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
                to.does("run", "qemu-img", "create", "-q", "-f", "qcow2", "-b", f"{bench.cluster.image}/disk.qcow2", "-F", "qcow2", bench.guest.disk)
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
    "live migration, disk copied": lambda bench: migrate(bench, "local"),
}
