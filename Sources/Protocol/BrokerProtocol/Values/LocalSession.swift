public import JSON

/// A session at the embedded provider: the refresh tokens that follow from one login, whichever client holds them.
public struct LocalSession: Sendable, Equatable {
  /// Names the session, also in its access tokens (the claim sid).
  public var id: String
  /// The identifier of the account.
  public var user: String
  /// The scopes of its tokens.
  public var scopes: [String]
  /// When it began.
  public var createdAt: Timestamp
  /// When it was last refreshed; when it began, where it never was.
  public var lastUsedAt: Timestamp
  /// When it expires.
  public var expiresAt: Timestamp
  /// The methods of the user's authentication (RFC 8176): pwd, otp, sms, mfa.
  public var methods: [String]

  public init(
    id: String, user: String, scopes: [String], createdAt: Timestamp, lastUsedAt: Timestamp, expiresAt: Timestamp,
    methods: [String]
  ) {
    self.id = id
    self.user = user
    self.scopes = scopes
    self.createdAt = createdAt
    self.lastUsedAt = lastUsedAt
    self.expiresAt = expiresAt
    self.methods = methods
  }
}

extension LocalSession: ObjectCodable {
  public static let blank = LocalSession(
    id: "", user: "", scopes: [], createdAt: .epoch, lastUsedAt: .epoch, expiresAt: .epoch, methods: [])

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("id", &id)
    try coder.required("user", &user)
    try coder.required("scopes", &scopes)
    try coder.required("createdAt", &createdAt)
    try coder.required("lastUsedAt", &lastUsedAt)
    try coder.required("expiresAt", &expiresAt)
    try coder.required("amr", &methods)
  }
}
