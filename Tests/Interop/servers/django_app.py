"""An authorization server with Django OAuth Toolkit (oauthlib), for the client Django.swift. Usage: django_app.py PORT FOLDER

A GET of the authorization page is the consent of ada, with ?deny=1 the refusal; a GET of /device?user_code= allows a device.
"""
import sys, threading

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
ORIGIN = f"http://127.0.0.1:{PORT}"
SECRET = "z/tZ:9V+w%F=é~* plain"
key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()).decode()
settings.configure(
    SECRET_KEY="servers", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF="__main__", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{FOLDER}/django.db", "OPTIONS": {"timeout": 20}}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "__main__.browser"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    OAUTH2_PROVIDER={
        "SCOPES": {"openid": "user", "orders": "orders"}, "DEFAULT_SCOPES": ["orders"], "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key,
        "OIDC_ISS_ENDPOINT": f"{ORIGIN}/o", "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "app"], "ALLOW_LOCALHOST_LOOPBACK": True,
        "OAUTH2_VALIDATOR_CLASS": "__main__.Validator", "REFRESH_TOKEN_REUSE_PROTECTION": True, "ACCESS_TOKEN_EXPIRE_SECONDS": 2,
        "DEVICE_FLOW_INTERVAL": 1, "OAUTH_DEVICE_VERIFICATION_URI": f"{ORIGIN}/device"})
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.servers.basehttp import run
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.urls import include, path
from oauth2_provider.models import get_access_token_model, get_application_model, get_device_grant_model
from oauth2_provider.oauth2_validators import OAuth2Validator

lock = threading.RLock()


class Validator(OAuth2Validator):
    oidc_claim_scope = None

    def get_additional_claims(self, request): return {"sub": request.user.username, "email": request.user.email}


def browser(get_response):
    """The session of ada. The program is single-threaded where it matters, because of SQLite."""
    def respond(request):
        request.user, request._dont_enforce_csrf_checks = ada, True
        with lock:
            if request.path == "/o/authorize/" and "deny" in request.GET:
                return HttpResponse(status=302, headers={
                    "Location": f'{request.GET["redirect_uri"]}?error=access_denied&state={request.GET["state"]}'})
            return get_response(request)
    return respond


def document(request):
    return JsonResponse({
        "issuer": f"{ORIGIN}/o", "token_endpoint": f"{ORIGIN}/o/token/", "authorization_endpoint": f"{ORIGIN}/o/authorize/",
        "device_authorization_endpoint": f"{ORIGIN}/o/device-authorization/", "revocation_endpoint": f"{ORIGIN}/o/revoke_token/"})


def device(request):
    grant = get_device_grant_model().objects.get(user_code=request.GET["user_code"])
    grant.status = grant.DENIED if "deny" in request.GET else grant.AUTHORIZED
    grant.user = ada
    grant.save()
    return HttpResponse("done")


def api(request):
    found = get_access_token_model().objects.filter(token=request.headers.get("Authorization", "").removeprefix("Bearer ")).first()
    if not found or found.is_expired(): return JsonResponse({"error": "invalid_token"}, status=401)
    return JsonResponse({"user": found.user.username if found.user else found.application.client_id})


urlpatterns = [
    path("o/.well-known/openid-configuration", document), path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("device", device), path("o/api", api)]

call_command("migrate", verbosity=0)
ada = User.objects.create_user("ada", "ada@example.com", "correct horse")
Application = get_application_model()
kinds = {"cli": ("public", "authorization-code", ""), "tv": ("public", "urn:ietf:params:oauth:grant-type:device_code", ""),
         "service": ("confidential", "client-credentials", "s-1.2_3"), "post": ("confidential", "client-credentials", SECRET)}
for name, (kind, grant, secret) in kinds.items():
    Application.objects.create(
        client_id=name, name=name, client_type=kind, authorization_grant_type=grant, client_secret=secret, skip_authorization=True,
        redirect_uris="app:/cb http://127.0.0.1/callback", algorithm="RS256", user=ada)
run("127.0.0.1", PORT, get_wsgi_application(), threading=True)
