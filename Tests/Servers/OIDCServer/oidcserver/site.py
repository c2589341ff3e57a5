"""The Django site: django-oauth-toolkit with a login page, made-up accounts and clients."""

import hashlib
import os
import shutil
import subprocess

USER = {"username": "alice", "password": "alice-password", "email": "alice@example.com", "name": "Alice Example"}
OTHER = {"username": "bob", "password": "bob-password", "email": "bob@example.com", "name": "Bob Example"}
SECRET = "demo-client-secret: 100% made up"
LOOPBACK = "http://127.0.0.1/callback http://localhost/callback http://[::1]/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
CODE = "authorization-code"
# Identifier, type and grant of each client. One that may do everything is what most providers give out, but a client of
# django-oauth-toolkit has a single grant; `everything` below lifts that.
CLIENTS = (
    ("cli", "public", CODE),
    ("confidential", "confidential", CODE),
    ("only-code", "public", CODE),
    ("only-password", "public", "password"),
    ("only-device", "public", DEVICE),
    ("machine", "confidential", "client-credentials"),
)
EVERYTHING = ("cli", "confidential")
SCOPES = {"openid": "Know who you are", "email": "Know your address", "profile": "Know your name", "read": "Read",
          "offline_access": "Stay signed in"}
LOGIN_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Sign in</title><body><h1>Sign in</h1>
<form method="post">{% csrf_token %}{{ form.as_p }}<input type="hidden" name="next" value="{{ next }}">
<button id="sign-in">Sign in</button></form></body></html>
"""


def configure(base, folder, settings):
    """Configures Django for a server at an address, whose files are in a folder."""
    import django
    from django.conf import settings as django_settings

    with open(os.path.join(folder, "secret"), encoding="ascii") as file:
        secret = file.read()
    with open(os.path.join(folder, "oidc.key"), encoding="ascii") as file:
        key = file.read()
    contexts = "django.template.context_processors.request", "django.contrib.auth.context_processors.auth"
    django_settings.configure(
        DEBUG=False,
        SECRET_KEY=secret,
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        ROOT_URLCONF="oidcserver.urls",
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
                    "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                    "DIRS": [os.path.join(folder, "templates")], "OPTIONS": {"context_processors": list(contexts)}}],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(folder, "db.sqlite3"),
                               "OPTIONS": {"timeout": 900, "transaction_mode": "IMMEDIATE",
                                           "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"}}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        LOGIN_URL="/accounts/login/",
        STATIC_URL="/static/",
        # A slow hash protects nothing that is made up, and a test would wait for it.
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        LOGGING={"version": 1, "disable_existing_loggers": False, "handlers": {"stderr": {"class": "logging.StreamHandler"}},
                 "loggers": {"django.request": {"handlers": ["stderr"], "level": "CRITICAL", "propagate": False}},
                 "root": {"handlers": ["stderr"], "level": "ERROR"}},
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": base + "/o",
            "OIDC_RSA_PRIVATE_KEY": key,
            "OAUTH2_VALIDATOR_CLASS": "oidcserver.claims.Validator",
            "SCOPES": SCOPES,
            "DEFAULT_SCOPES": ["openid", "read"],
            "PKCE_REQUIRED": True,
            "REQUEST_APPROVAL_PROMPT": "auto",
            "AUTHORIZATION_CODE_EXPIRE_SECONDS": 900,
            "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
            "OAUTH_DEVICE_VERIFICATION_URI": base + "/o/device/",
            "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda user_code: f"{base}/o/device/?user_code={user_code}",
            "ALWAYS_RELOAD_OAUTHLIB_CORE": True,  # settings change while it runs
            **settings.toolkit(),
        },
    )
    django.setup()
    everything()


def apply(settings):
    """Lets the running server have other settings."""
    from oauth2_provider.settings import oauth2_settings

    for name, value in settings.toolkit().items():
        setattr(oauth2_settings, name, value)


def everything():
    """Lets the clients of `EVERYTHING` use every grant."""
    from oauth2_provider.models import Application

    single = Application.allows_grant_type
    Application.allows_grant_type = lambda self, *grants: self.client_id in EVERYTHING or single(self, *grants)


def fill():
    """Makes tables, accounts and clients."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for one in (USER, OTHER):
        first, last = one["name"].split()
        get_user_model().objects.create_user(
            one["username"], one["email"], one["password"], first_name=first, last_name=last)
    for identifier, kind, grant in CLIENTS:
        Application.objects.create(
            client_id=identifier, name=identifier, client_type=kind, authorization_grant_type=grant,
            client_secret=SECRET if kind == "confidential" else "", algorithm="RS256", skip_authorization=False,
            redirect_uris=LOOPBACK if grant == CODE else "", post_logout_redirect_uris=LOOPBACK if grant == CODE else "")


def new_folder(folder):
    """Makes the files that a server needs, but for its database: a key and a secret for each server."""
    os.makedirs(os.path.join(folder, "templates", "registration"), mode=0o700)
    with open(os.path.join(folder, "templates", "registration", "login.html"), "w", encoding="ascii") as file:
        file.write(LOGIN_PAGE)
    subprocess.run(["openssl", "genrsa", "-out", os.path.join(folder, "oidc.key"), "2048"], check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "secret"), "w", encoding="ascii") as file:
        file.write(os.urandom(32).hex())


def database(cache, folder):
    """Puts a filled database into the folder: a copy of one that was made earlier, else a new one that is kept."""
    digest = hashlib.sha256()
    requirements = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "requirements.txt")
    for path in (__file__, requirements):
        with open(path, "rb") as file:
            digest.update(file.read())
    kept = os.path.join(cache, f"accounts-{digest.hexdigest()[:16]}.sqlite3")
    here = os.path.join(folder, "db.sqlite3")
    if os.path.exists(kept):
        shutil.copyfile(kept, here)
        return
    from django.db import connection

    fill()
    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    # Renamed into place, so that nobody else copies half of it.
    shutil.copyfile(here, f"{kept}.{os.getpid()}")
    os.replace(f"{kept}.{os.getpid()}", kept)
