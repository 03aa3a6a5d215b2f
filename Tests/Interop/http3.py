"""A server on one port of 127.0.0.1: HTTP/3 over UDP with aioquic, and HTTP/1.1 over TLS and TCP, which advertises HTTP/3 with
Alt-Svc.

Usage: http3.py CERTIFICATE KEY. Prints its port, and a line for each request. Each response contains the version, method, path
and body size of its request: "HTTP/3 POST /path 4". Over TCP, /plain has no Alt-Svc field, /clear clears it, and every
connection is closed after its response.
"""

import asyncio
import ssl
import sys

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated

certificate, key = sys.argv[1:3]


def text(version, method, path, size):
    line = f"HTTP/{version} {method} {path} {size}"
    print(line, flush=True)
    return line.encode()


class OverQUIC(QuicConnectionProtocol):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.http = None
        self.requests = {}

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        for part in self.http.handle_event(event) if self.http else []:
            if isinstance(part, HeadersReceived):
                self.requests[part.stream_id] = [dict(part.headers), 0]
            elif isinstance(part, DataReceived):
                self.requests[part.stream_id][1] += len(part.data)
            if isinstance(part, (HeadersReceived, DataReceived)) and part.stream_ended:
                fields, size = self.requests.pop(part.stream_id)
                body = text(3, fields[b":method"].decode(), fields[b":path"].decode(), size)
                self.http.send_headers(part.stream_id, [(b":status", b"200"), (b"server", b"aioquic")])
                self.http.send_data(part.stream_id, body, end_stream=True)
                self.transmit()


async def over_tcp(reader, writer, port):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ")
        length = sum(int(line.split(":")[1]) for line in head if line.lower().startswith("content-length:"))
        await reader.readexactly(length)
        body = text("1.1", method, path, length)
        service = {"/plain": "", "/clear": "Alt-Svc: clear\r\n"}.get(path, f'Alt-Svc: h3=":{port}"; ma=60\r\n')
        writer.write(f"HTTP/1.1 200 OK\r\n{service}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda r, w: over_tcp(r, w, port), "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(certificate, key)
    await serve("127.0.0.1", port, configuration=configuration, create_protocol=OverQUIC)
    print(port, flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
