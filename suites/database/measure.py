"""What the instruments of all engines share: the operations, their clock, and what stend reads.

An engine is a class with these methods; one that has no full text has no find():

    open()               before all others, version() excepted where the engine is in this process
    version()            of the engine
    create()             empties it, and makes what it needs
    load(texts)          takes all documents, numbered from 0, and indexes them
    count()              how many documents there are
    read(number)         the text of a document
    update(pairs)        replaces texts, each behind its number, in one transaction
    remove(number)       takes a document out
    find(words)          how many documents have all of these words, and the numbers of the ten best
    close()

and a server's engine also process(), its process id, and stop(), which ends it so that it keeps all.
"""

import argparse
import ctypes
import gc
import hashlib
import json
import os
import platform
import random
import re
import sys
import time
from collections import Counter

import documents

# So many different documents are read, so many updated, and so many queries made, again and again.
READ, UPDATED, QUERIES = 65_536, 4_096, 1_000


class EngineError(Exception):
    """What an engine says that it cannot do."""


def seconds(text):
    number, unit = re.fullmatch(r"([0-9.]+) *(ms|s|min)", text).groups()
    return float(number) * {"ms": 0.001, "s": 1, "min": 60}[unit]


def emit(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def rounded(nanoseconds):
    """To three digits, so that a histogram has few lines."""
    unit = 10 ** max(0, len(str(nanoseconds)) - 3)
    return nanoseconds // unit * unit


def memory(directory=None):
    """Bytes that this process has in memory, or the processes in a directory, where they may be asked."""
    if directory is None:
        processes = [os.getpid()]
    else:
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit() and is_in(name, directory)]
    shares = [re.search(r"^Pss: +(\d+)", open(f"/proc/{process}/smaps_rollup").read(), re.M) for process in processes]
    return sum(int(share[1]) << 10 for share in shares if share)


def is_in(process, directory):
    try:
        at = os.readlink(f"/proc/{process}/cwd")
    except OSError:
        return False
    return at == directory or at.startswith(directory + "/")


class Measured:
    """A stretch in which one operation after another is made, until its time is up."""

    def __init__(self, duration, operate):
        gc.disable()
        self.t_ns = then = time.monotonic_ns()
        cpu, end, latencies = time.process_time_ns(), then + int(duration * 1e9), []
        self.operations = 0
        while then < end:
            operate(self.operations)
            self.operations += 1
            now = time.monotonic_ns()
            latencies.append(now - then)
            then = now
        self.cpu_ns, self.wall_ns = time.process_time_ns() - cpu, then - self.t_ns
        gc.enable()
        latencies.sort()
        self.observed = {f"latency_p{name}_ns": latencies[int(share * len(latencies))] for name, share in (("50", 0.5), ("99", 0.99))}
        self.latencies = {"latency": sorted(Counter(map(rounded, latencies)).items())}


class Checked:
    """Answers, held against the generator's own. Those that every engine gives, however fast it is, have a digest."""

    def __init__(self):
        self.wrong, self.digest = None, hashlib.sha256()

    def hold(self, question, answer, right):
        if answer != right and self.wrong is None:
            self.wrong = f"{question}: {str(answer)[:200]!r} instead of {str(right)[:200]!r}"

    def take(self, question, answer, right):
        self.hold(question, answer, right)
        self.digest.update(f"{question} {answer}\n".encode())

    def verdict(self, what):
        right = f"{what}, all as the generator makes them; SHA-256 of answers {self.digest.hexdigest()}"
        return {"check": "failed" if self.wrong else "passed", "evidence": self.wrong or right}


def repeat(measured, checked, what):
    emit(
        "repeat",
        t_ns=measured.t_ns,
        wall_ns=measured.wall_ns,
        cpu_ns=measured.cpu_ns,
        work={"operations": measured.operations},
        observed=measured.observed,
        latencies=measured.latencies,
        **checked.verdict(what),
    )


def some(many, of, seed):
    """Different numbers below `of`, in an order of their own."""
    drawn = random.Random(seed)
    return list(dict.fromkeys(int(drawn.random() * of) for _ in range(many)))


