"""Snapshots of a guest that runs: its disk with and without frozen file systems, cloned and looked into; one that fails; and one with memory."""

import contextlib
import os
import time

from guest import Guest
from nodes import NodeError, wait_until
from rows import Mariadb, Postgresql, Rows, all_rows
from wire import mark

# An agent that has not answered so long hangs, in seconds.
AGENT = 3


def of_disk(bench, freezes, databases):
    node = bench.stand()
    guest, other = bench.guest, bench.cluster.other(node)
    layer, wrong = f"{bench.cluster.shared}/{guest.name}.layer.qcow2", []
    bench.start_databases(node, databases)
    with bench.loaded(databases) as rows:
        began = mark("operation", "a snapshot")
        take(node, guest, layer, freezes)
        ended = mark("recovery", "it is taken")
        for one in rows:
            one.wait_for_more(ended)
        gap = max(one.longest_gap_ns(began) for one in rows)
        clone = Guest(bench.cluster, "clone", 110)
        clone.remove()
        mark("phase", "the clone starts")
        clone.make(other, backing=guest.disk)
        clone.start(other)
        bench.start_databases(other, databases, clone)
        lost = 0
        for one in rows:
            Rows(one.database, clone.address, 1, "unused", check=clone.check).prepare()
            lost_here, complaint = one.judge(all_rows(one.database, clone.address, one.table), one.rows_until(began))
            lost += lost_here
            wrong += [f"in the clone: {complaint}"] if complaint else []
        mark("phase", "the clone is looked into")
        clone.remove()
        # Not into the template, which lies below.
        node.virsh("blockcommit", guest.name, "vda", "--active", "--pivot", "--shallow", "--wait")
        os.remove(layer)
        mark("phase", "the snapshot is merged")
    bench.report({"took_ns": ended - began, "downtime_ns": gap, "lost_in_clone_rows": lost}, wrong)


def take(node, guest, layer, freezes):
    with frozen(node, guest) if freezes else contextlib.nullcontext():
        node.virsh(
            "snapshot-create-as", guest.name, "s", "--disk-only", "--atomic", "--no-metadata",
            "--diskspec", f"vda,file={layer}", "--diskspec", "vdb,snapshot=no",
        )  # fmt: skip


@contextlib.contextmanager
def frozen(node, guest):
    """Freezes a guest's file systems, and thaws them whatever happens. An agent that did not answer may still freeze them when it goes on, which
    `snapshot-create-as --quiesce` would leave so."""
    try:
        node.virsh("domfsfreeze", guest.name)
        yield
    finally:
        thaw(node, guest)


def thaw(node, guest):
    def is_thawed():
        try:
            guest.agent(node, "guest-fsfreeze-thaw", AGENT)
            return guest.agent(node, "guest-fsfreeze-status", AGENT) == "thawed"
        except NodeError:
            return False

    wait_until(f"the file systems of {guest.name} are thawed", is_thawed)


def that_fails(bench):
    """Whatever goes wrong, the guest is thawed: where no file can be made, and where the agent hangs."""
    node = bench.stand()
    guest, wrong, took = bench.guest, [], []
    guest.wait_for_agent(node)
    with bench.loaded() as (rows,):
        began = mark("operation", "a snapshot to where none can be")
        took.append(refused(lambda: take(node, guest, "/proc/none.qcow2", True), wrong))
        failed = mark("recovery", "it has failed, and the guest is thawed")
        rows.wait_for_more(failed)
        time.sleep(bench.settle)
        agent = guest.execute(node, "pidof", "qemu-ga").strip()
        node.virsh("guest-agent-timeout", guest.name, "--timeout", str(AGENT))
        # It answers that it will, and stops for a while that is longer than anybody waits for it.
        guest.execute(node, "sh", "-c", f"(sleep 1; kill -STOP {agent}; sleep {AGENT * 4}; kill -CONT {agent}) >/dev/null 2>&1 &")
        wait_until("the guest agent hangs", lambda: not guest.has_agent(node, 1))
        mark("operation", "a snapshot while the agent hangs")
        layer = f"{bench.cluster.shared}/{guest.name}.never.qcow2"
        took.append(refused(lambda: take(node, guest, layer, True), wrong))
        failed = mark("recovery", "it has failed, and the guest is thawed")
        node.virsh("guest-agent-timeout", guest.name, "--timeout", "-2")
        rows.wait_for_more(failed)
        gap = rows.longest_gap_ns(began)
    bench.report({"took_ns": sum(took) // len(took), "downtime_ns": gap}, wrong)


def refused(attempt, wrong):
    """How long something takes that must fail."""
    begin = time.monotonic_ns()
    try:
        attempt()
        wrong.append("a snapshot was taken that could not be")
    except NodeError:
        pass
    return time.monotonic_ns() - begin


def with_memory(bench):
    node = bench.stand()
    guest, wrong = bench.guest, []
    with bench.loaded() as (rows,):
        began = mark("operation", "a snapshot with memory")
        node.virsh("snapshot-create-as", guest.name, "memory")
        taken = mark("recovery", "it is taken")
        rows.wait_for_more(taken)
        gap = rows.longest_gap_ns(began)
        time.sleep(bench.settle)
        reverts = mark("operation", "it is reverted to")
        node.virsh("snapshot-revert", guest.name, "memory", "--running")
        reverted = mark("recovery", "it runs as it was")
        again = rows.wait_for_more(reverted)
        node.virsh("snapshot-delete", guest.name, "memory")
    # What was acknowledged after the snapshot is gone, as it must be; what was before and after all this is there.
    undone = [number for number, sent, _ in rows.acknowledged if taken < sent < reverts]
    kept = [number for number, _, moment in rows.acknowledged if moment <= began or moment > reverted]
    remaining = set(all_rows(Postgresql, guest.address, rows.table)) & set(undone)
    if not undone or remaining:
        wrong.append(f"of {len(undone)} rows from after the snapshot {len(remaining)} are still there")
    observed = {"downtime_ns": gap, "revert_ns": reverted - reverts, "revert_to_row_ns": again - reverts, "undone_rows": len(undone)}
    bench.report({"took_ns": taken - began, **observed}, wrong, kept)


OPERATIONS = {
    "snapshot, frozen": lambda bench: of_disk(bench, True, [Postgresql, Mariadb]),
    "snapshot, not frozen": lambda bench: of_disk(bench, False, [Postgresql]),
    "snapshots that fail": that_fails,
    "snapshot with memory, and back": with_memory,
}
