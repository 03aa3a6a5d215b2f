"""An authorization server with Authlib, for the client OAuth.swift: every flow, rotation with reuse detection, and an API.

Usage: authlib_app.py PORT. A GET of the authorization page is the user's consent, with ?deny=1 the refusal; a GET of /device?user_code=
allows a device. Access tokens expire after 2 s.
"""
import secrets, sys, threading, time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialMixin
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, request
from joserfc.jwk import OctKey

PORT = int(sys.argv[1])
ISSUER = f"http://127.0.0.1:{PORT}"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
METHODS = ["client_secret_basic", "client_secret_post", "client_assertion_jwt", "none"]
LIFETIME = 2
lock = threading.RLock()
tokens, codes, devices, users, used = [], {}, {}, {"ada": UserInfo(sub="ada", email="ada@example.com")}, []
counts = {"token": 0, "reused": 0}


class Client(ClientMixin):
    def __init__(self, name, method, secret="", redirects=()):
        self.name, self.method, self.secret, self.redirects = name, method, secret, redirects

    def get_client_id(self): return self.name
    def get_default_redirect_uri(self): return self.redirects[0]
    def get_allowed_scope(self, scope): return scope
    def check_client_secret(self, secret): return secrets.compare_digest(secret.encode(), self.secret.encode())
    def check_endpoint_auth_method(self, method, endpoint): return method == self.method
    def check_response_type(self, kind): return kind == "code"
    def check_grant_type(self, kind): return True

    def check_redirect_uri(self, uri):
        # Any port of the loopback address (RFC 8252 §7.3).
        return uri in self.redirects or uri.startswith("http://127.0.0.1:") and uri.endswith("/callback")


SECRET = "z/tZ:9V+w%F=é~* plain"
KEY = "0123456789abcdef0123456789abcdef"
clients = {client.name: client for client in [
    Client("cli", "none", redirects=["app:/cb"]), Client("service", "client_secret_basic", "s-1.2_3"),
    Client("post", "client_secret_post", SECRET), Client("unescaped", "client_secret_basic", SECRET),
    Client("assertion", "client_assertion_jwt")]}


class Code:
    def __init__(self, user, payload, challenge):
        self.user, self.client_id, self.redirect_uri = user, payload.client_id, payload.redirect_uri
        self.scope, self.nonce, self.code_challenge, self.code_challenge_method = (
            payload.scope, payload.data.get("nonce"), challenge, payload.data.get("code_challenge_method"))

    def get_redirect_uri(self): return self.redirect_uri
    def get_scope(self): return self.scope or ""
    def get_nonce(self): return self.nonce
    def get_auth_time(self): return int(time.time())
    def get_acr(self): return None
    def get_amr(self): return None


class Token(TokenMixin):
    def __init__(self, values, client, user, family):
        self.__dict__.update(values)
        self.client, self.user, self.family, self.issued, self.revoked, self.spent = client, user, family, time.time(), False, False

    def check_client(self, client): return self.client is client
    def get_scope(self): return self.scope if hasattr(self, "scope") else ""
    def get_expires_in(self): return self.expires_in
    def is_expired(self): return time.time() > self.issued + self.expires_in
    def is_revoked(self): return self.revoked
    def get_user(self): return self.user
    def get_client(self): return self.client


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def save_authorization_code(self, code, request):
        codes[code] = Code(request.user, request.payload, request.payload.data.get("code_challenge"))

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client_id == client.name else None

    def delete_authorization_code(self, code):
        for key in [key for key, value in codes.items() if value is code]: del codes[key]

    def authenticate_user(self, code): return code.user


class Refresh(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, text):
        found = next((token for token in tokens if getattr(token, "refresh_token", None) == text), None)
        if found and found.spent:
            # A token that is used twice ends its family (RFC 9700 §4.14.2).
            counts["reused"] += 1
            for token in tokens:
                if token.family == found.family: token.revoked = True
        return found if found and not found.revoked and not found.spent else None

    def authenticate_user(self, token):
        self.request.family = token.family
        return token.user

    def revoke_old_credential(self, token): token.spent = True


