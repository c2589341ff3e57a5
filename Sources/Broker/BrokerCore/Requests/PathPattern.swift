package import BrokerProtocol

/// A pattern for the path of an address: `*` stands for any characters within a segment, and `**` for any number of segments,
/// none included.
///
/// Paths are compared in their one spelling, and case-sensitively; the query is no part of them.
package struct PathPattern: Sendable, Equatable {
  private static let anySegments = "**"

  private let segments: [NamePattern]

  /// A pattern as it is written, such as `/v1/orders/*` or `/v1/**`.
  ///
  /// - Throws: `TargetAddress.Fault` for what no path can be compared with.
  package init(_ text: String) throws(TargetAddress.Fault) {
    guard text.hasPrefix("/"), !text.contains("?"), !text.contains("#") else { throw .path }
    segments = try TargetAddress("https://any.invalid" + text).path.map { NamePattern($0) }
  }

  /// Whether a path is one of these.
  func matches(_ path: [String]) -> Bool {
    Wildcards.match(segments, path, isAny: { $0.text == Self.anySegments }, fits: { $0.matches($1) })
  }
}
