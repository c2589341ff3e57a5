import JSON

/// The members of a reply that a session depends on: in malformed JSON they must be sound and unambiguous.
package struct VitalMembers: Sendable, Equatable {
  /// The paths of their names, and those of the objects that they are in.
  private let paths: Set<[String]>
  /// The paths of the access token.
  private let accessToken: [[String]]
  /// The paths of both tokens.
  let tokens: [[String]]

  /// Members at these paths, each of them the names of members from the outside in; the tokens are among them.
  package init(_ paths: [[String]], accessToken: [[String]] = [], refreshToken: [[String]] = []) {
    tokens = accessToken + refreshToken
    self.accessToken = accessToken
    self.paths = Set((paths + tokens).flatMap { path in path.indices.map { Array(path[...$0]) } })
  }

  /// Whether the member at a path is one.
  func contains(_ path: [String]) -> Bool { paths.contains(path) }

  /// Whether an object has an access token.
  func isGiven(in root: JSONNode) -> Bool {
    accessToken.contains { path in
      var node: JSONNode? = root
      for name in path { node = node?[name] }
      return node.flatMap { try? $0.string() }?.isEmpty == false
    }
  }
}
