"""Echo server and client with PyPI's `websockets`, for comparison.

sockets.py serve            echoes, and prints its URL
sockets.py URL [MESSAGES]   measures this client
sockets.py compare PROGRAM [--rounds N] [--messages N] [--json FILE]
                            measures SocketBenchmarks, its C loop and this client in turn, with a server of this file, and
                            prints medians"""
import argparse
import asyncio
import json
import re
import resource
import statistics
import subprocess
import sys
import time

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def run_server():
    server = await serve(echo, "127.0.0.1", 0, compression=None, max_size=1 << 24, ping_interval=None)
    print(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await server.wait_closed()


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def measure(url, name, size, count, pipelined):
    async with connect(url, compression=None, max_size=1 << 24, ping_interval=None) as socket:
        message = b"x" * size if pipelined else "x" * size
        start, before = time.monotonic(), cpu()
        if pipelined:
            async def send():
                for _ in range(count):
                    await socket.send(message)
            sending = asyncio.create_task(send())
            for _ in range(count):
                await socket.recv()
            await sending
        else:
            for _ in range(count):
                await socket.send(message)
                await socket.recv()
        seconds, used = time.monotonic() - start, cpu() - before
    rate = count / seconds
    print(f"{name:24} {rate:.0f} messages/s, {used / count * 1e6:.1f} µs CPU each, {rate * size * 2 / 1e6:.1f} MB/s both ways")


async def run_client(url, count):
    for size in [100, 1024, 65536]:
        await measure(url, f"round trip, {size} B", size, count, False)
    for size in [100, 1024]:
        await measure(url, f"pipelined, {size} B", size, count * 5, True)
    await measure(url, "pipelined, 1 MB", 1_000_000, 200, True)


def compare(program, rounds, count, file):
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            ours = [program, "--url", url, "--messages", str(count)]
            clients = {"C loop": ours + ["--c"], "NetLayer": ours,
                       "websockets": [sys.executable, __file__, url, str(count)]}
            measured = {}
            for _ in range(rounds):
                for client, command in clients.items():
                    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    for name, rate, cpu in re.findall(r"^(.+?) +(\d+) messages/s, ([\d.]+) µs", output, re.M):
                        measured.setdefault(name, {}).setdefault(client, []).append((int(rate), float(cpu)))
        finally:
            server.terminate()
    rows = []
    for name, of in measured.items():
        row = {"name": name, "unit": "messages/s", "clients": {
            client: {"messagesPerSecond": statistics.median(r for r, _ in of[client]),
                     "cpuMicros": statistics.median(u for _, u in of[client])} for client in clients}}
        row["ratio"] = statistics.median(a / b for (a, _), (b, _) in zip(of["NetLayer"], of["websockets"]))
        rows.append(row)
        print(f"{name:24}" + ", ".join(
            f"{client} {it['messagesPerSecond']:,.0f}/s at {it['cpuMicros']:,.1f} µs" for client, it in row["clients"].items())
            + f", NetLayer / websockets {row['ratio']:.2f}")
    if file:
        with open(file, "w") as output:
            json.dump({"rows": rows}, output)


if sys.argv[1] == "serve":
    asyncio.run(run_server())
elif sys.argv[1] == "compare":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--json")
    options = parser.parse_args(sys.argv[2:])
    compare(options.program, options.rounds, options.messages, options.json)
else:
    asyncio.run(run_client(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000))
