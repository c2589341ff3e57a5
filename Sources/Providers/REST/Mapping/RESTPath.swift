/// Where a value stands in a reply: the names of members from the outside in.
package struct RESTPath: Sendable, Hashable {
  /// The names, at least one.
  package let names: [String]

  /// More levels than any reply has.
  private static let depthLimit = 16

  /// Reads names joined by dots; nil where one of them is empty, or there are too many.
  package init?(reading text: String) {
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains(""), names.count <= Self.depthLimit else { return nil }
    self.names = names
  }

  /// The path of a member of the outermost object.
  package init(name: String) { names = [name] }

  /// A path that is written in the program.
  init(_ text: String) {
    names = text.split(separator: ".").map(String.init)
  }
}
