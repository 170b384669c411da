#!/usr/bin/env python3
"""Checks vector files against the model: check.py FILE.... The format is described at the head of published.txt."""

import sys
import model

NUMBERS = "section", "key-section"
# What each mode gives for what; the model computes the former from the latter.
OUTPUTS = "coded", "tag", "output"


class Stanza(dict):
    """name: bytes or number; and where it stands."""

    def __init__(self, cipher, mode, line=0):
        super().__init__()
        self.cipher, self.mode, self.line = cipher, mode, line


def read(path):
    stanzas, name = [], None
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith("["):
                cipher, mode = line.strip("[]\n").split()
                stanzas.append(Stanza(cipher, mode, number))
            elif line.startswith(" "):
                stanzas[-1][name] += bytes.fromhex(line)
            else:
                name, value = (part.strip() for part in line.split("=", 1))
                if name in stanzas[-1]:
                    raise ValueError(f"{path}:{number}: {name} twice")
                if name == "source":
                    stanzas[-1][name] = value
                elif name in NUMBERS:
                    stanzas[-1][name] = int(value)
                else:
                    stanzas[-1][name] = bytes.fromhex(value)
    return stanzas


def write(stanza, file):
    file.write(f"\n[{stanza.cipher} {stanza.mode}]\n")
    for name, value in stanza.items():
        lines = [value.hex()[at:at + 96] for at in range(0, 2 * len(value), 96)] if isinstance(value, bytes) else [value]
        if len(lines) > 1:
            file.write(f"{name} =\n" + "".join(f"  {line}\n" for line in lines))
        else:
            file.write(f"{name} = {lines[0] if lines else ''}".rstrip() + "\n")


def compute(stanza):
    """The outputs by the model, and whether decryption gives the input back."""
    v, mode, make = stanza, stanza.mode, model.CIPHERS[stanza.cipher]
    cipher = make(v["key"]) if "key" in v else None
    if mode == "ecb":
        coded = model.ecb_encrypt(cipher, v["plain"])
        return {"coded": coded}, model.ecb_decrypt(cipher, coded) == v["plain"]
    if mode == "ctr":
        coded = model.ctr(cipher, v["iv"], v["plain"])
        return {"coded": coded}, model.ctr(cipher, v["iv"], coded) == v["plain"]
    if mode == "ofb":
        coded = model.ofb(cipher, v["iv"], v["plain"])
        return {"coded": coded}, model.ofb(cipher, v["iv"], coded) == v["plain"]
    if mode == "cbc":
        coded = model.cbc_encrypt(cipher, v["iv"], v["plain"])
        return {"coded": coded}, model.cbc_decrypt(cipher, v["iv"], coded) == v["plain"]
    if mode == "cfb":
        coded = model.cfb_encrypt(cipher, v["iv"], v["plain"])
        return {"coded": coded}, model.cfb_decrypt(cipher, v["iv"], coded) == v["plain"]
    if mode == "mac":
        return {"tag": model.mac(cipher, v["plain"])}, True
    if mode == "ctr-acpkm":
        coded = model.ctr_acpkm(make, v["key"], v["iv"], v["section"], v["plain"])
        return {"coded": coded}, model.ctr_acpkm(make, v["key"], v["iv"], v["section"], coded) == v["plain"]
    if mode == "mac-acpkm":
        return {"tag": model.mac_acpkm(make, v["key"], v["section"], v["key-section"], v["plain"])}, True
    if mode == "mgm":
        coded, tag = model.mgm(cipher, v["iv"], v["ad"], v["plain"])
        return {"coded": coded, "tag": tag}, True
    if mode == "acpkm":
        return {"output": model.acpkm(make, v["key"])}, True
    if mode == "multilinear":
        return {"output": model.multilinear(model.pieces(v["h"], make.block), v["input"], make.block)}, True
    if mode == "round-keys":
        keys = cipher.round_keys
        return {"output": b"".join(k if isinstance(k, bytes) else k.to_bytes(4, "big") for k in keys)}, True
    if mode == "s":
        return {"output": make.s(v["input"])}, make.s_inverse(v["output"]) == v["input"]
    if mode == "r":
        return {"output": make.r(v["input"])}, True
    if mode == "l":
        return {"output": make.l(v["input"])}, make.l_inverse(v["output"]) == v["input"]
    if mode == "t":
        return {"output": make.t(int.from_bytes(v["input"], "big")).to_bytes(4, "big")}, True
    if mode == "g":
        word = make.g(int.from_bytes(v["round-key"], "big"), int.from_bytes(v["input"], "big"))
        return {"output": word.to_bytes(4, "big")}, True
    raise ValueError(f"unknown mode {mode}")


def matches(stanza):
    outputs, inverted = compute(stanza)
    for name in OUTPUTS:
        # A tag may be cut to its first bytes.
        expected = outputs.get(name, b"")[:len(stanza[name])] if name == "tag" and name in stanza else outputs.get(name)
        if stanza.get(name) != expected:
            return False
    return inverted


if __name__ == "__main__":
    passed = failed = 0
    for path in sys.argv[1:]:
        for stanza in read(path):
            if matches(stanza):
                passed += 1
            else:
                failed += 1
                print(f"{path}:{stanza.line}: [{stanza.cipher} {stanza.mode}] differs from the model", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
