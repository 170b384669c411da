"""A disk and a network card that come and go while the guest works."""

import os
import time

from nodes import wait_until
from wire import mark

DISK = """
<disk type="file" device="disk">
  <driver name="qemu" type="raw" cache="none"/>
  <source file="{path}"/>
  <target dev="vdh" bus="virtio"/>
  <serial>stend-hot</serial>
</disk>
"""
CARD = '<interface type="bridge"><mac address="52:54:00:99:01:01"/><source bridge="br0"/><model type="virtio"/><rom enabled="no"/></interface>'
# How the guest sees it.
SEES = {"disk": "test -b /dev/disk/by-id/virtio-stend-hot", "network card": "grep -qs 52:54:00:99:01:01 /sys/class/net/*/address"}


def plug(bench, what):
    node = bench.stand()
    guest, shared = bench.guest, bench.cluster.shared
    guest.wait_for_agent(node)
    disk, description = f"{shared}/hot.raw", f"{shared}/hot.xml"
    with open(disk, "wb") as file:
        file.truncate(64 << 20)
    with open(description, "w", encoding="utf-8") as file:
        file.write(DISK.format(path=disk) if what == "disk" else CARD)

    def sees():
        return guest.execute(node, "sh", "-c", f"if {SEES[what]}; then echo yes; else echo no; fi").strip() == "yes"

    with bench.loaded() as (rows,):
        began = mark("operation", f"a {what} comes")
        node.virsh("attach-device", guest.name, description, "--live")
        wait_until(f"the guest sees the {what}", sees)
        came = mark("recovery", "the guest sees it")
        if what == "disk":
            # It can be written to.
            guest.execute(node, "sh", "-c", "mke2fs -q -F /dev/disk/by-id/virtio-stend-hot")
        time.sleep(bench.settle)
        goes = mark("operation", f"the {what} goes")
        node.virsh("detach-device", guest.name, description, "--live")
        wait_until(f"the guest does not see the {what} any more", lambda: not sees())
        gone = mark("recovery", "it is gone")
        rows.wait_for_more(gone)
        gap = rows.longest_gap_ns(began)
    os.remove(disk)
    os.remove(description)
    bench.report({"took_ns": came - began, "unplug_ns": gone - goes, "downtime_ns": gap})


OPERATIONS = {f"hot plug: {what}": lambda bench, what=what: plug(bench, what) for what in SEES}
