import HTTP

/// The place of a value in a reply: the names of members from the outside in, or a cookie (RFC 6265).
package struct RESTPath: Sendable, Hashable {
  /// The names, at least one; none for a cookie.
  package let names: [String]
  /// The cookie's name; nil for a member.
  package let cookie: String?

  /// The prefix of a cookie's name.
  private static let cookieMark = "cookie:"

  /// More levels than any reply has.
  private static let depthLimit = 16

  /// Reads names joined by dots, or a cookie's name behind its mark; nil where a name is empty, or none, or there are too
  /// many.
  package init?(reading text: String) {
    if text.hasPrefix(Self.cookieMark) {
      let name = String(text.dropFirst(Self.cookieMark.count))
      guard HTTPCookie.isName(name) else { return nil }
      cookie = name
      names = []
      return
    }
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard !names.contains(""), names.count <= Self.depthLimit else { return nil }
    self.names = names
    cookie = nil
  }

  /// The path of a member of the outermost object.
  package init(name: String) {
    names = [name]
    cookie = nil
  }

  /// A path that is written in the program.
  init(_ text: String) {
    names = text.split(separator: ".").map(String.init)
    cookie = nil
  }
}
