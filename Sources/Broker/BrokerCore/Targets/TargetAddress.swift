import JSON
import TextCoding

/// The parts of an address that decide whose token it gets: scheme, host, port and the segments of the path.
///
/// Addresses are compared after they are taken apart (RFC 3986, section 6.2.2), and what another reader could take for
/// something else is refused: dot segments, also before a parameter, empty segments, slashes and dots that are encoded
/// once or twice, backslashes, and encoded delimiters in front of the host.
package struct TargetAddress: Sendable, Hashable {
  /// Why an address cannot be compared.
  package enum Fault: Error, Equatable, Sendable {
    /// The scheme is not one that a token is sent over.
    case scheme
    /// The host or the port is missing or malformed.
    case host
    /// In the clear, to another machine.
    case clear
    /// The path means something else once it is normalised, or has characters that no address has.
    case path

    /// What should stand there, as the end of a sentence: "must be …".
    package var expectation: String {
      switch self {
      case .scheme:
        "an address that begins with https://, smtps://, smtp://, imaps:// or imap://, or http:// for this machine"
      case .host: "an address with a host's name in lower-case ASCII, and a port from 1 to 65535 if any"
      case .clear: "an https:// address; http:// is for this machine only"
      case .path: "an address whose path has no \"..\", \".\", \"//\", \"\\\" or encoded \"/\""
      }
    }
  }

  /// Where the server is.
  package struct Origin: Sendable, Hashable {
    /// How it is spoken to, in lower case.
    package let scheme: String
    /// Its name or address, in lower case.
    package let host: String
    /// Its port.
    package let port: Int
  }

  /// Where the server is.
  package let origin: Origin
  /// The segments of the path, without a trailing slash, each in its one spelling.
  package let path: [String]

  /// Takes an address apart; user information, query and fragment are ignored.
  ///
  /// - Throws: why it cannot be compared.
  package init(_ text: String) throws(Fault) {
    // The schemes that a token is sent over are those whose port is known.
    guard let parts = AddressParts(text), let standardPort = AddressParts.port(of: parts.scheme) else { throw .scheme }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("\\") else { throw .path }
    guard Self.isPlainUser(parts.user?.lowercased() ?? ""), let server = parts.server else { throw .host }
    guard parts.scheme != "http" || server.isLoopback else { throw .clear }
    origin = Origin(scheme: parts.scheme, host: server.host, port: server.port ?? standardPort)
    path = try Self.segments(parts.rest.prefix { $0 != "?" && $0 != "#" })
  }

  /// Whether this address lies at or below another one.
  package func isBelow(_ other: TargetAddress) -> Bool { origin == other.origin && path.starts(with: other.path) }

  /// Whether user information ends where it seems to: a reader that decodes it first finds no other host in it (RFC
  /// 3986, section 2.4).
  private static func isPlainUser(_ user: String) -> Bool {
    let delimiters = ["@", "[", "]", "%2f", "%3f", "%23", "%40", "%3a", "%5b", "%5d", "%5c", "%25", "%0", "%1", "%7f"]
    return !delimiters.contains { user.includes($0) }
  }

  private static func segments(_ path: Substring) throws(Fault) -> [String] {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(normal)
    if segments.last?.isEmpty == true { segments.removeLast() }
    for segment in segments {
      let segment = segment.lowercased()
      guard !["%2f", "%5c", "%2e", "%00"].contains(where: { segment.includes($0) }), !isEncodedTwice(segment),
        !["", ".", ".."].contains(withoutParameters(segment))
      else { throw .path }
    }
    return segments
  }

  /// A segment in which what needs no encoding has none, and the rest is encoded in upper case (RFC 3986, section 6.2.2).
  ///
  /// An encoded point stays encoded: it is refused.
  private static func normal(_ segment: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(segment.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), rest.count > 1, let high = PercentEncoding.value(ofDigit: rest[rest.startIndex]),
        let low = PercentEncoding.value(ofDigit: rest[rest.startIndex + 1])
      else {
        bytes.append(byte)
        continue
      }
      let value = high << 4 | low
      let needsNone = PercentEncoding.isUnreserved(value) && value != UInt8(ascii: ".")
      bytes += needsNone ? [value] : Array("%\(value < 16 ? "0" : "")\(String(value, radix: 16, uppercase: true))".utf8)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A segment without what follows a `;` (RFC 3986, section 3.3), which some servers leave out before they step up.
  private static func withoutParameters(_ segment: String) -> String {
    let ends = [";", "%3b"].compactMap { segment.firstOccurrence(of: $0)?.lowerBound }
    return String(segment[..<(ends.min() ?? segment.endIndex)])
  }

  /// Whether a percent sign was encoded that begins an encoded byte, which a reader that decodes twice takes for that.
  private static func isEncodedTwice(_ segment: String) -> Bool {
    let bytes = Array(segment.utf8)
    return bytes.indices.dropLast(4).contains { index in
      bytes[index...].starts(with: "%25".utf8) && PercentEncoding.value(ofDigit: bytes[index + 3]) != nil
        && PercentEncoding.value(ofDigit: bytes[index + 4]) != nil
    }
  }
}
