#!/usr/bin/env python3
"""Writes generated.txt, from a fixed seed, with the model: generate.py > generated.txt."""

import random
import sys
import model
from check import Stanza, compute, write

HEAD = """\
# Vectors of the model in model.py, made by generate.py from a fixed seed; the format is that of published.txt.
# Edge lengths in every mode, registers of several blocks, small ACPKM sections, and MGM with nonces whose counters
# run over: the carry goes through each byte of a half, and past its end.
#
# Implementations of other people agree, each on what it has:
"""

# Who agrees, and on what; written by hand after running them.
AGREED = """\
# - RustCrypto's crates kuznyechik 0.8 and magma 0.9 with cbc 0.1, cfb-mode 0.8, ofb 0.6, ctr 0.9 and cmac 0.7, and
#   kuznyechik 0.7 and magma 0.7 with mgm 0.4: all cases but those of mac-acpkm. A register of z blocks was taken as z
#   streams, and ctr-acpkm as a new ctr for each section.
# - gost-engine 3.0.1: all cases but Magma's of ecb, cfb, ofb and mac-acpkm, those of mgm, and registers of more than one
#   block, all of which it has not.
"""

source = random.Random("kuzma")


def stanza(make, mode, **inputs):
    case = Stanza(make.name, mode)
    for name, value in inputs.items():
        case[name.replace("_", "-")] = value
    outputs, inverted = compute(case)
    if not inverted:
        raise ValueError(f"{make.name} {mode} does not invert")
    case.update(outputs)
    return case


def bytes_of(count):
    return source.randbytes(count)


def lengths(block):
    """Around blocks, around bytes' ends, and past the batches of wide kernels."""
    few = {0, 1, block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1, 3 * block, 5 * block + 3}
    return sorted(few | {7 * block + 5, 8 * block, 15 * block, 16 * block + 1, 255, 256, 257, 64 * block + 9})


def block_counts():
    return 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 69


def simple_modes(make):
    block = make.block
    for count in block_counts():
        yield stanza(make, "ecb", key=bytes_of(32), plain=bytes_of(count * block))
    for i, count in enumerate(block_counts()):
        yield stanza(make, "cbc", key=bytes_of(32), iv=bytes_of(block * (1 + i % 4)), plain=bytes_of(count * block))
    for mode in "ofb", "cfb":
        for i, length in enumerate(lengths(block)):
            yield stanza(make, mode, key=bytes_of(32), iv=bytes_of(block * (1 + i % 3)), plain=bytes_of(length))
    for length in lengths(block):
        yield stanza(make, "ctr", key=bytes_of(32), iv=bytes_of(block // 2), plain=bytes_of(length))
    # The half that counts starts at 0, so that a carry into its second byte is as far as it goes here.
    yield stanza(make, "ctr", key=bytes_of(32), iv=b"\xff" * (block // 2), plain=bytes(258 * block))
    for length in lengths(block):
        yield stanza(make, "mac", key=bytes_of(32), plain=bytes_of(length))


def long_messages(make):
    """Past the largest batches that kernels take at once, 512 blocks of Magma, and on into what is left."""
    blocks = 6500 // make.block
    yield stanza(make, "ecb", key=bytes_of(32), plain=bytes_of(blocks * make.block))
    yield stanza(make, "cbc", key=bytes_of(32), iv=bytes_of(make.block), plain=bytes_of(blocks * make.block))
    yield stanza(make, "ctr", key=bytes_of(32), iv=bytes_of(make.block // 2), plain=bytes_of(blocks * make.block + 3))


def doubling(make):
    """MACs for each case of the two doublings of E(0): with and without reduction."""
    seen = set()
    while len(seen) < 4:
        key = bytes_of(32)
        top = make(key).encrypt(bytes(make.block))[0] >> 6
        if top not in seen:
            seen.add(top)
            for length in make.block, make.block + 1:
                yield stanza(make, "mac", key=key, plain=bytes_of(length))


def rekeying(make):
    block = make.block
    for section in block, 2 * block, 5 * block, 16 * block:
        for length in 0, 1, section - 1, section, section + 1, 2 * section, 3 * section + block // 2, 5 * section + 1:
            yield stanza(make, "ctr-acpkm", key=bytes_of(32), iv=bytes_of(block // 2), section=section,
                         plain=bytes_of(length))
    size = 32 + block
    for section, key_section in (block, size), (2 * block, 2 * size), (3 * block, size), (16 * block, 3 * size):
        for length in 0, 1, section - 1, section, section + 1, 2 * section, 3 * section + block // 2, 5 * section + 1:
            yield stanza(make, "mac-acpkm", key=bytes_of(32), section=section, key_section=key_section,
                         plain=bytes_of(length))


def mgm(make, ad, plain, key=None, nonce=None):
    if nonce is None:
        nonce = bytes_of(make.block)
        nonce = bytes([nonce[0] & 0x7F]) + nonce[1:]
    return stanza(make, "mgm", key=key or bytes_of(32), iv=nonce, ad=bytes_of(ad), plain=bytes_of(plain))


def key_and_nonce(make, counter_of, top):
    """A key and a nonce that give the counter `counter_of()`, a block that E makes of the nonce and the bit `top`."""
    while True:
        key = bytes_of(32)
        before = make(key).decrypt(counter_of())
        if before[0] >> 7 == top:
            return key, bytes([before[0] & 0x7F]) + before[1:]


def authenticated(make):
    block, half = make.block, make.block // 2
    texts = [0, 1, block - 1, block, block + 1, 3 * block + 2]
    for ad in texts:
        for plain in texts:
            if ad or plain:
                yield mgm(make, ad, plain)
    for ad, plain in (255, 256), (256, 255), (64 * block + 1, 5), (7, 64 * block + 1), (1000, 0), (0, 1000):
        yield mgm(make, ad, plain)
    yield mgm(make, 20 * block, 20 * block, nonce=bytes(block))
    yield mgm(make, 20 * block, 20 * block, nonce=b"\x7f" + b"\xff" * (block - 1))
    # Counters that end in 1 ... half bytes of ones, less some blocks: the last of these carries past the half's end.
    for ones in range(1, half + 1):
        def ending():
            start = bytes_of(half - ones) + b"\xff" * (ones - 1) + bytes([0xFF - source.randrange(8)])
            if ones < half and start[half - ones - 1] == 0xFF:
                start = start[:half - ones - 1] + b"\x5c" + start[half - ones:]
            return start
        key, nonce = key_and_nonce(make, lambda: bytes_of(half) + ending(), 0)
        yield mgm(make, block, 17 * block + 3, key, nonce)
        key, nonce = key_and_nonce(make, lambda: ending() + bytes_of(half), 1)
        yield mgm(make, 9 * block, 8 * block + 3, key, nonce)
    # The carry past the end inside longer runs, where wide kernels count many blocks at once.
    for before in 3, 16, 40, 63:
        run = (256**half - before).to_bytes(half, "big")
        key, nonce = key_and_nonce(make, lambda: bytes_of(half) + run, 0)
        yield mgm(make, 3, 70 * block, key, nonce)
        key, nonce = key_and_nonce(make, lambda: run + bytes_of(half), 1)
        yield mgm(make, 70 * block, 3, key, nonce)


if __name__ == "__main__":
    sys.stdout.write(HEAD + AGREED)
    for make in model.Kuznyechik, model.Magma:
        for part in simple_modes, doubling, rekeying, authenticated, long_messages:
            for case in part(make):
                write(case, sys.stdout)
