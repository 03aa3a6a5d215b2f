"""A token server of the Docker registry. Usage: registry_tokens.py PORT CERTIFICATE KEY"""
import base64, http.server, json, re, sys, time, urllib.parse

import jwt

port, certificate, key = int(sys.argv[1]), open(sys.argv[2]).read(), open(sys.argv[3]).read()
chain = [re.sub(r"-----[^-]+-----|\s", "", certificate)]


class Tokens(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        password = base64.b64encode(b"ada:secret").decode()
        accepted = self.headers.get("Authorization") == "Basic " + password
        access = [dict(zip(("type", "name", "actions"), scope.split(":"))) for scope in query.get("scope", [])]
        for each in access:
            each["actions"] = each["actions"].split(",")
        now = int(time.time())
        claims = {"iss": "servers", "sub": "ada", "aud": query.get("service", [""])[0], "exp": now + 300, "nbf": now - 5,
                  "iat": now, "jti": str(now), "access": access}
        token = jwt.encode(claims, key, "RS256", headers={"x5c": chain})
        body = json.dumps({"token": token, "expires_in": 300} if accepted else {"details": "wrong password"}).encode()
        self.send_response(200 if accepted else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", port), Tokens).serve_forever()
