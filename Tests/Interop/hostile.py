"""Servers that violate TLS and HTTP/2, for HostileTLSTests: one listener on 127.0.0.1 for each behavior, with handwritten frames.

Usage: hostile.py FOLDER     FOLDER contains good.pem, good.key and ca.pem
Prints one line of JSON: name -> port. `GET /` on the port "log" returns the events so far, one per line. The process exits
at the end of its standard input.
"""
import base64, hashlib, json, os, socket, ssl, struct, sys, threading, time

folder = sys.argv[1]
log, refused, lock = [], [], threading.Lock()
asked = threading.Event()


def note(text):
    with lock:
        log.append(text)


# The certificates of the servers that have another one than good.pem, and their keys.
CERTIFICATES = {
    "expired": ("expired", "expired"), "wrong-host": ("other", "other"), "untrusted": ("foreign", "foreign"),
    "renewed": ("renewed", "good"),
}


def context(protocols, client=False, name=""):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = CERTIFICATES.get(name, ("good", "good"))
    tls.load_cert_chain(os.path.join(folder, certificate + ".pem"), os.path.join(folder, key + ".key"))
    tls.set_alpn_protocols(protocols)
    if client == "old" or name == "tls-1.2":
        tls.maximum_version = ssl.TLSVersion.TLSv1_2
    if client:
        tls.verify_mode = ssl.CERT_REQUIRED
        tls.load_verify_locations(os.path.join(folder, "ca.pem"))
        if os.path.exists(os.path.join(folder, "revoked.crl")):
            tls.load_verify_locations(os.path.join(folder, "revoked.crl"))
            tls.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    return tls


# --- HTTP/1.1 over TLS -----------------------------------------------------------------------------------------------

def read_head(connection):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return None
        head += byte
    return head.decode("latin-1")


def end(connection, notify):
    """Ends a TLS connection, with or without a close_notify alert."""
    if notify:
        try:
            connection.unwrap()
        except OSError:
            # New versions of OpenSSL reject bytes that arrive after the alert.
            pass
    # Reads to the end: closing with unread bytes would reset the connection and discard the sent bytes.
    with socket.socket(fileno=connection.detach()) as raw:
        raw.settimeout(5)
        try:
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(4096):
                pass
        except OSError:
            pass


def read_request(connection):
    """Reads a request with the length of its body. Returns whether there was one."""
    head = read_head(connection)
    if head is None:
        return False
    lengths = [line.split(":")[1] for line in head.lower().split("\r\n") if line.startswith("content-length:")]
    left = int(lengths[0]) if lengths else 0
    while left:
        left -= len(connection.recv(left))
    return True


def drop(connection, number):
    """Processes a request, and closes the connection instead of responding."""
    if read_request(connection):
        note(f"processed drop {number}")
        end(connection, True)


def idle_end(notify, finish, together=False):
    """Ends the first connection between two requests, by close_notify, by FIN, or by both; or in one packet with a response."""
    def serve(connection, number):
        while read_request(connection):
            note(f"processed idle {number}")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, together)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            if number > 1:
                continue
            if notify:
                connection.settimeout(0.1)
                try:
                    # Sends the alert, and does not receive the other one in time.
                    connection.unwrap()
                except OSError:
                    pass
                socket.socket.setsockopt(connection, socket.IPPROTO_TCP, socket.TCP_CORK, False)
            if finish:
                socket.socket.shutdown(connection, socket.SHUT_WR)
            note("ended")
            time.sleep(20)
            return
    return serve


def http1(fields, body, notify):
    def serve(connection, number):
        if read_head(connection) is None:
            return
        connection.sendall(f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode() + body)
        end(connection, notify)
    return serve


# --- HTTP/2 ----------------------------------------------------------------------------------------------------------

DATA, HEADERS, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 5, 6, 7, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL, REFUSED, HTTP_1_1_REQUIRED = 0, 1, 2, 7, 13
pattern = bytes(range(251)) * 70
OK = b"\x88"  # :status 200, from HPACK's static table


