/// The members of a reply that a session hangs on: what they say must not depend on who reads it.
package struct VitalMembers: Sendable, Equatable {
  /// The paths of their names, and those of the objects that they are in.
  private let paths: Set<[String]>

  /// Members at these paths, each of them the names of members from the outside in.
  package init(_ paths: [[String]]) {
    self.paths = Set(paths.flatMap { path in path.indices.map { Array(path[...$0]) } })
  }

  /// Whether the member at a path is one.
  func contains(_ path: [String]) -> Bool { paths.contains(path) }
}
