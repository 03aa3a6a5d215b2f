"""Sets up a fresh Glewlwyd: a user, the scopes, the OpenID Connect plugin and three clients. Usage: glewlwyd_setup.py URL

It prints the session cookie of the user ada, which is the browser's part of a sign-in.
"""
import http.cookiejar, json, sys, urllib.error, urllib.request

URL = sys.argv[1]
SECRET = "z/tZ:9V+w%F=é~* plain"


class Session:
    def __init__(self, user, password):
        self.jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(rfc2965=True))
        self.cookie = None
        self.call("POST", "/auth/", {"username": user, "password": password})

    def call(self, method, path, body):
        fields = {"Content-Type": "application/json"} | ({"Cookie": self.cookie} if self.cookie else {})
        request = urllib.request.Request(f"{URL}/api{path}", json.dumps(body).encode(), fields, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                if found := response.headers["Set-Cookie"]: self.cookie = found.split(";")[0]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")


admin = Session("admin", "password")
admin.call("POST", "/scope/", {"name": "orders", "display_name": "Orders", "password_required": False})
admin.call("POST", "/user/?source=database", {
    "username": "ada", "name": "Ada", "email": "ada@example.com", "password": "correct horse", "enabled": True,
    "scope": ["openid", "orders", "g_profile"]})
admin.call("POST", "/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "OpenID", "enabled": True, "parameters": {
    "iss": f"{URL}/api/oidc", "jwt-type": "sha", "jwt-key-size": "256", "key": "0123456789abcdef0123456789abcdef",
    "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600, "refresh-token-rolling": False,
    "refresh-token-one-use": "always", "allow-non-oidc": True, "auth-type-code-enabled": True, "auth-type-client-enabled": True,
    "auth-type-refresh-enabled": True, "auth-type-device-enabled": True, "auth-type-implicit-enabled": False,
    "auth-type-password-enabled": False, "auth-type-token-enabled": False, "auth-type-none-enabled": False,
    "auth-type-code-revoke-replayed": True, "device-authorization-expiration": 600, "device-authorization-interval": 1,
    "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-required": False, "oauth-as-iss-id": True,
    "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
    "subject-type": "public", "jwks-show": False, "request-parameter-allow": False, "email-claim": "mandatory"}})
kinds = ["code", "refresh_token", "device_authorization", "client_credentials"]
for name, secret, method in (("cli", None, "none"), ("service", "s-1.2_3", "client_secret_basic"), ("unescaped", SECRET, "client_secret_basic"),
                             ("post", SECRET, "client_secret_post")):
    client = {"client_id": name, "name": name, "enabled": True, "confidential": bool(secret), "authorization_type": kinds,
              "redirect_uri": ["app:/cb", "http://127.0.0.1:8409/callback"], "scope": ["openid", "orders"],
              "token_endpoint_auth_method": [method]}
    if secret: client["client_secret"] = secret
    admin.call("POST", "/client/?source=database", client)
ada = Session("ada", "correct horse")
for name in ("cli", "service"): ada.call("PUT", f"/auth/grant/{name}", {"scope": "openid orders"})
print(ada.cookie)