def field(name, value):
    """Returns a literal field, not indexed and not compressed (RFC 7541 section 6.2.2)."""
    return bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Peer:
    def __init__(self, connection, number):
        self.connection, self.number = connection, number
        self.streams, self.ended = [], []
        self.bytes = {}  # The number of received content bytes, by stream.
        self.wrong = set()  # Streams whose content differs from `pattern`.
        self.takes = True  # Whether received bytes reopen the window.

    def frame(self, kind, flags, stream, payload=b""):
        head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream)
        self.connection.sendall(head + payload)

    def begin(self):
        self.exactly(24)
        self.frame(SETTINGS, 0, 0)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def next(self):
        """Reads one frame, and returns the stream whose request ends with it, or None."""
        head = self.exactly(9)
        count, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream = int.from_bytes(head[5:9], "big")
        payload = self.exactly(count)
        if kind == SETTINGS and not flags & 1:
            self.frame(SETTINGS, 1, 0)
        if kind == PING and not flags & 1:
            self.frame(PING, 1, 0, payload)
        if kind == DATA and count and self.takes:
            for each in (0, stream):
                self.frame(WINDOW, 0, each, struct.pack(">I", count))
        if kind == HEADERS:
            self.streams.append(stream)
        if kind == DATA:
            start = self.bytes.get(stream, 0)
            self.bytes[stream] = start + count
            if payload != pattern[start % 251:start % 251 + count]:
                self.wrong.add(stream)
        if kind in (HEADERS, DATA) and flags & 1:
            self.ended.append(stream)
            return stream
        return None

    def wait(self, count):
        while len(self.ended) < count:
            self.next()

    def respond(self, stream, body=b"ok", fields=b"", last=True):
        self.frame(HEADERS, 4, stream, OK + fields)
        self.frame(DATA, 1 if last else 0, stream, body)

    def told(self, stream):
        """Returns the connection's number, whether the content matched `pattern`, and its length."""
        return f"{self.number} {stream not in self.wrong} {self.bytes.get(stream, 0)}".encode()

    def goaway(self, last, code=NO_ERROR):
        self.frame(GOAWAY, 0, 0, struct.pack(">II", last, code))

    def reset(self, stream, code):
        self.frame(RST, 0, stream, struct.pack(">I", code))

    def serve(self):
        """Responds to every request, forever."""
        while True:
            stream = self.next()
            if stream:
                note(f"processed {self.number} {stream}")
                self.respond(stream)


def http2(act):
    def serve(connection, number):
        peer = Peer(connection, number)
        try:
            peer.begin()
            act(peer)
        except (EOFError, OSError):
            pass
    return serve


def retire(peer):
    """Processes three requests and all that started before them, and excludes later ones with GOAWAY."""
    last, count = None, 0
    while True:
        stream = peer.next()
        if not stream or (last and stream > last):
            continue
        count += 1
        note(f"processed retire {peer.number} {stream}")
        if count == 3:
            last = max(peer.ended)
            peer.goaway(last)
        peer.respond(stream)


def refuse(peer):
    """Refuses every second request with RST_STREAM, at most four of them."""
    while True:
        stream = peer.next()
        if stream and stream % 4 == 1 and len(refused) < 4:
            refused.append(stream)
            peer.reset(stream, REFUSED)
        elif stream:
            note(f"processed refuse {peer.number} {stream}")
            peer.respond(stream)


def refuse_unsent(peer):
    """Keeps the content windows of its first connection closed, and refuses the second request there after its head. Responds
    to later requests with the number of received bytes."""
    if peer.number == 1:
        peer.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
        peer.wait(1)
        peer.respond(peer.ended[0])
        while len(peer.streams) < 2:
            peer.next()
        # Allows the client to read body bytes that it may not send.
        time.sleep(0.2)
        peer.reset(peer.streams[1], REFUSED)
        while len(peer.streams) < 3:
            peer.next()
        for stream in (0, peer.streams[2]):
            peer.frame(WINDOW, 0, stream, struct.pack(">I", 1 << 20))
    while True:
        stream = peer.next()
        if stream:
            peer.respond(stream, str(peer.bytes.get(stream, 0)).encode())


