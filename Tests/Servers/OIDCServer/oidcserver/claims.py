"""What tokens say of their user."""

from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    """Adds the standard claims (OpenID Connect Core, section 5.1) to what the toolkit says: the subject alone."""

    oidc_claim_scope = {**OAuth2Validator.oidc_claim_scope, "name": "profile", "preferred_username": "profile",
                        "email": "email", "email_verified": "email"}

    def get_additional_claims(self):
        """Each claim with what gives it; the scope decides which are said."""
        return {
            "name": lambda request: request.user.get_full_name(),
            "preferred_username": lambda request: request.user.username,
            "email": lambda request: request.user.email,
            "email_verified": lambda request: True,
        }
