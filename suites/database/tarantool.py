"""Tarantool, by its binary protocol: each document a tuple of number and text. No full text."""

import base64
import hashlib
import socket
import struct

from measure import EngineError, main

SELECT, REPLACE, DELETE, AUTHENTICATE, EVALUATE = 1, 3, 5, 7, 8
TYPE, SYNC, SPACE, INDEX, LIMIT, OFFSET, ITERATOR, KEY, TUPLE, USER, EXPRESSION, DATA, ERROR = (
    0x00, 0x01, 0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x21, 0x23, 0x27, 0x30, 0x31,
)
DOCUMENT = 512
BATCH = 1000


def pack(value):
    """As MessagePack."""
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xce" + struct.pack(">I", value)
    if isinstance(value, (str, bytes)):
        value = value.encode() if isinstance(value, str) else value
        return b"\xdb" + struct.pack(">I", len(value)) + value
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(one) for pair in value.items() for one in pair)
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def unpack(data, at=0):
    """A value from MessagePack, and where the next one begins."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 256, at
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    if kind in NUMBERS:
        return struct.unpack_from(NUMBERS[kind], data, at)[0], at + struct.calcsize(NUMBERS[kind])
    if kind in LENGTHS:
        (length,), at = struct.unpack_from(LENGTHS[kind], data, at), at + struct.calcsize(LENGTHS[kind])
    else:
        length = kind & (0x1F if 0xA0 <= kind < 0xC0 else 0x0F)
    if 0xA0 <= kind < 0xC0 or 0xD9 <= kind <= 0xDB:
        return data[at : at + length].decode(), at + length
    if 0xC4 <= kind <= 0xC6:
        return data[at : at + length], at + length
    values = []
    is_map = kind < 0x90 or kind in (0xDE, 0xDF)
    for _ in range(2 * length if is_map else length):
        value, at = unpack(data, at)
        values.append(value)
    return dict(zip(values[::2], values[1::2])) if is_map else values, at


class Tarantool:
    def __init__(self, arguments):
        self.arguments = arguments

    def open(self):
        self.to = socket.create_connection(("127.0.0.1", int(self.arguments.port)))
        self.to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.to.makefile("rb", buffering=1 << 16)
        salt = base64.b64decode(self.answers.read(128)[64:108])[:20]
        with open(f"{self.arguments.directory}/password", "rb") as password:
            once = hashlib.sha1(password.read().strip()).digest()
        mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
        proof = bytes(a ^ b for a, b in zip(once, mask))
        self.ask(AUTHENTICATE, {USER: "stend", TUPLE: ["chap-sha1", proof]})

    @staticmethod
    def request(kind, body):
        content = pack({TYPE: kind, SYNC: 0}) + pack(body)
        return b"\xce" + struct.pack(">I", len(content)) + content

    def answer(self):
        length = self.answers.read(5)
        if len(length) < 5:
            raise EngineError("the connection was closed")
        data = self.answers.read(struct.unpack(">I", length[1:])[0])
        _, at = unpack(data)
        body = unpack(data, at)[0] if at < len(data) else {}
        if ERROR in body:
            raise EngineError(body[ERROR])
        return body.get(DATA)

    def ask(self, kind, body):
        self.to.sendall(self.request(kind, body))
        return self.answer()

    def evaluate(self, expression):
        return self.ask(EVALUATE, {EXPRESSION: expression, TUPLE: []})[0]

    def version(self):
        return self.evaluate("return box.info.version")

    def create(self):
        self.evaluate("return box.space.document:truncate() or true")

    def load(self, texts):
        for at in range(0, len(texts), BATCH):
            self.update(list(enumerate(texts[at : at + BATCH], at)))

    def count(self):
        return self.evaluate("return box.space.document:len()")

    def read(self, number):
        body = {SPACE: DOCUMENT, INDEX: 0, LIMIT: 1, OFFSET: 0, ITERATOR: 0, KEY: [number]}
        return self.ask(SELECT, body)[0][1]

    def update(self, pairs):
        self.to.sendall(b"".join(self.request(REPLACE, {SPACE: DOCUMENT, TUPLE: pair}) for pair in pairs))
        for _ in pairs:
            self.answer()

    def remove(self, number):
        self.ask(DELETE, {SPACE: DOCUMENT, INDEX: 0, KEY: [number]})

    def process(self):
        return self.evaluate("return box.info.pid")

    def stop(self):
        self.evaluate("return box.snapshot()")
        self.to.sendall(self.request(EVALUATE, {EXPRESSION: "os.exit(0)", TUPLE: []}))

    def close(self):
        self.to.close()


if __name__ == "__main__":
    main(Tarantool, port="on 127.0.0.1")
