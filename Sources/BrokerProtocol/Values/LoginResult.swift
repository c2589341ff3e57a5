public import JSON

/// How far a login came.
public enum LoginResult: Sendable, Equatable {
  /// A session exists.
  case authenticated(Session)
  /// A one-time code is wanted.
  case otpRequired(OTPChallenge)
  /// The user has to do something elsewhere.
  case userActionRequired(UserAction)
  /// The e-mail address must be verified first.
  case emailVerificationRequired
}

extension LoginResult: JSONEncodable, JSONDecodable {
  public static let schema = JSONSchema.named(
    "LoginResult",
    .oneOf([
      .object([
        .required("status", .word("authenticated")), .required("session", Session.schema),
        .optional(
          "backupCodesRemaining", .count, "After a login by backup code, where the provider says so."),
      ]),
      .object([
        .required("status", .word("otpRequired")), .required("requires2FA", .onlyTrue),
        .required("challenge", OTPChallenge.schema),
      ]),
      .object([.required("status", .word("userActionRequired")), .required("action", UserAction.schema)]),
      .object([.required("status", .word("emailVerificationRequired"))]),
    ]))

  /// Writes the result with its `status`.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in encodeMembers(to: &writer) }
  }

  /// Writes the members into an object that has others beside them.
  func encodeMembers(to writer: inout JSONWriter) {
    switch self {
    case .authenticated(let session):
      writer.member("status", "authenticated")
      writer.member("session", session)
    case .otpRequired(let challenge):
      writer.member("status", "otpRequired")
      writer.member("requires2FA", true)
      writer.member("challenge", challenge)
    case .userActionRequired(let action):
      writer.member("status", "userActionRequired")
      writer.member("action", action)
    case .emailVerificationRequired:
      writer.member("status", "emailVerificationRequired")
    }
  }

  /// Reads a result by its `status`.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let status = try node.required("status")
    switch try status.string() {
    case "authenticated": self = .authenticated(try Session(from: try node.required("session")))
    case "otpRequired": self = .otpRequired(try OTPChallenge(from: try node.required("challenge")))
    case "userActionRequired": self = .userActionRequired(try UserAction(from: try node.required("action")))
    case "emailVerificationRequired": self = .emailVerificationRequired
    default: throw status.mismatch("a known status")
    }
  }
}
