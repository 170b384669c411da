"""Clones of the template: layers and full copies, the time and the space that they take, and that the template stays as it was."""

import os
import time

from guest import BOOT, Guest
from nodes import run, wait_until
from rows import Postgresql, Rows
from wire import mark

CLONES = {"layers": 20, "full copies": 2}


def clone(bench, how):
    template, shared = f"{bench.cluster.image}/disk.qcow2", bench.cluster.shared
    node, count = bench.cluster.nodes[0], CLONES[how]
    bench.cluster.mend()
    paths = [f"{shared}/clone-{number}.qcow2" for number in range(count)]
    first = Guest(bench.cluster, "first-clone", 111)
    first.remove()
    before = run(["sha256sum", template], timeout=600)
    began = mark("operation", f"{count} {how}")
    try:
        for path in paths:
            words = ["create", "-b", template, "-F", "qcow2"] if how == "layers" else ["convert", template]
            node.does("run", "qemu-img", words[0], "-q", *(["-O"] if words[0] == "convert" else ["-f"]), "qcow2", *words[1:], path, timeout=600)
        wall = time.monotonic_ns() - began
        taken = sum(os.stat(path).st_blocks * 512 for path in paths)
        # One of them is written to.
        mark("phase", "one of them starts")
        os.replace(paths[0], first.disk)
        first.write_seed()
        first.define(node)
        first.start(node)
        rows = Rows(Postgresql, first.address, bench.rate)
        rows.prepare(BOOT)
        rows.start()
        wait_until("rows are acknowledged", lambda: len(rows.acknowledged) >= 20, BOOT)
        rows.stop()
        ready = mark("phase", "it has taken rows")
    finally:
        first.remove()
        for path in paths[1:]:
            if os.path.exists(path):
                os.remove(path)
    wrong = [] if run(["sha256sum", template], timeout=600) == before else ["the template is not what it was"]
    observed = {"space_bytes": taken / count, "ready_ns": ready - began - wall}
    bench.emit_repeat(began, wall, {"operations": count}, observed, wrong, f"the template has the same SHA-256 as before; 20 rows in a clone")


OPERATIONS = {f"clones: {how}": lambda bench, how=how: clone(bench, how) for how in CLONES}
