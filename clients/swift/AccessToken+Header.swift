public import BrokerProtocol
public import SecretMemory

extension AccessToken {
  /// The value of the HTTP header `Authorization` (RFC 6750, section 2.1): `Bearer` and the token.
  ///
  /// A string cannot be wiped: make it where the request is made, and keep none.
  public var authorizationHeader: String {
    // A token that came as JSON is UTF-8.
    "Bearer " + (accessToken.revealedString() ?? "")
  }
}

/// An interpolated token would be the text `<redacted>`, and a request with that fails far from its cause.
extension DefaultStringInterpolation {
  /// Refused by the compiler.
  @available(*, unavailable, message: "a token prints as <redacted>; use its authorizationHeader")
  public mutating func appendInterpolation(_ token: AccessToken) {}

  /// Refused by the compiler.
  @available(*, unavailable, message: "a secret prints as <redacted>; use revealedString() where it must be a string")
  public mutating func appendInterpolation(_ secret: Secret) {}
}
