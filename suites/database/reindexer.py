"""Reindexer, in this process: each document an item with a hash key and a full-text field. Typos, word forms and other guesses are off, so that it finds
what the others find."""

import os
import shutil
from importlib.metadata import version

from measure import EngineError, main
from pyreindexer import RxConnector
from pyreindexer.exceptions import ApiError
from pyreindexer.query import CondType

EXACT = {
    "enable_translit": False,
    "enable_kb_layout": False,
    "enable_numbers_search": False,
    "stemmers": [],
    "stop_words": [],
    "max_typos": 0,
    # Of more documents than this with one word it looks at no others.
    "merge_limit": 65_000,
}
INDEXES = [
    {"name": "number", "json_paths": ["number"], "field_type": "int", "index_type": "hash", "is_pk": True},
    {"name": "text", "json_paths": ["text"], "field_type": "string", "index_type": "text", "config": EXACT},
]
BATCH = 10_000


class Reindexer:
    def __init__(self, arguments):
        self.path = os.path.join(arguments.directory, "documents")

    def open(self):
        try:
            self.to = RxConnector(f"builtin://{self.path}")
            self.to.namespace_open("document")
        except ApiError as error:
            raise EngineError(error) from None

    @staticmethod
    def version():
        return version("pyreindexer")

    def create(self):
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)
        self.open()
        for index in INDEXES:
            self.to.index_add("document", index)

    def load(self, texts):
        for at in range(0, len(texts), BATCH):
            self.update(list(enumerate(texts[at : at + BATCH], at)))
        # The words are indexed when they are asked for.
        self.find(texts[0].split()[:1])

    def query(self):
        return self.to.new_query("document")

    def count(self):
        return self.query().limit(0).request_total().execute().total_count()

    def read(self, number):
        for item in self.query().where("number", CondType.CondEq, number).execute():
            return item["text"]

    def update(self, pairs):
        if len(pairs) == 1:
            self.to.item_upsert("document", dict(zip(("number", "text"), pairs[0])))
            return
        transaction = self.to.new_transaction("document")
        for number, text in pairs:
            transaction.upsert({"number": number, "text": text})
        transaction.commit()

    def remove(self, number):
        self.to.item_delete("document", {"number": number})

    def find(self, words):
        query = " ".join(f"+={word}" for word in words) if len(words) > 1 else f"={words[0]}"
        found = self.query().match("text", query).select_fields("number").limit(10).request_total().execute()
        return found.total_count(), [item["number"] for item in found]

    def close(self):
        self.to.close()


if __name__ == "__main__":
    main(Reindexer)
