"""A counted load: rows that a database has acknowledged, each with the moment when it did."""

import hashlib
import itertools
import os
import select
import socket
import subprocess
import threading
import time

from nodes import LONGEST, NodeError, wait_until
from wire import emit

WINDOW_NS = 500_000_000
# A connection whose other end is gone is given up after two seconds; one that is only slow is not.
PATIENCE = 2


def text_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest() * 4


class Postgresql:
    NAME, UNIT, PORT = "PostgreSQL", "postgresql@15-main.service", 5432
    SYNCHRONOUS_COMMIT = "on"

    @classmethod
    def client(cls, address):
        where = (
            f"host={address} dbname=postgres user=postgres connect_timeout={LONGEST} tcp_user_timeout={PATIENCE * 1000}"
            f" keepalives_idle=1 keepalives_interval=1 keepalives_count={PATIENCE} options='-c synchronous_commit={cls.SYNCHRONOUS_COMMIT}'"
        )
        return ["psql", "-X", "-q", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", where]


class Mariadb:
    NAME, UNIT, PORT = "MariaDB", "mariadb.service", 3306

    @staticmethod
    def client(address):
        return [
            "mariadb", f"--host={address}", "--user=stend", "--batch", "--skip-column-names", "--unbuffered", "--skip-reconnect",
            f"--connect-timeout={LONGEST}", "stend",
        ]


class Client:
    """A database's own client, which is asked a statement after the other."""

    @classmethod
    def connect(cls, database, address):
        """`None`: nothing takes connections there. Asked first, because a client that is given time for a slow database also takes it for none."""
        try:
            socket.create_connection((address, database.PORT), timeout=1).close()
        except OSError:
            return None
        return cls(database, address)

    def __init__(self, database, address):
        self.process = subprocess.Popen(
            database.client(address), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.rest = b""

    def ask(self, statement, is_over=lambda: False):
        """Sends a statement that gives one line, and waits for that. `None`: the connection is lost, or it is over."""
        try:
            self.process.stdin.write(statement.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None
        while b"\n" not in self.rest:
            if is_over():
                return None
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                part = os.read(self.process.stdout.fileno(), 65536)
                if not part:
                    return None
                self.rest += part
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def close(self):
        """Ends it, and gives what it complained of."""
        self.process.kill()
        said = self.process.stderr.read().decode(errors="replace")
        self.process.wait()
        for end in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                end.close()
            except OSError:
                pass
        return said.strip()


def all_rows(database, address, table):
    """Each row that there is: its number and its text."""
    done = subprocess.run(
        database.client(address), input=f"SELECT number, text FROM {table} ORDER BY number;\n", capture_output=True, text=True,
        timeout=LONGEST, check=False,
    )
    if done.returncode != 0:
        raise NodeError(f"the rows cannot be read: {done.stderr.strip()[-200:]}")
    return {int(number): text for number, text in (line.split() for line in done.stdout.splitlines())}


class Rows(threading.Thread):
    """Inserts rows at a rate, one after another, and connects anew whenever the connection is lost. `check` raises an error where waiting for the
    database is in vain."""

    def __init__(self, database, address, rate, table="counted", check=lambda: None):
        super().__init__(daemon=True)
        self.check = check
        self.database, self.address, self.rate, self.table = database, address, rate, table
        # Number, sent and acknowledged.
        self.acknowledged = []
        self.unanswered, self.connections, self.complaint = set(), 0, ""
        self.is_over = threading.Event()

    def prepare(self):
        """Waits for the database, and makes an empty table."""
        self.wait_for_database(
            f"DROP TABLE IF EXISTS {self.table}; CREATE TABLE {self.table}"
            " (number bigint PRIMARY KEY, text varchar(300) NOT NULL);"
        )

    def wait_for_database(self, statements=""):
        """Waits until the database has done these."""

        def has_done():
            self.check()
            client = Client.connect(self.database, self.address)
            if client is None:
                return False
            said = client.ask(f"{statements} SELECT 1;")
            self.complaint = client.close()
            return said == "1"

        try:
            wait_until("the database answers", has_done, pause=0.3)
        except NodeError as error:
            raise NodeError(f"{error}: {self.complaint[-200:]}") from None

    def run(self):
        number, client, due = 0, None, time.monotonic()
        while not self.is_over.is_set():
            if client is None:
                client = Client.connect(self.database, self.address)
                if client is None:
                    time.sleep(0.1)
                    continue
                self.connections += 1
            # What was not sent while nobody answered is not sent at once afterwards.
            due = max(due + 1 / self.rate, time.monotonic() - 1 / self.rate)
            time.sleep(max(0, due - time.monotonic()))
            number += 1
            sent = time.monotonic_ns()
            statement = f"INSERT INTO {self.table} VALUES ({number}, '{text_of(number)}') RETURNING number;"
            if client.ask(statement, self.is_over.is_set) == str(number):
                self.acknowledged.append((number, sent, time.monotonic_ns()))
                continue
            # It may have been stored or not.
            self.unanswered.add(number)
            complaint = client.close()
            self.complaint = complaint or self.complaint
            client = None
            # A database that refuses at once is asked again ten times a second.
            time.sleep(0.1)
        if client is not None:
            client.close()

    def wait_for_more(self, since_ns):
        """Waits until a row that was sent later is acknowledged, and gives when it was."""
        looks = itertools.count(1)

        def first():
            if next(looks) % 100 == 0:
                self.check()
            return next((row[2] for row in self.acknowledged[-100:] if row[1] > since_ns), None)

        try:
            return wait_until("a row is acknowledged", first, pause=0.01)
        except NodeError as error:
            raise NodeError(f"{error}: {self.complaint[-200:]}") from None

    def stop(self):
        self.is_over.set()
        self.join()
        if not self.acknowledged:
            raise NodeError(f"no row was acknowledged: {self.complaint[-200:]}")

    def longest_gap_ns(self, begin_ns=0, end_ns=None):
        """The longest time without an acknowledgement, of those that a stretch of time has a part of."""
        moments = [row[2] for row in self.acknowledged]
        gaps = zip(moments, moments[1:])
        return max((b - a for a, b in gaps if b > begin_ns and (end_ns is None or a < end_ns)), default=0)

    def emit_series(self):
        """How many rows a second were acknowledged, and how long the slowest took, in each window of half a second."""
        begin = self.acknowledged[0][2]
        windows = {}
        for _, sent, acknowledged in self.acknowledged:
            windows.setdefault((acknowledged - begin) // WINDOW_NS, []).append(acknowledged - sent)
        # The last one is not whole.
        for number in range(max(windows)):
            took = windows.get(number, [])
            values = {"operations_per_s": len(took) * 1e9 / WINDOW_NS}
            if took:
                values |= {"latency_p50_ns": sorted(took)[len(took) // 2], "latency_max_ns": max(took)}
            emit("sample", t_ns=begin + (number + 1) * WINDOW_NS, values=values)

    def rows_until(self, moment_ns):
        """The rows that were acknowledged by then."""
        return [number for number, _, acknowledged in self.acknowledged if acknowledged <= moment_ns]

    def latencies(self):
        """As counts, rounded to three digits."""
        counts = {}
        for _, sent, acknowledged in self.acknowledged:
            rounded = int(float(f"{acknowledged - sent:.2e}"))
            counts[rounded] = counts.get(rounded, 0) + 1
        return {"latency": sorted(counts.items())}

    def percentile_ns(self, share):
        took = sorted(acknowledged - sent for _, sent, acknowledged in self.acknowledged)
        return took[min(len(took) - 1, int(len(took) * share))]

    def judge(self, found, wanted=None):
        """How many acknowledged rows, or of those that are wanted, are missing or other than they were sent; and what is wrong, if something is."""
        wanted = [number for number, *_ in self.acknowledged] if wanted is None else wanted
        lost = [number for number in wanted if found.get(number) != text_of(number)]
        foreign = set(found) - {number for number, *_ in self.acknowledged} - self.unanswered
        if lost:
            return len(lost), f"{self.database.NAME}: {len(lost)} of {len(wanted)} acknowledged rows are lost or changed, the first is {lost[0]}"
        if foreign:
            return 0, f"{self.database.NAME}: there are {len(foreign)} rows that were never sent, such as {min(foreign)}"
        return 0, None