class Credential(DeviceCredentialMixin):
    def __init__(self, client, scope, values):
        self.client, self.scope, self.values, self.allowed, self.polled = client, scope, values, None, 0

    def get_client_id(self): return self.client
    def get_scope(self): return self.scope
    def get_user_code(self): return self.values["user_code"]
    def get_nonce(self): return None
    def get_auth_time(self): return None
    def is_expired(self): return False


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = METHODS
    INTERVAL = 1

    def get_verification_uri(self): return f"{ISSUER}/device"
    def save_device_credential(self, client, scope, values): devices[values["device_code"]] = Credential(client, scope, values)


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def query_device_credential(self, code): return devices.get(code)

    def query_user_grant(self, code):
        found = next(each for each in devices.values() if each.values["user_code"] == code)
        return None if found.allowed is None else (users["ada"], found.allowed)

    def should_slow_down(self, credential):
        credential.polled += 1
        return credential.polled == 1


class ClientGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, text, hint):
        return next((token for token in tokens if text in (token.access_token, getattr(token, "refresh_token", None))), None)

    def revoke_token(self, token, request):
        for other in tokens:
            if other.family == token.family: other.revoked = True


class OpenID(OpenIDCode):
    def resolve_client_private_key(self, client): return OctKey.import_key(KEY)
    def get_client_algorithm(self, client): return "HS256"
    def get_client_claims(self, client): return {"iss": ISSUER, "aud": [client.get_client_id()]}
    def exists_nonce(self, nonce, request): return any(code.nonce == nonce for code in codes.values())
    def generate_user_info(self, user, scope): return user


class Issuer(IssuerParameter):
    def get_issuer(self): return ISSUER


class Assertion(JWTBearerClientAssertion):
    def get_audiences(self): return [ISSUER]

    def validate_jti(self, claims, jti):
        is_new = jti not in used
        used.append(jti)
        return is_new

    def resolve_client_public_key(self, client): return OctKey.import_key(KEY)


def save(values, request):
    family = getattr(request, "family", None) or secrets.token_hex(4)
    tokens.append(Token(values, request.client, request.user, family))


app = Flask("authlib_app")
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {kind: LIFETIME for kind in ("authorization_code", "client_credentials", "refresh_token", DEVICE)}
server = AuthorizationServer(app, query_client=clients.get, save_token=save)
server.register_client_auth_method(Assertion.CLIENT_AUTH_METHOD, Assertion())
server.register_grant(CodeGrant, [OpenID(require_nonce=True), CodeChallenge(required=True)])
for grant in (Refresh, DeviceGrant, ClientGrant): server.register_grant(grant)
for endpoint in (DeviceEndpoint, Revocation): server.register_endpoint(endpoint)
server.register_extension(Issuer())


@app.get("/.well-known/oauth-authorization-server")
def document():
    return jsonify(
        issuer=ISSUER, token_endpoint=f"{ISSUER}/token", authorization_endpoint=f"{ISSUER}/authorize?tenant=1",
        device_authorization_endpoint=f"{ISSUER}/device_authorization", revocation_endpoint=f"{ISSUER}/revoke",
        authorization_response_iss_parameter_supported=True,
        token_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post", "none"])


@app.get("/authorize")
def authorize():
    with lock:
        try:
            grant = server.get_consent_grant(end_user=users["ada"])
        except OAuth2Error as error:
            return server.handle_error_response(server.create_oauth2_request(request), error)
        return server.create_authorization_response(grant_user=None if "deny" in request.args else users["ada"], grant=grant)


@app.post("/token")
def token():
    with lock:
        counts["token"] += 1
        return server.create_token_response()


@app.post("/device_authorization")
def device_authorization():
    with lock: return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


@app.get("/device")
def device():
    for credential in devices.values():
        if credential.values["user_code"] == request.args["user_code"]: credential.allowed = "deny" not in request.args
    return "done"


@app.post("/revoke")
def revoke():
    with lock: return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/api")
def api():
    with lock:
        text = request.headers.get("Authorization", "").removeprefix("Bearer ")
        found = next((token for token in tokens if token.access_token == text), None)
        if not found or found.is_expired() or found.is_revoked(): return jsonify(error="invalid_token"), 401
        return jsonify(user=found.user["sub"] if found.user else found.client.name)


@app.get("/counts")
def count(): return jsonify(counts)


app.run(port=PORT, threaded=True)
