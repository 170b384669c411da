"""Redis, or what speaks its protocol: each document a string. No full text."""

import socket

from measure import EngineError, main

BATCH = 1000


class Redis:
    def __init__(self, arguments):
        self.arguments = arguments

    def open(self):
        self.to = socket.create_connection(("127.0.0.1", int(self.arguments.port)))
        self.to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.to.makefile("rb", buffering=1 << 16)
        with open(f"{self.arguments.directory}/password") as password:
            self.ask("AUTH", password.read().strip())

    @staticmethod
    def command(*words):
        parts = [f"*{len(words)}\r\n".encode()]
        for word in words:
            word = str(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
        return b"".join(parts)

    def answer(self):
        line = self.answers.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            length = int(rest)
            return None if length < 0 else self.answers.read(length + 2)[:-2].decode()
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest.decode()
        raise EngineError(rest.decode() if kind == b"-" else "the connection was closed")

    def ask(self, *words):
        self.to.sendall(self.command(*words))
        return self.answer()

    def ask_all(self, commands):
        self.to.sendall(b"".join(commands))
        for _ in commands:
            self.answer()

    def info(self, wanted):
        return dict(line.split(":", 1) for line in self.ask("INFO", "server").split("\r\n") if ":" in line)[wanted]

    def version(self):
        return self.info("redis_version")

    def create(self):
        self.ask("FLUSHALL")

    def load(self, texts):
        for at in range(0, len(texts), BATCH):
            batch = enumerate(texts[at : at + BATCH], at)
            self.ask_all([self.command("SET", number, text) for number, text in batch])

    def count(self):
        return self.ask("DBSIZE")

    def read(self, number):
        return self.ask("GET", number)

    def update(self, pairs):
        if len(pairs) == 1:
            self.ask("SET", *pairs[0])
        else:
            self.ask_all([self.command("SET", number, text) for number, text in pairs])

    def remove(self, number):
        self.ask("DEL", number)

    def process(self):
        return int(self.info("process_id"))

    def stop(self):
        self.to.sendall(self.command("SHUTDOWN", "SAVE"))
        # It answers only if it cannot.
        if line := self.answers.readline():
            raise EngineError(line.decode().strip())

    def close(self):
        self.to.close()


if __name__ == "__main__":
    main(Redis, port="on 127.0.0.1")
