package import HTTP

/// The form of a reply's body, by its first character: content types are often wrong.
package enum BodyForm: Equatable, Sendable {
  /// There is none, or only blanks.
  case empty
  /// A JSON object or array, by its beginning.
  case json
  /// A page for people: a proxy, a firewall or a captive portal speaks.
  case html
  /// Anything else.
  case other

  private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
  /// A byte order mark in UTF-8, which some servers write before everything.
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Classifies the body; one labelled as a page is taken for one, unless it is empty, or the whole of it is the object
  /// of a refusal.
  package init(_ response: HTTPResponse) {
    let isPage = response.mediaType?.essence == "text/html" && !ReplyObject.isRefusal(response)
    self = response.body.withBytes { bytes in
      switch bytes.indices.first(where: { !Self.isBlank(bytes, $0) }).map({ bytes[$0] }) {
      case nil: .empty
      case _ where isPage: .html
      case UInt8(ascii: "<"): .html
      case UInt8(ascii: "{"), UInt8(ascii: "["): .json
      default: .other
      }
    }
  }

  private static func isBlank(_ bytes: Span<UInt8>, _ index: Int) -> Bool {
    blanks.contains(bytes[index]) || index < mark.count && bytes[index] == mark[index]
  }
}