class Bench:
    def __init__(self, engine, arguments, memory_before):
        self.engine, self.arguments, self.documents = engine, arguments, arguments.documents
        self.memory_before = memory_before

    def load(self):
        """Everything anew, from the empty engine to the last index."""
        self.engine.create()
        texts = [documents.text(number) for number in range(self.documents)]
        digest, length = documents.digest(texts), sum(map(len, texts))
        began, cpu = time.monotonic_ns(), time.process_time_ns()
        self.engine.load(texts)
        wall, cpu = time.monotonic_ns() - began, time.process_time_ns() - cpu
        texts = None
        # What this process has freed is the system's again, where the C library can give it back.
        getattr(ctypes.CDLL(None), "malloc_trim", lambda keep: None)(0)
        is_server = hasattr(self.engine, "process")
        taken = memory(self.arguments.directory) if is_server else memory() - self.memory_before
        checked = Checked()
        checked.take("documents", self.engine.count(), self.documents)
        for number in some(1000, self.documents, 1):
            checked.take(number, self.engine.read(number), documents.text(number))
        emit(
            "repeat",
            t_ns=began,
            wall_ns=wall,
            cpu_ns=cpu,
            work={"operations": self.documents, "bytes": length},
            observed={"memory_bytes": max(taken, 0)},
            **checked.verdict(f"{self.documents} documents of SHA-256 {digest}"),
        )

    def read(self):
        numbers = some(READ, self.documents, 2)
        texts, read, checked = [documents.text(number) for number in numbers], self.engine.read, Checked()

        def operate(at):
            at %= len(numbers)
            answer = read(numbers[at])
            if answer != texts[at]:
                checked.hold(numbers[at], answer, texts[at])

        measured = Measured(self.arguments.duration, operate)
        for number, text in zip(numbers[:1000], texts):
            checked.take(number, read(number), text)
        repeat(measured, checked, f"{measured.operations} reads")

    def word(self):
        self.find([(rank,) for rank in range(100, 100 + QUERIES)], "queries of one word")

    def words(self):
        drawn = random.Random(3)
        pairs = ((50 + int(drawn.random() * 100), 50 + int(drawn.random() * 100)) for _ in range(QUERIES))
        self.find(list(dict.fromkeys(tuple(sorted(pair)) for pair in pairs if pair[0] != pair[1])), "queries of two words")

    def find(self, queries, what):
        right = documents.counts(self.documents, queries)
        words = [[documents.WORD[rank] for rank in query] for query in queries]
        order = some(4 * len(queries), len(queries), 4)
        find, checked, best = self.engine.find, Checked(), {}

        def operate(at):
            query = order[at % len(order)]
            count, best[query] = find(words[query])
            if count != right[queries[query]]:
                checked.hold(" ".join(words[query]), count, right[queries[query]])

        # Some engines index when they are asked for the first time.
        find(words[0])
        measured = Measured(self.arguments.duration, operate)
        for query, numbers in best.items():
            has_all = [number for number in numbers if set(queries[query]) <= set(documents.ranks_of(number))]
            wanted = min(10, right[queries[query]])
            checked.hold(f"best of {' '.join(words[query])}", len(set(has_all)), wanted)
        for query in order[:100]:
            checked.take(" ".join(words[query]), find(words[query])[0], right[queries[query]])
        repeat(measured, checked, f"{measured.operations} {what}")

    def update(self):
        self.change(1)

    def mixed(self):
        """Nine reads, an update."""
        self.change(10)

    def change(self, every):
        numbers = some(UPDATED, self.documents, 5)
        texts = [[documents.text(number, updated) for updated in (False, True)] for number in numbers]
        is_updated, checked = [False] * len(numbers), Checked()
        read, update = self.engine.read, self.engine.update
        # A document too many says, to whoever comes next, that the others are not as they were loaded.
        update([(self.documents, "changed")])

        def operate(at):
            at, turn = at % len(numbers), at
            if turn % every == 0:
                is_updated[at] = not is_updated[at]
                update([(numbers[at], texts[at][is_updated[at]])])
            else:
                answer = read(numbers[at])
                if answer != texts[at][is_updated[at]]:
                    checked.hold(numbers[at], answer, texts[at][is_updated[at]])

        measured = Measured(self.arguments.duration, operate)
        for at, number in enumerate(numbers):
            checked.hold(number, read(number), texts[at][is_updated[at]])
        update([(number, texts[at][False]) for at, number in enumerate(numbers) if is_updated[at]])
        self.engine.remove(self.documents)
        checked.take("documents", self.engine.count(), self.documents)
        for number, (text, _) in zip(numbers[:1000], texts):
            checked.take(number, read(number), text)
        repeat(measured, checked, f"{measured.operations} operations")

    def start(self):
        """From the moment when a stopped server is gone, or from the opening of an embedded engine, to the first answer, and to the first search."""
        engine, number, checked = self.engine, self.documents // 2, Checked()
        if hasattr(engine, "process"):
            process = engine.process()
            engine.stop()
            while is_alive(process):
                time.sleep(0.0005)
        began, cpu, answer = time.monotonic_ns(), time.process_time_ns(), None
        while answer is None:
            try:
                engine = type(self.engine)(self.arguments)
                engine.open()
                answer = engine.read(number)
            except (EngineError, OSError):
                time.sleep(0.0005)
        wall, cpu = time.monotonic_ns() - began, time.process_time_ns() - cpu
        observed = {}
        if hasattr(engine, "find"):
            engine.find([documents.WORD[100]])
            observed["first_search_ns"] = time.monotonic_ns() - began
        checked.take(number, answer, documents.text(number))
        checked.take("documents", engine.count(), self.documents)
        emit(
            "repeat",
            t_ns=began,
            wall_ns=wall,
            cpu_ns=cpu,
            work={"operations": self.documents},
            observed=observed,
            **checked.verdict(f"{self.documents} documents"),
        )


