public import JSON

/// The answer to a login: its progress, and the context that its client gave.
public struct LoginResult: Sendable, Equatable {
  /// How far it came.
  public var progress: LoginProgress
  /// The parameter `clientContext` of the login, as it was given.
  public var clientContext: String?
  /// How many backup codes are left, after a login by one and where the provider says so.
  public var backupCodesRemaining: Int?

  public init(_ progress: LoginProgress, clientContext: String? = nil, backupCodesRemaining: Int? = nil) {
    self.progress = progress
    self.clientContext = clientContext
    self.backupCodesRemaining = backupCodesRemaining
  }
}

extension LoginResult: JSONEncodable, JSONDecodable {
  /// Writes the result with its `status`.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      progress.encodeMembers(to: &writer)
      writer.member(ifPresent: "clientContext", clientContext)
      writer.member(ifPresent: "backupCodesRemaining", backupCodesRemaining)
    }
  }

  /// Reads a result by its `status`.
  public init(from node: JSONNode) throws(JSONMismatch) {
    progress = try LoginProgress(from: node)
    clientContext = try node.optional("clientContext", String.init(from:))
    backupCodesRemaining = try node.optional("backupCodesRemaining", Int.init(from:))
  }
}
