"""WebSocket servers of PyPI's `websockets`, for WebSocketInteropTests: echoes over ws and wss, with and without compression.

Usage: sockets.py FOLDER     FOLDER contains good.pem and good.key
Prints the ports as JSON, and exits at the end of its standard input."""
import asyncio
import json
import ssl
import sys

import websockets
from websockets.asyncio.server import serve


async def echo(socket):
    async for message in socket:
        if message == "close":
            await socket.close(4001, "as asked")
            return
        if message == "headers":
            message = json.dumps(dict(socket.request.headers.raw_items()))
        if message == "zeros":
            message = "0" * 900_000
        await socket.send(message)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1] + "/good.pem", sys.argv[1] + "/good.key")
    options = {"max_size": 1 << 24, "subprotocols": ["chat"], "ping_interval": None}
    plain = await serve(echo, "127.0.0.1", 0, compression=None, **options)
    deflate = await serve(echo, "127.0.0.1", 0, compression="deflate", **options)
    secure = await serve(echo, "127.0.0.1", 0, compression="deflate", ssl=context, **options)
    ports = {n: s.sockets[0].getsockname()[1] for n, s in [("ws", plain), ("deflate", deflate), ("wss", secure)]}
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