def is_alive(process):
    try:
        return open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


OPERATIONS = {name: getattr(Bench, name) for name in ("load", "read", "word", "words", "update", "mixed", "start")}


def main(engine_of, **settings):
    """Runs what the command line asks for. `settings`: more parameters, of this engine alone, with what they are for."""
    name = os.path.basename(sys.argv[0]).removesuffix(".py")
    parser = argparse.ArgumentParser(description=f"Loads {name} and reports as stend's instruments do.")
    parser.add_argument("--operation", choices=OPERATIONS, required=True)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--duration", type=seconds, required=True, help="2s")
    parser.add_argument("--directory", required=True, help="the engine's own")
    parser.add_argument("--loaded", action="store_true", help="there is nothing to load")
    for setting, what in settings.items():
        parser.add_argument(f"--{setting}", required=True, help=what)
    arguments = parser.parse_args()
    if not 1000 <= arguments.documents <= 100_000_000:
        parser.error("--documents: from 1000 to 100000000")
    try:
        engine, memory_before = engine_of(arguments), memory()
        is_start = arguments.operation == "start" and not hasattr(engine, "process")
        if not (is_start and arguments.loaded):
            engine.open()
        if arguments.operation != "load" and not arguments.loaded:
            is_there = engine.count() == arguments.documents
            if not is_there:
                engine.create()
                engine.load([documents.text(number) for number in range(arguments.documents)])
            if is_start or not is_there:
                engine.close()
                # All repeats find a process in which nothing was opened or loaded before.
                os.execv(sys.executable, [sys.executable, *sys.argv, "--loaded"])
        emit(
            "begin",
            wire=1,
            t_ns=time.monotonic_ns(),
            instrument=f"database {name}",
            version=engine.version(),
            build={"python": platform.python_version(), "engine": engine.version()},
            parameters={
                "operation": arguments.operation,
                "documents": arguments.documents,
                "first_thousand_documents_sha256": documents.digest(documents.text(number) for number in range(1000)),
            },
        )
        OPERATIONS[arguments.operation](Bench(engine, arguments, memory_before))
        emit("end", repeats=1)
    except (EngineError, OSError, MemoryError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        sys.exit(f"{name}: {said}")
