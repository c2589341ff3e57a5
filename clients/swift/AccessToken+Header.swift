public import BrokerProtocol
public import SecretMemory

extension AccessToken {
  /// The name of the HTTP header that carries the token: `Authorization`, unless the profile's provider is static and names
  /// another.
  public var headerName: String {
    target?.scheme == .basic ? AuthorizationValue.standardField : header ?? AuthorizationValue.standardField
  }

  /// The value of that header, as the target wants it: `Bearer` and the token (RFC 6750, section 2.1), or `Basic`, the
  /// target's user name and the token (RFC 7617); a secret of the configuration as that says.
  ///
  /// A string cannot be wiped: make it where the request is made, and keep none.
  public var authorizationHeader: String {
    let prefix = AuthorizationValue.prefix(header: header, type: tokenType)
    var value = AuthorizationValue.bytes(accessToken, target?.scheme, username: target?.username, prefix: prefix)
    defer { wipe(&value) }
    // A token that came as JSON is UTF-8.
    return String(decoding: value, as: UTF8.self)
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
