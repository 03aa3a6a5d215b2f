"""Evaluates one check: expect.py WORK LOG_LINES_BEFORE EXIT EXPECTED_EXIT EXPRESSION."""

import base64
import json
import pathlib
import sys
import time

work = pathlib.Path(sys.argv[1])
before, code, expected = (int(text) for text in sys.argv[2:5])
expression = sys.argv[5]
raw = (work / "out").read_bytes()
err = (work / "err").read_text(errors="replace")


def log():
    """Returns the lines that nginx has logged since the check began, as a dictionary per request."""
    # nginx writes its line after the last byte, possibly after the client has read the response.
    for _ in range(20):
        lines = (work / "access.log").read_text().splitlines()[before:]
        if lines:
            break
        time.sleep(0.1)
    time.sleep(0.1)
    lines = (work / "access.log").read_text().splitlines()[before:]
    return [json.loads(line) for line in lines]


def fixture(name):
    return json.loads((work / "root" / name).read_text(encoding="utf-8"))


def upload():
    return (work / "upload").read_bytes()


def lines():
    try:
        return [json.loads(line) for line in raw.decode().splitlines()]
    except ValueError:
        return []


all_results = lines()
r = all_results[0] if all_results and isinstance(all_results[0], dict) else {}
names = {
    "r": r, "results": all_results, "raw": raw, "err": err, "log": log, "fixture": fixture, "upload": upload,
    "body": r.get("body"), "error": r.get("error", {}), "base64": base64, "json": json,
    "each": lambda values, test: bool(values) and len(values) == sum(1 for value in values if test(value)),
}
try:
    holds = bool(eval(f"({expression})", names))
    note = ""
except Exception as exception:  # the response lacks a value that the expression reads
    holds, note = False, f" ({type(exception).__name__}: {exception})"
if code == expected and holds:
    sys.exit(0)
print(f"exit code {code}, expected {expected}" if code != expected else f"does not hold: {expression}{note}")
print(f"out: {raw[:600]!r}")
print(f"err: {err[:600]!r}")
sys.exit(1)
