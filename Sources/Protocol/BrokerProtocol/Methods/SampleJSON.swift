/// JSON texts that stand in the examples of several methods.
enum SampleJSON {
  /// The session of a user who is signed in.
  static let session =
    """
    {
      "profile": "default",
      "provider": "local",
      "state": "authenticated",
      "userId": "u-7f3a",
      "user": {
        "id": "u-7f3a",
        "email": "ada@example.com",
        "emailVerified": true,
        "name": "Ada",
        "phoneNumberMasked": "•••• 42"
      },
      "scopes": ["profile"],
      "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
      "refreshTokenPresent": true,
      "refreshTokenExpiresAt": "2026-03-31T09:00:00Z",
      "authTime": "2026-03-01T09:00:00Z",
      "lastValidatedAt": "2026-03-01T09:00:00Z"
    }
    """

  /// The session of a profile without a user.
  static let signedOut =
    """
    {
      "profile": "default",
      "provider": "local",
      "state": "signedOut",
      "scopes": [],
      "refreshTokenPresent": false
    }
    """

  /// What a login with a password needs.
  static let passwordLogin = #"[{"method": "password", "fields": ["email", "password"]}]"#

  /// A session as `getSession` gives it, with what a login needs.
  static func withLogin(_ session: String) -> String {
    String(session.dropLast()) + #", "login": \#(passwordLogin)}"#
  }

  /// The session of a user of an OpenID Connect provider.
  static let oidcSession =
    """
    {
      "profile": "default",
      "provider": "oidc",
      "state": "authenticated",
      "userId": "u-7f3a",
      "user": {"id": "u-7f3a", "email": "ada@example.com"},
      "scopes": ["openid"],
      "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
      "refreshTokenPresent": true,
      "authTime": "2026-03-01T09:00:00Z",
      "lastValidatedAt": "2026-03-01T09:00:00Z"
    }
    """

  /// A login at another device.
  static let deviceLogin =
    """
    {
      "loginFlowId": "example-login",
      "profile": "default",
      "kind": "deviceCode",
      "verificationUri": "https://sso.example.com/device",
      "verificationUriComplete": "https://sso.example.com/device?user_code=WDJB-MJHT",
      "userCode": "WDJB-MJHT",
      "expiresAt": "2026-03-01T09:10:00Z",
      "intervalSeconds": 5
    }
    """

  /// A one-time code that was sent by SMS.
  static let challenge =
    """
    {
      "otpFlowId": "example-flow",
      "profile": "default",
      "method": "sms",
      "maskedDestination": "•••• 42",
      "otpLength": 6,
      "expiresAt": "2026-03-01T09:05:00Z",
      "nextResendAt": "2026-03-01T09:00:30Z",
      "attemptsRemaining": 5,
      "backupCodesAllowed": false
    }
    """

  /// An account of the embedded provider.
  static let localUser =
    """
    {
      "id": "u-7f3a",
      "email": "ada@example.com",
      "emailVerified": true,
      "name": "Ada",
      "phoneNumberMasked": "•••• 42",
      "twoFactor": "off",
      "disabled": false,
      "createdAt": "2026-03-01T09:00:00Z",
      "sessions": 1
    }
    """

  /// A key of the embedded provider; the one of RFC 8037, appendix A.2.
  static let localKey = key("example-key", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")

  /// Another one; the zero point's encoding, which verifies nothing.
  static let newLocalKey = key("example-new-key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")

  private static func key(_ name: String, _ publicKey: String) -> String {
    #"{"kty": "OKP", "crv": "Ed25519", "x": "\#(publicKey)", "kid": "\#(name)", "use": "sig", "alg": "EdDSA"}"#
  }
}
