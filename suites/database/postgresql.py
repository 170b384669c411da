"""PostgreSQL, by libpq and prepared statements: documents in a table, with a stored tsvector and a GIN index of it."""

import ctypes
import os
import signal

from measure import EngineError, main

STATEMENTS = {
    "read": "SELECT text FROM document WHERE number = $1",
    "update": "INSERT INTO document VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET text = excluded.text",
    "remove": "DELETE FROM document WHERE number = $1",
    "find": """
        WITH found AS MATERIALIZED (
            SELECT number, ts_rank(words, query) AS rank FROM document, to_tsquery('simple', $1) AS query WHERE words @@ query
        )
        SELECT (SELECT count(*) FROM found), number FROM found ORDER BY rank DESC LIMIT 10
    """,
}
OK, HAS_ROWS, TAKES_COPY = 1, 2, 4


def libpq():
    try:
        library = ctypes.CDLL("libpq.so.5")
    except OSError:
        raise EngineError("libpq.so.5 is missing; on Debian: apt-get install -y libpq5") from None
    for name, result in (
        ("PQconnectdb", ctypes.c_void_p),
        ("PQerrorMessage", ctypes.c_char_p),
        ("PQexec", ctypes.c_void_p),
        ("PQprepare", ctypes.c_void_p),
        ("PQexecPrepared", ctypes.c_void_p),
        ("PQgetResult", ctypes.c_void_p),
        ("PQresultErrorMessage", ctypes.c_char_p),
        ("PQgetvalue", ctypes.c_char_p),
    ):
        getattr(library, name).restype = result
    # Pointers are longer than the ints that ctypes takes numbers for.
    library.PQgetvalue.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    for name in ("PQstatus", "PQerrorMessage", "PQgetResult", "PQfinish", "PQresultStatus", "PQresultErrorMessage", "PQntuples", "PQclear"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.PQexec.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.PQprepare.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    library.PQexecPrepared.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, *[ctypes.c_void_p] * 3, ctypes.c_int]
    library.PQputCopyData.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    library.PQputCopyEnd.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return library


class Postgresql:
    def __init__(self, arguments):
        self.arguments = arguments

    def open(self):
        self.pq = libpq()
        with open(f"{self.arguments.directory}/password") as password:
            where = f"host=127.0.0.1 port={self.arguments.port} dbname=postgres user=stend password={password.read().strip()}"
        self.to = self.pq.PQconnectdb(where.encode())
        if self.pq.PQstatus(self.to) != 0:
            raise EngineError(self.pq.PQerrorMessage(self.to).decode())
        self.prepared = set()

    def rows(self, result, *right):
        """The rows of a result, as texts."""
        try:
            if self.pq.PQresultStatus(result) not in right:
                said = self.pq.PQresultErrorMessage(result) or self.pq.PQerrorMessage(self.to)
                raise EngineError(said.decode())
            columns = self.pq.PQnfields(ctypes.c_void_p(result))
            value = self.pq.PQgetvalue
            return [
                [value(result, row, column).decode() for column in range(columns)]
                for row in range(self.pq.PQntuples(result))
            ]
        finally:
            self.pq.PQclear(result)

    def ask(self, text):
        return self.rows(self.pq.PQexec(self.to, text.encode()), OK, HAS_ROWS)

    def execute(self, name, *values):
        if name not in self.prepared:
            self.rows(self.pq.PQprepare(self.to, name.encode(), STATEMENTS[name].encode(), 0, None), OK)
            self.prepared.add(name)
        texts = (ctypes.c_char_p * len(values))(*[str(value).encode() for value in values])
        result = self.pq.PQexecPrepared(self.to, name.encode(), len(values), texts, None, None, 0)
        return self.rows(result, OK, HAS_ROWS)

    def version(self):
        return self.ask("SHOW server_version")[0][0]

    def create(self):
        self.ask("DROP TABLE IF EXISTS document")
        self.ask("""
            CREATE TABLE document (
                number integer PRIMARY KEY,
                text text NOT NULL,
                words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED
            )
        """)

    def load(self, texts):
        self.ask("BEGIN")
        self.rows(self.pq.PQexec(self.to, b"COPY document (number, text) FROM STDIN"), TAKES_COPY)
        for at in range(0, len(texts), 1000):
            lines = "".join(f"{number}\t{text}\n" for number, text in enumerate(texts[at : at + 1000], at)).encode()
            if self.pq.PQputCopyData(self.to, lines, len(lines)) != 1:
                raise EngineError(self.pq.PQerrorMessage(self.to).decode())
        self.pq.PQputCopyEnd(self.to, None)
        while result := self.pq.PQgetResult(self.to):
            self.rows(result, OK)
        self.ask("CREATE INDEX words ON document USING gin (words)")
        self.ask("COMMIT")
        self.ask("VACUUM ANALYZE document")

    def count(self):
        is_there = self.ask("SELECT to_regclass('words') IS NOT NULL")[0][0] == "t"
        return int(self.ask("SELECT count(*) FROM document")[0][0]) if is_there else 0

    def read(self, number):
        return self.execute("read", number)[0][0]

    def update(self, pairs):
        if len(pairs) > 1:
            self.ask("BEGIN")
        for pair in pairs:
            self.execute("update", *pair)
        if len(pairs) > 1:
            self.ask("COMMIT")

    def remove(self, number):
        self.execute("remove", number)

    def find(self, words):
        rows = self.execute("find", " & ".join(words))
        return int(rows[0][0]) if rows else 0, [int(number) for _, number in rows]

    def process(self):
        with open(f"{self.arguments.directory}/data/postmaster.pid") as file:
            return int(file.readline())

    def stop(self):
        os.kill(self.process(), signal.SIGINT)
        self.close()

    def close(self):
        self.pq.PQfinish(self.to)


if __name__ == "__main__":
    main(Postgresql, port="on 127.0.0.1")
