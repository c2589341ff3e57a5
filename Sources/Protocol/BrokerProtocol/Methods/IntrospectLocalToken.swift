public import JSON
public import SecretMemory

/// Tells whether a token of the embedded provider is good now, and whose it is (RFC 7662).
///
/// A token that is unknown, expired, spent or revoked is not active, and nothing else is said of it.
///
/// - Throws: directory.
public enum IntrospectLocalToken: BrokerMethod {
  public static let name = "introspectLocalToken"

  public typealias Result = TokenIntrospection

  public struct Params: MethodParams, Equatable {
    /// An access token or a refresh token.
    public var token: Secret

    public init(token: Secret) { self.token = token }

    public static let blank = Params(token: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("token", &token, .token)
    }
  }
}
