public import JSON

/// The step that a pending login waits for: a one-time code, or a user action.
public enum PendingLoginStep: Sendable, Equatable {
  /// A one-time code.
  case code(OTPChallenge)
  /// Something that is done at another device or in a browser.
  case action(UserAction)

  /// The broker's handle of the login.
  public var id: String {
    switch self {
    case .code(let challenge): challenge.otpFlowID
    case .action(let action): action.loginFlowID
    }
  }

  /// The profile that logs in.
  public var profile: ProfileName {
    switch self {
    case .code(let challenge): challenge.profile
    case .action(let action): action.profile
    }
  }

  /// When the login ends if no client continues it.
  public var expiresAt: Timestamp {
    switch self {
    case .code(let challenge): challenge.expiresAt
    case .action(let action): action.expiresAt
    }
  }

  /// The parameter `clientContext` of the login.
  public var clientContext: String? {
    switch self {
    case .code(let challenge): challenge.clientContext
    case .action(let action): action.clientContext
    }
  }

  /// The connections that began the login.
  package var beginners: LoginBeginners {
    switch self {
    case .code(let challenge): challenge.beginners
    case .action(let action): action.beginners
    }
  }

  /// The challenge, where a code is wanted.
  public var challenge: OTPChallenge? {
    if case .code(let challenge) = self { challenge } else { nil }
  }

  /// The action, where the user does something elsewhere.
  public var action: UserAction? {
    if case .action(let action) = self { action } else { nil }
  }
}

extension PendingLoginStep: JSONEncodable, JSONDecodable {
  /// Writes the challenge or the action: their handles have different names.
  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .code(let challenge): challenge.encode(to: &writer)
    case .action(let action): action.encode(to: &writer)
    }
  }

  /// Reads a challenge where there is an `otpFlowId`, else an action.
  public init(from node: JSONNode) throws(JSONMismatch) {
    if node["otpFlowId"] != nil {
      self = .code(try OTPChallenge(from: node))
    } else {
      self = .action(try UserAction(from: node))
    }
  }
}
