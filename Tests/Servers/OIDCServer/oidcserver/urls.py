"""Where what is."""

from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider.urls import metadata_urlpatterns

urlpatterns = [
    path("accounts/login/", LoginView.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("", include((metadata_urlpatterns, "metadata"))),
]
