public import JSON

/// What a login is answered with: how far it came, and what its caller wants to have back.
public struct LoginResult: Sendable, Equatable {
  /// How far it came.
  public var progress: LoginProgress
  /// The parameter `clientContext` of the login, as it was given.
  public var clientContext: String?

  public init(_ progress: LoginProgress, clientContext: String? = nil) {
    self.progress = progress
    self.clientContext = clientContext
  }
}

extension LoginResult: JSONEncodable, JSONDecodable {
  /// Writes the result with its `status`.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in encodeMembers(to: &writer) }
  }

  /// Writes the members into an object that has others beside them.
  func encodeMembers(to writer: inout JSONWriter) {
    progress.encodeMembers(to: &writer)
    writer.member(ifPresent: "clientContext", clientContext)
  }

  /// Reads a result by its `status`.
  public init(from node: JSONNode) throws(JSONMismatch) {
    progress = try LoginProgress(from: node)
    clientContext = try node.optional("clientContext", String.init(from:))
  }
}
