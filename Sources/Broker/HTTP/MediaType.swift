/// A media type (RFC 9110, section 8.3.1), without its parameters.
package struct MediaType: Sendable, Equatable {
  /// `type/subtype` in lower case.
  package let essence: String

  /// Reads a Content-Type, or gives `nil` where it has no type and subtype.
  package init?(_ value: String) {
    let essence = value.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }), essence.utf8.count <= 127 else { return nil }
    self.essence = essence
  }

  /// Whether the body is JSON: `application/json`, or a type built on it (`application/problem+json`, RFC 6839).
  package var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json") }
}
