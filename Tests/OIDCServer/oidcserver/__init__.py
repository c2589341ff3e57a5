"""django-oauth-toolkit as an OpenID Connect provider for tests."""
