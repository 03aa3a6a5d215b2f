"""Servers for Tests/Interop/uploads.

upload_servers.py draft PORT FOLDER       a server of draft-ietf-httpbis-resumable-upload-11, written from its text
upload_servers.py tuspyserver PORT FOLDER
upload_servers.py tussi PORT FOLDER
upload_servers.py fastapi-tusd PORT FOLDER
upload_servers.py cut PORT TARGET SEED    a proxy that cuts 60 % of the requests to append, and 10 % of all responses
"""
import asyncio, http.server, pathlib, random, re, socketserver, sys, threading, uuid


class DraftUpload:
    def __init__(self, folder, length, field):
        self.path, self.length, self.field = folder / uuid.uuid4().hex, length, field
        self.lock, self.is_complete, self.request = threading.Lock(), False, 0
        self.path.touch()

    @property
    def offset(self):
        return self.path.stat().st_size


class DraftHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    uploads, folder = {}, pathlib.Path()

    def log_message(self, *arguments):
        pass

    def answer(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def boolean(self, name):
        return {"?1": True, "?0": False}.get(self.headers.get(name))

    def integer(self, name):
        text = self.headers.get(name, "")
        return int(text) if re.fullmatch(r"\d{1,15}", text) else None

    def state(self, upload):
        return {"Upload_Complete": "?1" if upload.is_complete else "?0", "Upload_Offset": str(upload.offset)}

    # §4.2: the client is careful and sends no content.
    def do_POST(self):
        complete, length = self.boolean("Upload-Complete"), self.integer("Upload-Length")
        if self.path != "/files" or complete is None or int(self.headers.get("Content-Length", 0)) > 0:
            return self.answer(400)
        name = f"/uploads/{uuid.uuid4().hex}"
        self.uploads[name] = DraftUpload(self.folder, length, self.headers.get("Content-Disposition"))
        self.answer(201, Location=name, Upload_Limit="max-size=100000000, max-append-size=1000000")

    # §4.3
    def do_HEAD(self):
        upload = self.uploads.get(self.path)
        if upload is None:
            return self.answer(404)
        # §4.6: an earlier request ends before its offset is stated.
        upload.request += 1
        with upload.lock:
            self.answer(204, Upload_Length=str(upload.length), Cache_Control="no-store", **self.state(upload))

    # §4.4
    def do_PATCH(self):
        upload, count = self.uploads.get(self.path), int(self.headers.get("Content-Length", 0))
        self.close_connection = True
        if upload is None:
            return self.answer(404)
        if self.headers.get("Content-Type") != "application/partial-upload":
            return self.answer(415)
        complete = self.boolean("Upload-Complete")
        if complete is None:
            return self.answer(400)
        upload.request += 1
        mine = upload.request
        with upload.lock:
            if upload.is_complete:
                return self.answer(400)
            if self.integer("Upload-Offset") != upload.offset:
                return self.answer(409, **self.state(upload))
            left = count
            with upload.path.open("ab") as file:
                while left and mine == upload.request:
                    chunk = self.rfile.read1(min(left, 65536))
                    if not chunk:
                        return
                    file.write(chunk)
                    file.flush()
                    left -= len(chunk)
            if left:
                return
            if complete:
                if upload.length is not None and upload.offset != upload.length:
                    return self.answer(400)
                upload.is_complete = True
                return self.answer(200, Upload_Complete="?1")
            self.answer(204, **self.state(upload))

    # §4.5
    def do_DELETE(self):
        upload = self.uploads.pop(self.path, None)
        if upload is None:
            return self.answer(404)
        upload.request += 1
        upload.path.unlink(missing_ok=True)
        self.answer(204)


def draft(port, folder):
    DraftHandler.folder = folder
    socketserver.ThreadingMixIn.daemon_threads = True
    http.server.ThreadingHTTPServer(("127.0.0.1", port), DraftHandler).serve_forever()


def tuspyserver(port, folder):
    import fastapi, uvicorn
    from tuspyserver import create_tus_router

    app = fastapi.FastAPI()
    app.include_router(create_tus_router(prefix="files", files_dir=str(folder)))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


def tussi(port, folder):
    import uvicorn
    from tussi import FilesystemStorage, TUSApp

    (folder / "done").mkdir()
    app = TUSApp(FilesystemStorage(folder / "part"), folder / "done")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


def fastapi_tusd(port, folder):
    import fastapi, uvicorn
    from fastapi_tusd import TusRouter

    app = fastapi.FastAPI()
    app.include_router(TusRouter(store_dir=str(folder), location=f"http://127.0.0.1:{port}/files"), prefix="/files")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


def cut(port, target, seed):
    generator = random.Random(seed)

    async def serve(reader, writer):
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", target)
        limits = {"request": None, "response": None}

        async def copy(source, sink, side):
            try:
                while data := await source.read(16384):
                    if side == "request" and re.match(rb"[A-Z]+ /", data):
                        limits["response"] = 0 if generator.random() < 0.1 else None
                        length = re.search(rb"content-length: (\d+)", data, re.I)
                        if data.startswith(b"PATCH") and length and generator.random() < 0.6:
                            limits["request"] = generator.randint(1, int(length[1]) + 400)
                    if (limit := limits[side]) is not None:
                        data = data[:limit]
                        limits[side] = limit - len(data)
                    sink.write(data)
                    await sink.drain()
                    if limits[side] == 0:
                        print(f"cut a {side}", flush=True)
                        break
            except OSError:
                pass
            for end in (writer, other_writer):
                end.close()

        await asyncio.gather(copy(reader, other_writer, "request"), copy(other_reader, writer, "response"))

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(main())


name, port, third, *rest = sys.argv[1:]
if name == "cut":
    cut(int(port), int(third), int(rest[0]))
else:
    {"draft": draft, "tuspyserver": tuspyserver, "tussi": tussi, "fastapi-tusd": fastapi_tusd}[name](int(port), pathlib.Path(third))
