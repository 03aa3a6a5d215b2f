"""Prints what `requests` gets for the same calls as a client, as JSON. Usage: reference.py SERVER ARGUMENT…"""
import hashlib, json, sys, time

import requests


def fastapi(url, big):
    files = [("files", ("a b+ü#%.txt", b"tea\r\n", "text/plain")), ("files", ('q"uote;.bin', bytes(range(256)), "application/octet-stream"))]
    yield "item", requests.post(url + "/items", json={"name": "Tee ü", "unit_price": 2.5, "tags": ["a"]}).json()
    yield "invalid", requests.post(url + "/items", json={"name": "Tee", "unit_price": -1}).json()
    yield "search", requests.get(url + "/search", params={"q": "tea & ü+%", "tag": ["a b", "c"], "done": "true"}).json()
    yield "path", requests.get(url + "/paths/" + requests.utils.quote("a/b ü?#", safe="")).json()
    yield "form", requests.post(url + "/form", data={"user": "ada lovelace", "text": "ü&=+\r\n"}).json()
    yield "upload", requests.post(url + "/upload", data={"title": "Fotos ü"}, files=files).json()
    yield "moved", requests.get(url + "/moved").json()
    yield "latin1", requests.get(url + "/latin1").text
    with open(big, "rb") as file:
        yield "raw", requests.put(url + "/raw", data=file, headers={"Content-Type": "application/octet-stream"}).json()
    with requests.get(url + "/big?size=104857600", stream=True) as response:
        digest = hashlib.sha256()
        for chunk in response.iter_content(1 << 20):
            digest.update(chunk)
        yield "big", digest.hexdigest()


def prometheus(url):
    yield "invalid", requests.get(url + "/query", params={"query": "up{"}).json()["error"]
    while not (up := requests.get(url + "/query", params={"query": "up"}).json()["data"]["result"]):
        time.sleep(0.2)
    yield "up", up[0]["metric"]["job"]


def files(url):
    yield "data", requests.get(url + "/data.json").json()
    yield "private", requests.get(url + "/private/data.json", auth=requests.auth.HTTPDigestAuth("ada", "p&=1")).json()
    yield "folder", requests.get(url + "/folder").text
    yield "big", hashlib.sha256(requests.get(url + "/big.bin").content).hexdigest()
    yield "part", requests.get(url + "/big.bin", headers={"Range": "bytes=-10"}).content.hex()


if __name__ == "__main__":
    print(json.dumps(dict(globals()[sys.argv[1]](*sys.argv[2:]))))
