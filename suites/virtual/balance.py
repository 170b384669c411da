"""Balancing: by the load of the nodes a migration is recommended, which is only said or carried out."""

import time

from guest import Guest
from wire import emit, mark

# Loads are shares of a node's processors.
GAP, ROUNDS, COOLDOWN, WINDOW = 0.25, 3, 6, 1.0
# How many rounds are watched: until one is recommended, and until the next one could be.
WATCHED = {"dry run": 6, "carried out": 12}


class Balancer:
    """Recommends to move a guest from the busiest node to the idlest one. It does when the gap between them was wide for several rounds together
    and moving that guest would narrow it, and not again until a while after a move: so it follows no moment, and nothing goes to and fro."""

    def __init__(self, gap=GAP, rounds=ROUNDS, cooldown=COOLDOWN):
        self.gap, self.rounds, self.cooldown = gap, rounds, cooldown
        self.wide, self.moved_at = 0, None

    def advise(self, now, loads):
        """`loads`: of each node, of each guest there. A guest, where it is and where it should be; or `None`."""
        totals = {node: sum(guests.values()) for node, guests in loads.items()}
        busiest, idlest = max(totals, key=totals.get), min(totals, key=totals.get)
        gap = totals[busiest] - totals[idlest]
        self.wide = self.wide + 1 if gap > self.gap else 0
        if self.wide < self.rounds or (self.moved_at is not None and now - self.moved_at < self.cooldown):
            return None
        after = {guest: abs(gap - 2 * load) for guest, load in loads[busiest].items()}
        best = min(after, key=after.get, default=None)
        # What would only turn the gap around is no gain.
        if best is None or after[best] > gap - self.gap / 2:
            return None
        self.wide, self.moved_at = 0, now
        return best, busiest, idlest


def used(node):
    """CPU time of each guest that runs on a node, in seconds."""
    times, guest = {}, None
    for line in node.virsh("domstats", "--cpu-total", "--list-running").splitlines():
        if line.startswith("Domain: "):
            guest = line.split("'")[1]
        elif line.strip().startswith("cpu.time="):
            times[guest] = int(line.split("=")[1]) / 1e9
    return times


def balance(bench, how):
    carries_out = how == "carried out"
    cluster = bench.cluster
    node = bench.stand()
    # Another guest on the same node, so that there is something to choose from.
    second = Guest(cluster, "second", 112, memory=512, cpus=1)
    if cluster.where_runs(second.name) != [node]:
        second.remove()
        second.make(node)
        second.start(node)
    guests = {guest.name: guest for guest in (bench.guest, second)}
    for guest in guests.values():
        guest.wait_for_agent(node)
        guest.burn(node, 1)
    balancer, advice, moves, gaps = Balancer(), [], 0, []
    try:
        with bench.loaded() as (rows,):
            began = time.monotonic_ns()
            before, then = {one.name: used(one) for one in cluster.nodes}, time.monotonic()
            for _ in range(WATCHED[how]):
                time.sleep(WINDOW)
                now, at = {one.name: used(one) for one in cluster.nodes}, time.monotonic()
                loads = {
                    name: {guest: (value - before[name][guest]) / (at - then) for guest, value in times.items() if guest in before[name]}
                    for name, times in now.items()
                }
                before, then = now, at
                totals = [sum(of.values()) for of in loads.values()]
                gaps.append(max(totals) - min(totals))
                emit("sample", t_ns=time.monotonic_ns(), values={f"{name}_processors": sum(of.values()) for name, of in loads.items()})
                if not (found := balancer.advise(at, loads)):
                    continue
                guest, origin, to = found
                advice.append(f"{guest} from {origin} to {to}")
                mark("operation" if carries_out else "phase", f"recommended: {advice[-1]}")
                if carries_out:
                    ends = {one.name: one for one in cluster.nodes}
                    guests[guest].migrate(ends[origin], ends[to])
                    mark("recovery", f"{guest} runs on {to}")
                    moves += 1
                    before, then = {one.name: used(one) for one in cluster.nodes}, time.monotonic()
            wall = time.monotonic_ns() - began
            gap = rows.longest_gap_ns(began)
    finally:
        for guest in guests.values():
            for where in cluster.where_runs(guest.name):
                guest.burn(where, 0)
    if carries_out:
        second.remove()
    wrong = []
    if not advice:
        wrong.append("nothing was recommended, although one node had all the load")
    if carries_out and moves != 1:
        wrong.append(f"{moves} migrations, where one was enough: {'; '.join(advice)}")
    observed = {"recommendations": len(advice), "moves": moves, "gap_before_share": max(gaps[:ROUNDS]), "gap_after_share": gaps[-1], "downtime_ns": gap}
    bench.report({"took_ns": wall, **observed}, wrong)


OPERATIONS = {f"balancing, {how}": lambda bench, how=how: balance(bench, how) for how in WATCHED}
