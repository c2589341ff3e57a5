public import JSONRPC

/// A session has ended: log in again.
public struct SessionExpiredEvent: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// Why a session has ended.
  public enum Reason: String, Sendable, CaseIterable {
    case refreshRejected, refreshTokenExpired, noRefreshToken, idleTimeout, refreshOutcomeUnknown, securityTermination
  }

  /// Why the session has ended.
  public var reason: Reason
  /// One plain sentence, where the reason alone leaves open what has happened.
  public var message: String?

  /// The data with its members.
  public init(reason: Reason, message: String? = nil) {
    self.reason = reason
    self.message = message
  }

  /// Writes the members.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("reason", reason.rawValue)
      writer.member(ifPresent: "message", message)
    }
  }

  /// Reads the members.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let reasonNode = try node.required("reason")
    guard let reason = Reason(rawValue: try reasonNode.string()) else { throw reasonNode.mismatch("a known reason") }
    self.reason = reason
    message = try node.optional("message", String.init(from:))
  }
}

extension SessionExpiredEvent.Reason {
  /// What has happened, where a user would otherwise look for a mistake of their own; nil where the name says it.
  public var explanation: String? {
    switch self {
    case .refreshOutcomeUnknown:
      "The reply to a refresh was lost before its tokens were saved, and the provider does not take the spent refresh "
        + "token again (no grace for that is known: rotationGraceSeconds)."
    case .refreshRejected, .refreshTokenExpired, .noRefreshToken, .idleTimeout, .securityTermination: nil
    }
  }
}
