"""Clones of the template: layers and full copies, the time and the space that they take, and that the template stays as it was."""

import os
import time

from guest import Guest
from nodes import run, wait_until
from rows import Postgresql, Rows
from wire import mark

CLONES = {"layers": 20, "full copies": 2}


def clone(bench, how):
    template, shared = bench.cluster.template, bench.cluster.shared
    node, count = bench.cluster.nodes[0], CLONES[how]
    paths = [f"{shared}/clone-{number}.qcow2" for number in range(count)]
    began = mark("operation", f"{count} {how}")
    try:
        for path in paths:
            if how == "layers":
                node.make_layer(path, template)
            else:
                node.does("run", "qemu-img", "convert", "-q", "-O", "qcow2", template, path)
        wall = time.monotonic_ns() - began
        taken = sum(os.stat(path).st_blocks * 512 for path in paths)
        observed = {"took_ns": wall / count, "space_bytes": taken / count}
        if how == "layers":
            observed["ready_ns"] = take_rows(bench, node, paths[0])
        for path in paths[:2]:
            # What is in a layer is compared with what it lies on, and there is nothing of its own in the second one.
            if how != "layers" or path != paths[0]:
                run(["qemu-img", "compare", "-U", template, path])
    finally:
        for path in paths:
            if os.path.exists(path):
                os.remove(path)
    wrong = []
    # What it was when it was made.
    listed = open(f"{bench.cluster.image}/sha256", encoding="utf-8").read()
    if run(["sha256sum", template]).split()[0] not in listed:
        wrong.append("the template is not what it was")
    bench.emit_repeat(began, wall, {"operations": count}, observed, wrong, "the clones are alike, and the template has the SHA-256 that it was made with")


def take_rows(bench, node, disk):
    """How long it takes a guest on a clone to acknowledge rows, which are written to the clone."""
    guest = Guest(bench.cluster, "first-clone", 111)
    guest.remove()
    began = mark("phase", "one of them starts")
    try:
        os.replace(disk, guest.disk)
        guest.write_seed()
        guest.define(node)
        guest.start(node)
        rows = Rows(Postgresql, guest.address, bench.rate, check=guest.check)
        rows.prepare()
        rows.start()
        wait_until("rows are acknowledged", lambda: len(rows.acknowledged) >= 20)
        rows.stop()
        return mark("phase", "it has taken rows") - began
    finally:
        guest.remove()


OPERATIONS = {f"clones: {how}": lambda bench, how=how: clone(bench, how) for how in CLONES}
