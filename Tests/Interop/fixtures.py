"""Writes the files that nginx serves: fixtures.py FOLDER."""

import json
import pathlib
import sys

root = pathlib.Path(sys.argv[1])


def write(name, value):
    (root / name).write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


write("user.json", {"code": 200, "message": "ok", "data": {"id": 7, "name": "Ada", "city": "北京"}})
write("refused.json", {"code": 40301, "message": "请先登录", "data": None})
write("shop.json", {"status": 0, "msg": "ok", "result": {"items": [{"id": 1}, {"id": 2}]}})
write("large.json", {"code": 200, "message": "ok", "data": [{"id": i, "name": f"name {i}"} for i in range(20_000)]})
write("feed-.json", {"code": 200, "message": "ok", "data": [1, 2], "cursor": 3})
write("feed-3.json", {"code": 200, "message": "ok", "data": [3, 4], "cursor": "a b"})
write("feed-a%20b.json", {"code": 200, "message": "ok", "data": [5], "cursor": ""})
(root / "page.html").write_text("<!doctype html><title>not JSON</title>", encoding="utf-8")
(root / "empty.json").write_bytes(b"")
(root / "cut.json").write_text('{"code":200,"message":"ok","data":{"id":', encoding="utf-8")