def deaf(peer):
    """Stops reading after the head of its second request, whose window is large, until the events are requested."""
    peer.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 26))
    peer.frame(WINDOW, 0, 0, struct.pack(">I", 1 << 26))
    peer.wait(1)
    peer.respond(peer.ended[0])
    while len(peer.streams) < 2:
        peer.next()
    asked.wait(30)
    peer.takes = False
    while True:
        stream = peer.next()
        if stream:
            peer.respond(stream, peer.told(stream))


def dripping(peer):
    """Like `deaf`, but opens the window of the second request in small steps, so that its content arrives in small frames."""
    peer.frame(WINDOW, 0, 0, struct.pack(">I", 1 << 28))
    peer.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1000))
    peer.wait(1)
    peer.respond(peer.ended[0])
    peer.takes = False
    while len(peer.streams) < 2:
        peer.next()
    while not asked.is_set():
        peer.frame(WINDOW, 0, peer.streams[1], struct.pack(">I", 1000))
        time.sleep(0.0001)
    peer.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 26))
    while True:
        stream = peer.next()
        if stream:
            peer.respond(stream, peer.told(stream))


def dying(goaway, notify):
    """Ends the first connection at its second request."""
    def act(peer):
        if peer.number > 1:
            return peer.serve()
        peer.wait(1)
        peer.respond(peer.ended[0])
        while len(peer.streams) < 2:
            peer.next()
        note("died")
        if goaway:
            peer.goaway(peer.ended[0])
        end(peer.connection, notify)
    return act


def required(peer):
    """Requires HTTP/1.1 in the middle of a response."""
    peer.wait(1)
    peer.respond(peer.ended[0], b"12345", last=False)
    peer.reset(peer.ended[0], HTTP_1_1_REQUIRED)
    while True:
        peer.next()


def destroyed(count, notify, broken=None):
    """Starts all responses, and then ends the connection or sends an invalid frame."""
    def act(peer):
        peer.wait(count)
        for stream in peer.ended:
            peer.respond(stream, b"part", last=False)
        if broken:
            broken(peer)
            while True:
                peer.next()
        end(peer.connection, notify)
    return act


def silent(count, notify):
    """Ends the first connection without any response. Later connections work."""
    def act(peer):
        if peer.number > 1:
            return peer.serve()
        peer.wait(count)
        end(peer.connection, notify)
    return act


def early(fields):
    """Responds completely to a request whose body continues, and stops accepting it."""
    def act(peer):
        peer.takes = False
        while not peer.streams:
            peer.next()
        peer.frame(HEADERS, 4, peer.streams[0], OK + fields)
        peer.frame(DATA, 1, peer.streams[0], b"done")
        while True:
            peer.next()
    return act


def trailers(peer):
    peer.wait(1)
    peer.respond(peer.ended[0], last=False)
    peer.frame(HEADERS, 5, peer.ended[0], field("x-late", "1"))
    while True:
        peer.next()


BROKEN = {
    "data-on-0": lambda peer: peer.frame(DATA, 0, 0, b"x"),
    "window-0": lambda peer: peer.frame(WINDOW, 0, 0, struct.pack(">I", 0)),
    "ping-short": lambda peer: peer.frame(PING, 0, 0, b"x"),
    "settings-odd": lambda peer: peer.frame(SETTINGS, 0, 0, b"x"),
    "oversize": lambda peer: peer.frame(DATA, 0, peer.ended[0], b"x" * 20000),
    "push": lambda peer: peer.frame(PUSH, 4, peer.ended[0], struct.pack(">I", 2) + OK),
    "hpack": lambda peer: peer.frame(HEADERS, 5, peer.ended[0], b"\xff\xff\xff\xff\xff\xff"),
}


def h1_only(connection, number):
    if read_head(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh1")
        read_head(connection)


def key_of(head):
    """Returns the key of a request for a WebSocket; None of another request."""
    names = (line.partition(": ") for line in head.split("\r\n"))
    return next((value for name, _, value in names if name.lower() == "sec-websocket-key"), None)


def accept(connection, key):
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")


def proxy(connection, number):
    """Opens a tunnel, accepts a WebSocket inside it, and sends 100 messages in one packet, each as a record of its own."""
    read_head(connection)
    connection.sendall(b"HTTP/1.1 200 Established\r\n\r\n")
    key = key_of(read_head(connection))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, True)
    accept(connection, key)
    for each in range(100):
        connection.sendall(b"\x81\x02%02d" % each)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, False)
    connection.recv(100)


