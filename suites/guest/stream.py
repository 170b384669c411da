"""Streams bytes to a sink by TCP for some time. The sink compares each byte, and its answer ends the time."""

import argparse
import hashlib
import json
import socket
import sys
import time

# The sink has the same.
BLOCK = hashlib.shake_256(b"stend").digest(1 << 20)
# What takes longer has failed, in seconds.
LONGEST = 60


def emit(event, **fields):
    print(json.dumps({"event": event, **fields}, separators=(",", ":")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    emit("begin", wire=1, instrument="stream", parameters={"seconds": arguments.seconds, "block": len(BLOCK)})
    try:
        with socket.create_connection((arguments.address, arguments.port), LONGEST) as connection:
            began, sent = time.monotonic_ns(), 0
            while time.monotonic_ns() - began < arguments.seconds * 1e9:
                connection.sendall(BLOCK)
                sent += len(BLOCK)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(100)
            wall = time.monotonic_ns() - began
    except OSError as error:
        sys.exit(f"stream: {error}")
    right = int(answer or 0)
    emit(
        "repeat",
        t_ns=began,
        wall_ns=wall,
        work={"bytes": sent},
        check="passed" if right == sent else "failed",
        evidence=f"{right} of {sent} bytes arrived as they were sent",
    )
    emit("end", repeats=1)


main()
