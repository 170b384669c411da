"""SQLite with FTS5, in this process: a table of documents, and their words in an index beside it that keeps no text of its own."""

import os
import sqlite3

from measure import EngineError, main

TRIGGERS = [
    """
    CREATE TRIGGER words_of_new AFTER INSERT ON document BEGIN
        INSERT INTO words (rowid, text) VALUES (new.number, new.text);
    END
    """,
    """
    CREATE TRIGGER words_of_old AFTER DELETE ON document BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.number, old.text);
    END
    """,
    """
    CREATE TRIGGER words_of_changed AFTER UPDATE ON document BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', old.number, old.text);
        INSERT INTO words (rowid, text) VALUES (new.number, new.text);
    END
    """,
]


class Sqlite:
    def __init__(self, arguments):
        self.arguments = arguments

    def open(self):
        path = os.path.join(self.arguments.directory, "documents.db")
        self.to = sqlite3.connect(path, isolation_level=None)
        journal_mode, synchronous = self.arguments.journal_mode, self.arguments.synchronous
        self.to.execute(f"PRAGMA cache_size = -{int(self.arguments.cache_kib)}")
        for name, value in (("journal_mode", journal_mode), ("synchronous", synchronous)):
            if not value.isalpha():
                raise EngineError(f"{name} cannot be {value!r}")
            self.to.execute(f"PRAGMA {name} = {value}")

    @staticmethod
    def version():
        return sqlite3.sqlite_version

    def create(self):
        self.to.executescript("""
            DROP TABLE IF EXISTS words;
            DROP TABLE IF EXISTS document;
            CREATE TABLE document (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
            CREATE VIRTUAL TABLE words USING fts5 (text, content = document, content_rowid = number);
        """)

    def load(self, texts):
        self.to.execute("BEGIN")
        self.to.executemany("INSERT INTO document VALUES (?, ?)", enumerate(texts))
        self.to.execute("INSERT INTO words (words) VALUES ('rebuild')")
        for trigger in TRIGGERS:
            self.to.execute(trigger)
        self.to.execute("COMMIT")

    def count(self):
        is_there = self.to.execute("SELECT count(*) FROM sqlite_master WHERE name = 'words_of_changed'").fetchone()[0]
        return self.to.execute("SELECT count(*) FROM document").fetchone()[0] if is_there else 0

    def read(self, number):
        return self.to.execute("SELECT text FROM document WHERE number = ?", (number,)).fetchone()[0]

    def update(self, pairs):
        self.to.execute("BEGIN")
        self.to.executemany(
            "INSERT INTO document VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET text = excluded.text", pairs
        )
        self.to.execute("COMMIT")

    def remove(self, number):
        self.to.execute("DELETE FROM document WHERE number = ?", (number,))

    def find(self, words):
        query = " AND ".join(words)
        count = self.to.execute("SELECT count(*) FROM words WHERE words MATCH ?", (query,)).fetchone()[0]
        best = self.to.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10", (query,))
        return count, [number for (number,) in best]

    def close(self):
        self.to.close()


if __name__ == "__main__":
    main(Sqlite, journal_mode="wal, delete …", synchronous="full, normal, off", cache_kib="of memory for pages")