H1, H2 = ["http/1.1"], ["h2"]
def greet(name):
    """Responds to requests, and accepts WebSockets, which receive one message. Notes each request."""
    def serve(connection, number):
        while head := read_head(connection):
            note(f"request {name}")
            key = key_of(head)
            if key is None:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                continue
            accept(connection, key)
            connection.sendall(b"\x81\x02ok")
            connection.recv(100)
            return
    return serve


servers = {
    **{name: (["http/1.1"], greet(name)) for name in ["trusted", "tls-1.2", *CERTIFICATES]},
    "proxy": (H1, proxy),
    "close-notify": (H1, http1("", b"whole", True)),
    "close-cut": (H1, http1("", b"part", False)),
    "close-cut-empty": (H1, http1("", b"", False)),
    "length-cut": (H1, http1("Content-Length: 5\r\n", b"whole", False)),
    "chunked-cut": (H1, http1("Transfer-Encoding: chunked\r\n", b"5\r\nwhole\r\n0\r\n\r\n", False)),
    "client": (H1, h1_only),
    "client-old": (H1, h1_only),
    "drop": (H1, drop),
    "idle-notify": (H1, idle_end(True, False)),
    "idle-fin": (H1, idle_end(False, True)),
    "idle-both": (H1, idle_end(True, True)),
    "idle-together": (H1, idle_end(True, False, True)),
    "retire": (H2, http2(retire)),
    "refuse": (H2, http2(refuse)),
    "refuse-unsent": (H2, http2(refuse_unsent)),
    "deaf": (H2, http2(deaf)),
    "dripping": (H2, http2(dripping)),
    "dying": (H2, http2(dying(False, True))),
    "dying-cut": (H2, http2(dying(False, False))),
    "dying-goaway": (H2, http2(dying(True, True))),
    "required": (["h2", "http/1.1"], http2(required)),
    "destroyed": (H2, http2(destroyed(10, True))),
    "destroyed-cut": (H2, http2(destroyed(10, False))),
    "destroyed-one": (H2, http2(destroyed(1, True))),
    "silent": (H2, http2(silent(10, True))),
    "silent-cut": (H2, http2(silent(10, False))),
    "early": (H2, http2(early(field("content-length", "4")))),
    "early-unknown": (H2, http2(early(b""))),
    "trailers": (H2, http2(trailers)),
    "plain": (H2, http2(Peer.serve)),
}
for name, act in BROKEN.items():
    servers[f"broken-{name}"] = (H2, http2(destroyed(1, True, act)))


def listen():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener, listener.getsockname()[1]


def run(listener, protocols, serve, name):
    tls = context(protocols, client={"client": "new", "client-old": "old"}.get(name), name=name)
    number = 0
    while True:
        raw, _ = listener.accept()
        number += 1

        def one(raw=raw, number=number):
            raw.settimeout(30)
            try:
                connection = tls.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
                try:
                    connection.do_handshake()
                except ssl.SSLError:
                    # Reads the remaining bytes below TLS, so that the alert arrives.
                    socket.socket.shutdown(connection, socket.SHUT_WR)
                    while socket.socket.recv(connection, 4096):
                        pass
                    raise
                if connection.selected_alpn_protocol() == "http/1.1" and "h2" in protocols:
                    h1_only(connection, number)
                else:
                    serve(connection, number)
                connection.close()
            except OSError:
                raw.close()
        threading.Thread(target=one, daemon=True).start()


def tell(listener):
    while True:
        raw, _ = listener.accept()
        if read_head(raw):
            asked.set()
            with lock:
                body = "\n".join(log).encode()
            raw.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        raw.close()


ports = {}
for name, (protocols, serve) in servers.items():
    listener, ports[name] = listen()
    threading.Thread(target=run, args=(listener, protocols, serve, name), daemon=True).start()
listener, ports["log"] = listen()
threading.Thread(target=tell, args=(listener,), daemon=True).start()
print(json.dumps(ports), flush=True)
sys.stdin.read()
