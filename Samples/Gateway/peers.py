"""The peers of the gateway in its checks: upstreams whose behavior a check sets, clients, and the process of the gateway."""
import asyncio, json, os, pathlib, random, re, signal, struct, subprocess, tempfile, time


async def until(condition, what, seconds=20):
    """Waits until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"after {seconds} s, not yet: {what}"
        await asyncio.sleep(0.002)


class Call:
    """A request as an upstream sees it."""

    def __init__(self, path, headers):
        self.path, self.headers = path, headers
        self.arrived = time.monotonic()
        self.closed = self.responded = None


class Upstream(asyncio.Protocol):
    """A connection to an upstream; the class method `start` returns the upstream."""

    def __init__(self, service):
        self.service, self.buffer, self.call, self.timer = service, b"", None, None

    def connection_made(self, transport):
        self.transport = transport
        self.service.connections.add(self)

    def connection_lost(self, error):
        self.service.connections.discard(self)
        if self.timer:
            self.timer.cancel()
        if self.call and not self.call.responded:
            self.call.closed = time.monotonic()

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            first, *fields = head.decode().split("\r\n")
            headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
            self.call = Call(first.split()[1], headers)
            self.service.calls.append(self.call)
            delay = self.service.wait()
            if delay:
                self.timer = asyncio.get_running_loop().call_later(delay, self.respond)
            else:
                self.respond()

    def respond(self):
        status, headers, body = self.service.response(self.call)
        if status is None:
            return self.transport.abort()
        text = json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(text)}"] + headers
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + text)
        self.call.responded, self.call.status = time.monotonic(), status


class Service:
    """An upstream with settings for its behavior."""

    def __init__(self, name, body):
        self.name, self.body, self.port, self.server = name, body, 0, None
        self.connections = set()
        self.reset()

    def reset(self):
        self.calls, self.delay, self.headers = [], 0, []
        # Requests per second, one after the other, also those whose clients have left; 0 for no limit.
        self.rate, self.busy = 0, 0
        self.faults = 0  # the share of calls that fail: half with 503, half with a closed connection

    def wait(self):
        """Returns the time until the response to a request that arrives now."""
        if not self.rate:
            return self.delay
        now = time.monotonic()
        self.busy = max(self.busy, now) + 1 / self.rate
        return self.busy - now

    async def start(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Upstream(self), "127.0.0.1", self.port, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self):
        self.server.close()
        for connection in list(self.connections):
            connection.transport.abort()
        await self.server.wait_closed()

    def response(self, call):
        if random.random() < self.faults:
            return (503, [], {}) if random.random() < 0.5 else (None, [], {})
        return 200, self.headers, self.body(int(call.path.rsplit("/", 1)[1]))


class Gone(Exception):
    """The connection ended before the first byte of a response."""


class Client:
    """A connection to the gateway."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    def send(self, path, headers={}):
        lines = [f"GET {path} HTTP/1.1", "Host: gateway"] + [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def receive(self):
        """Returns status, header fields and body."""
        try:
            head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 30)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            assert not getattr(error, "partial", b""), "a response was truncated in its head"
            raise Gone from None
        first, *fields = head.decode().strip().split("\r\n")
        headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split()[1]), headers, body.decode()

    async def get(self, path, headers={}):
        self.send(path, headers)
        return await self.receive()

    def leave(self, by_reset=False):
        if by_reset:
            sock = self.writer.get_extra_info("socket")
            sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SOL_SOCKET, SO_LINGER: close sends RST
        self.writer.transport.abort()


class Gateway:
    def __init__(self, executable, articles, authors, **settings):
        self.log = tempfile.NamedTemporaryFile(prefix="gateway-", suffix=".log")
        environment = dict(
            os.environ, ARTICLES_URL=f"http://127.0.0.1:{articles.port}", AUTHORS_URL=f"http://127.0.0.1:{authors.port}",
            PORT="0", LOG_LEVEL="debug", **settings)
        self.process = subprocess.Popen([executable], env=environment, stdout=self.log, stderr=self.log)
        self.port = None

    @property
    def text(self):
        return pathlib.Path(self.log.name).read_text()

    async def started(self):
        def is_listening():
            assert self.process.poll() is None, f"the gateway ended: {self.text}"
            found = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.text)
            if found:
                self.port = int(found[1])
            return self.port
        await until(is_listening, "the gateway listens")
        return self

    async def client(self):
        return await Client().open(self.port)

    async def get(self, path, headers={}):
        client = await self.client()
        try:
            return await client.get(path, headers)
        finally:
            client.leave()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    async def ended(self):
        await until(lambda: self.process.poll() is not None, "the gateway ends", 60)
        return self.process.returncode
