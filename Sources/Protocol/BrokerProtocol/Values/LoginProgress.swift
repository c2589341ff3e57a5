import JSON

/// How far a login came.
public enum LoginProgress: Sendable, Equatable {
  /// A session exists.
  case authenticated(Session)
  /// A one-time code is required.
  case otpRequired(OTPChallenge)
  /// The user has to do something elsewhere.
  case userActionRequired(UserAction)
  /// The e-mail address must be verified first.
  case emailVerificationRequired
}

extension LoginProgress {
  /// The same for another caller of a login that several share: a challenge or action holds what its caller has given.
  package func with(clientContext: String?) -> LoginProgress {
    switch self {
    case .otpRequired(var challenge):
      challenge.clientContext = clientContext
      return .otpRequired(challenge)
    case .userActionRequired(var action):
      action.clientContext = clientContext
      return .userActionRequired(action)
    case .authenticated, .emailVerificationRequired: return self
    }
  }
}

/// The members of a ``LoginResult`` that say how far it came.
extension LoginProgress {
  /// Writes the members with their `status`.
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

  /// Reads the members by their `status`.
  init(from node: JSONNode) throws(JSONMismatch) {
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
