#!/usr/bin/env python3
"""Record real repeats of four small loads on this machine, as test data for the verdict rule.

    python3 record-noise.py [REPEATS] > recorded-noise.json

The loads take about 50 ms each (their size is found first), they are timed by the
monotonic clock from outside, and they run round robin, so that all four see the same
disturbances. Nothing is discarded except one warm-up of each. Python's standard library only.

Format: a JSON list of {"scenario": name, "values": [..]}, one entry a scenario, values in
the order recorded, all positive and finite. Further keys ("unit", "command", "machine",
"recorded") are for people; readers skip them.
"""
import json, os, platform, random, subprocess, sys, tempfile, time

TARGET_S = 0.05


def timed(argv, source):
    with open(source, "rb") as stdin:
        start = time.monotonic_ns()
        subprocess.run(argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True, env={**os.environ, "LC_ALL": "C"})
        return (time.monotonic_ns() - start) / 1e9


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rng = random.Random(20261121)
    words = ["".join(rng.choice("abcdefghijklmnop") for _ in range(8)) for _ in range(400)]
    commands = {
        "openssl-sha256": ["openssl", "dgst", "-sha256"],
        "gzip-6": ["gzip", "-6", "-c"],
        "sort": ["sort"],
        "dd-4k": ["dd", "of=/dev/null", "bs=4k"],
    }
    with tempfile.TemporaryDirectory() as folder:
        loads = []
        for name, argv in commands.items():
            path, lines = os.path.join(folder, name), 2000
            while True:  # double the input until one run takes about the target
                with open(path, "w") as out:
                    for _ in range(lines):
                        out.write(rng.choice(words) + " " + rng.choice(words) + "\n")
                best = min(timed(argv, path) for _ in range(3))
                if best > TARGET_S * 0.7 or lines > 6_000_000:
                    break
                lines *= 2
            loads.append((name, argv, path, os.path.getsize(path), []))
        for _ in range(repeats):
            for name, argv, path, size, values in loads:
                values.append(timed(argv, path))
        machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
        today = time.strftime("%Y-%m-%d", time.gmtime())
        rows = [json.dumps({"scenario": name, "unit": "s", "command": " ".join(argv), "input_bytes": size,
                            "machine": machine, "recorded": today, "values": values})
                for name, argv, path, size, values in loads]
        print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    main()
