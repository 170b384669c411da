"""The guest's disk lies on a LUN of the run's target, of which parts die meanwhile: stend breaks and mends them."""

import time

from guest import Guest
from wire import mark


def outlive(bench):
    node = bench.cluster.nodes[0]
    bench.guest = guest = Guest(bench.cluster, "db-lun", 102, storage=bench.lun)
    guest.remove()
    guest.make(node)
    guest.start(node)
    with bench.loaded() as (rows,):
        # From here on the times of the faults count.
        bench.begin()
        began = time.monotonic_ns()
        time.sleep(bench.runtime)
    mark("phase", "its power fails")
    node.virsh("destroy", guest.name)
    guest.start(node)
    rows.wait_for_database()
    mark("phase", "it has booted from the pool")
    bench.report({"downtime_ns": rows.longest_gap_ns(began)}, guest.elsewhere(node))
    guest.remove()


OPERATIONS = {"disk on a pool": outlive}
