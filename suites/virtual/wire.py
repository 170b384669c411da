"""What an instrument prints: an event on a line."""

import json
import time


def emit(event, **fields):
    print(json.dumps({"event": event, **fields}, separators=(",", ":")), flush=True)


def mark(kind, label):
    """Marks this moment, and gives it."""
    now = time.monotonic_ns()
    emit("mark", t_ns=now, kind=kind, label=label)
    return now
