"""A node dies, or is cut off: what looks after the guests finds out, makes certain that it is off, and starts its guest on the other one."""

import time

from nodes import NodeError, wait_until
from wire import mark

# A node that has not answered so often is dead, asked so often.
MISSES, EVERY = 3, 0.5


def wait_for_death(node):
    misses = 0
    while misses < MISSES:
        began = time.monotonic()
        misses = 0 if node.answers(timeout=1) else misses + 1
        time.sleep(max(0, EVERY - (time.monotonic() - began)))


class SecondStarts:
    """Tries to start a guest that runs elsewhere, which the lock of its image must refuse."""

    def __init__(self):
        self.refused, self.done, self.wrong = 0, 0, []

    def try_on(self, node, guest):
        try:
            guest.start(node)
        except NodeError as error:
            if 'Failed to get "write" lock' in str(error):
                self.refused += 1
            else:
                self.wrong.append(f"a second start on {node.name} failed, but not by the lock: {error}")
            return
        node.virsh("destroy", guest.name)
        self.done += 1
        self.wrong.append(f"it was started a second time, on {node.name}")


def lose(bench, how):
    node = bench.stand()
    guest, other = bench.guest, bench.cluster.other(node)
    xml = node.virsh("dumpxml", "--inactive", guest.name)
    second, wrong = SecondStarts(), []
    with bench.loaded() as (rows,):
        began = mark("fault", f"{node.name} {'dies' if how == 'power-off' else 'is cut off'}")
        node.does(how)
        wait_for_death(node)
        detected = mark("phase", f"{node.name} is dead to the others")
        guest.define(other, xml)
        if how == "cut":
            # It runs on where nobody reaches it.
            second.try_on(other, guest)
        node.does("power-off")
        fenced = mark("phase", f"{node.name} is off for certain")
        guest.start(other)
        started = mark("phase", f"it starts on {other.name}")
        answered = rows.wait_for_more(fenced)
        mark("recovery", f"the first row on {other.name}")
        if how == "cut":
            node.does("join")
        node.does("power-on")
        wait_until(f"{node.name} is back", node.answers)
        mark("phase", f"{node.name} is back")
        # It has the guest as it was.
        if node.state(guest.name) is None:
            wrong.append(f"{node.name} came back without the guest")
        else:
            second.try_on(node, guest)
            node.virsh("undefine", guest.name)
    wrong += guest.elsewhere(other)
    observed = {
        "took_ns": answered - began,
        "detection_ns": detected - began,
        "fencing_ns": fenced - detected,
        "start_ns": answered - started,
        "downtime_ns": rows.longest_gap_ns(began),
        "second_starts_refused": second.refused,
        "second_starts": second.done,
    }
    bench.report(observed, wrong + second.wrong)


OPERATIONS = {
    "a node dies": lambda bench: lose(bench, "power-off"),
    "a node is cut off": lambda bench: lose(bench, "cut"),
}
