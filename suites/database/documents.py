"""Documents of words as in natural text: the word of rank r is r times as rare as the first one (Zipf).

Each document is made from its number alone, by integers and BLAKE2, so it is the same on every machine, in any order.
"""

import hashlib
import struct

VOCABULARY = 5000
WORDS = 20
SEED = 2021
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


def word(rank):
    """The word of this rank, from 1: six letters that no language of a search engine stems or leaves out."""
    syllables = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
    number = rank * 68917 % len(syllables) ** 3
    return "".join(syllables[number // len(syllables) ** place % len(syllables)] for place in range(3))


def ranks():
    """The rank for each of 65,536 equally likely numbers."""
    weights = [2**32 // rank for rank in range(1, VOCABULARY + 1)]
    total, table, reached = sum(weights), [], 0
    for rank, weight in enumerate(weights, 1):
        reached += weight
        table += [rank] * (reached * 65536 // total - len(table))
    return table


RANKS = ranks()
WORD = [None] + [word(rank) for rank in range(1, VOCABULARY + 1)]
_WORDS = [WORD[rank] for rank in RANKS]
_FORMAT = struct.Struct(f"<{WORDS}H")


def _numbers(number):
    seed = b"%d %d" % (SEED, number)
    return _FORMAT.unpack(hashlib.blake2b(seed, digest_size=_FORMAT.size).digest())


def ranks_of(number):
    """The ranks of the words of a document."""
    return [RANKS[at] for at in _numbers(number)]


def text(number, updated=False):
    """The text of a document. An update puts its first word last, so what a search finds stays the same."""
    words = [_WORDS[at] for at in _numbers(number)]
    return " ".join(words[1:] + words[:1] if updated else words)


def digest(texts):
    """The SHA-256 of texts, a line each."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()


def counts(documents, queries):
    """How many documents have all words of each query, which is a tuple of ranks in ascending order."""
    found = dict.fromkeys(queries, 0)
    wanted = {rank for query in queries for rank in query}
    of_one = {query[0] for query in queries if len(query) == 1}
    pairs = {query for query in queries if len(query) == 2}
    for number in range(documents):
        has = sorted(wanted.intersection(ranks_of(number)))
        for at, rank in enumerate(has):
            if rank in of_one:
                found[(rank,)] += 1
            for other in has[at + 1 :] if pairs else ():
                if (rank, other) in pairs:
                    found[(rank, other)] += 1
    return found
