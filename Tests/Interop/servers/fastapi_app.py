"""A FastAPI application with the usual kinds of endpoints."""
import asyncio, hashlib, itertools, json
from typing import Annotated

from fastapi import Depends, FastAPI, Form, HTTPException, Query, Request, Response, UploadFile, WebSocket
from fastapi.responses import RedirectResponse, StreamingResponse
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, Field

app = FastAPI()
tokens = itertools.count(1)
state = {"valid": "", "grants": 0, "limited": 0, "connections": 0}


class Item(BaseModel):
    name: str
    unit_price: float = Field(gt=0)
    tags: list[str] = []


@app.post("/items", status_code=201)
def add(item: Item, response: Response):
    response.headers["Location"] = "/items/7"
    return item


@app.get("/search")
def search(q: str, tag: Annotated[list[str], Query()] = [], done: bool = False):
    return {"q": q, "tags": tag, "done": done}


@app.get("/paths/{name:path}")
def path(name: str):
    return {"name": name}


@app.post("/form")
async def form(request: Request):
    return dict(await request.form())


@app.post("/upload")
async def upload(title: Annotated[str, Form()], files: list[UploadFile]):
    found = []
    for file in files:
        digest = hashlib.sha256()
        while chunk := await file.read(1 << 20):
            digest.update(chunk)
        found.append({"name": file.filename, "size": file.size, "sha256": digest.hexdigest()})
    return {"title": title, "files": found}


@app.put("/raw")
async def raw(request: Request):
    digest, size = hashlib.sha256(), 0
    async for chunk in request.stream():
        digest.update(chunk)
        size += len(chunk)
    return {"size": size, "sha256": digest.hexdigest(), "type": request.headers.get("content-type")}


@app.get("/big")
def big(size: int):
    block = bytes(range(256)) * 256
    return StreamingResponse((block for _ in range(size // len(block))), media_type="application/octet-stream",
                             headers={"Content-Length": str(size // len(block) * len(block))})


@app.get("/lines")
async def lines(count: int, stall: bool = False):
    async def rows():
        for number in range(count):
            yield json.dumps({"number": number}) + "\n"
        if stall:
            await asyncio.sleep(600)

    return StreamingResponse(rows(), media_type="application/x-ndjson")


@app.get("/events")
async def events(request: Request):
    last = int(request.headers.get("last-event-id", 0))

    async def three():
        yield "retry: 10\n\n"
        for number in range(last + 1, last + 4):
            yield f'id: {number}\nevent: tick\ndata: {{"number": {number}}}\n\n'

    return StreamingResponse(three(), media_type="text/event-stream")


@app.websocket("/chat")
async def chat(socket: WebSocket):
    await socket.accept(subprotocol="chat.v1" if "chat.v1" in socket.scope["subprotocols"] else None)
    while (text := await socket.receive_text()) != "bye":
        await socket.send_json({"echo": text})
    await socket.close(4001, "signed out")


@app.post("/token")
async def token(request: Request):
    grant = await request.form()
    accepted = {"password": grant.get("password") == "p ü&=+", "refresh_token": grant.get("refresh_token") == "r1"}
    if not accepted.get(grant.get("grant_type"), False):
        raise HTTPException(400, detail="invalid_grant")
    state["valid"] = f"t{next(tokens)}"
    state["grants"] += 1
    return {"access_token": state["valid"], "refresh_token": "r1", "expires_in": 3600}


@app.post("/expire")
def expire():
    state.update(valid="", grants=0)


@app.get("/me")
def me(token: Annotated[str, Depends(OAuth2PasswordBearer(tokenUrl="token"))]):
    if token != state["valid"]:
        raise HTTPException(401, detail="The token has expired", headers={"WWW-Authenticate": "Bearer"})
    return {"name": "Ada", "grants": state["grants"]}


@app.get("/limited")
def limited():
    state["limited"] += 1
    if state["limited"] % 3 != 0:
        raise HTTPException(429, detail="Slow down", headers={"Retry-After": "1"})
    return {"calls": state["limited"]}


@app.get("/moved")
def moved():
    return RedirectResponse("/search?q=moved", status_code=307)


@app.get("/latin1")
def latin1():
    return Response("café".encode("latin-1"), media_type="text/plain; charset=iso-8859-1")


@app.get("/pages")
def pages(request: Request, page: int = 1):
    return {"results": [page * 2 - 1, page * 2], "next": str(request.url_for("pages").include_query_params(page=page + 1)) if page < 3 else None}


@app.delete("/items/{id}", status_code=204)
def remove(id: int):
    return Response(status_code=204)


@app.get("/client")
def client(request: Request):
    return {"port": request.client.port}


@app.post("/client")
def posted(request: Request):
    return {"port": request.client.port}
