import JSON
import TextCoding

/// The parts of an address that decide whose token it gets: scheme, user name, host, port and the segments of the path.
///
/// Addresses are compared after they are taken apart (RFC 3986, section 6.2.2), and what another reader could take for
/// something else is refused: dot segments, also before a parameter, empty segments, slashes and dots that are encoded
/// once or twice, backslashes, and encoded delimiters in front of the host.
///
/// The names of Docker Hub are one registry (``isDockerHub``).
package struct TargetAddress: Sendable, Hashable {
  /// Why an address cannot be compared.
  package enum Fault: Error, Equatable, Sendable {
    /// The scheme is not one that a token is sent over.
    case scheme
    /// The host or the port is missing or malformed.
    case host
    /// In the clear, to another machine.
    case clear
    /// A user name that another reader could take for a host, or one with a password.
    case user
    /// A `*` that does not stand for the first labels of a name with two more.
    case wildcard
    /// It has characters that no address has (RFC 3986, section 2).
    case characters
    /// The path means something else once it is normalised.
    case path

    /// The expected text, as the end of a sentence: "must be …".
    package var expectation: String {
      switch self {
      case .scheme:
        "an address that begins with https://, smtps://, smtp://, imaps:// or imap://, or http:// for this machine"
      case .host:
        "an address with a host's name or an address in full (IPv6 in brackets, without a zone), and a port from 1 to "
          + "65535 if any"
      case .clear: "an https:// address; http:// is for this machine only"
      case .user: "an address whose user name is a name alone"
      case .wildcard: #"an address whose "*." stands before a name of at least two labels, as in https://*.example.com"#
      case .characters:
        "an address without blanks and letters beyond ASCII: those of a host are written as xn--…, those of a path "
          + "percent-encoded"
      case .path: "an address whose path has no \"..\", \".\", \"//\", \"\\\" or encoded \"/\""
      }
    }
  }

  /// The place of a server.
  package struct Origin: Sendable, Hashable {
    /// The scheme, in lower case (RFC 3986, section 3.1).
    package let scheme: String
    /// Its name or address, in lower case; for a prefix, `*.` may stand for one or more labels.
    package let host: String
    /// Its port.
    package let port: Int

    /// Itself, then what a prefix may say in its place, the narrowest first.
    package var patterns: [Origin] {
      var patterns = [self]
      var rest = host[...]
      while let point = rest.firstIndex(of: ".") {
        rest = rest[rest.index(after: point)...]
        patterns.append(Origin(scheme: scheme, host: TargetAddress.wildcard + rest, port: port))
      }
      return patterns
    }
  }

  private static let wildcard = "*."
  /// The servers of Docker Hub: of its accounts, of its short name, and of its registry; the first stands for all.
  private static let hub = ["index.docker.io", "docker.io", "registry-1.docker.io"].map {
    Origin(scheme: "https", host: $0, port: 443)
  }
  /// The path in docker's own address of Docker Hub (docker login(1)), which stands for all of the registry.
  private static let hubPath = ["v1"]

  /// The place of the server.
  package let origin: Origin
  /// The user name, decoded; nil where there is none.
  package let user: String?
  /// The segments of the path, without a trailing slash, each in its one spelling.
  package let path: [String]

  /// Takes an address apart; a password, the query and the fragment are ignored.
  ///
  /// - Throws: why it cannot be compared.
  package init(_ text: String) throws(Fault) { try self.init(text, isPrefix: false) }

  /// Takes the prefix of addresses apart, as a configuration names it: without a password, and the host may begin with `*.`.
  ///
  /// - Throws: why nothing can be compared with it.
  package init(prefix text: String) throws(Fault) { try self.init(text, isPrefix: true) }

  /// Takes the target of a request to a known server apart: its path, and a query, which is ignored.
  ///
  /// It is the address that the text of both would give, without reading the server's part again.
  ///
  /// - Parameters:
  ///   - target: begins with a slash.
  ///   - server: the place of the server, as an address without a wildcard gave it.
  /// - Throws: why it cannot be compared.
  package init(target: String, at server: Origin) throws(Fault) {
    guard target.utf8.first == UInt8(ascii: "/") else { throw .path }
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .characters }
    guard !target.utf8.contains(UInt8(ascii: "\\")) else { throw .path }
    let path = try Self.segments(target.prefix { $0 != "?" && $0 != "#" })
    (origin, user) = (server, nil)
    self.path = server == Self.hub[0] && path == Self.hubPath ? [] : path
  }

  private init(_ text: String, isPrefix: Bool) throws(Fault) {
    // The schemes that a token is sent over are those whose port is known.
    guard let parts = AddressParts(text), let standardPort = AddressParts.port(of: parts.scheme) else { throw .scheme }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .characters }
    guard !text[..<parts.rest.startIndex].contains("\\") else { throw .host }
    guard !parts.rest.contains("\\") else { throw .path }
    user = try parts.user.flatMap { text throws(Fault) in try Self.user(text, isPrefix: isPrefix) }
    let path = try Self.segments(parts.rest.prefix { $0 != "?" && $0 != "#" })
    let origin = try Self.origin(parts, standardPort: standardPort, isPrefix: isPrefix)
    let isHub = Self.hub.contains(origin)
    self.origin = isHub ? Self.hub[0] : origin
    self.path = isHub && path == Self.hubPath ? [] : path
  }

  /// Whether it is Docker Hub, or below it.
  package var isDockerHub: Bool { origin == Self.hub[0] }

  /// Whether this address lies at or below a prefix: one for another user is none of it.
  package func isBelow(_ prefix: TargetAddress) -> Bool {
    (prefix.user == nil || prefix.user == user) && origin.patterns.contains(prefix.origin)
      && path.starts(with: prefix.path)
  }

  private static func origin(_ parts: AddressParts, standardPort: Int, isPrefix: Bool) throws(Fault) -> Origin {
    let hasWildcard = isPrefix && parts.host.hasPrefix("*")
    guard !hasWildcard || parts.host.hasPrefix(wildcard) else { throw .wildcard }
    let server = hasWildcard ? ServerAddress(parts.host.dropFirst(wildcard.utf8.count)) : parts.server
    guard let server else { throw hasWildcard ? .wildcard : .host }
    // An address in numbers leaves no labels out; and a whole top level is too much for one token.
    let isName =
      server.host.contains(".") && !server.host.hasPrefix("[")
      && server.host.utf8.contains { (0x61...0x7A).contains($0) }
    guard !hasWildcard || isName else { throw .wildcard }
    guard parts.scheme != "http" || (server.isLoopback && !hasWildcard) else { throw .clear }
    return Origin(
      scheme: parts.scheme, host: (hasWildcard ? wildcard : "") + server.host, port: server.port ?? standardPort)
  }

  /// The user name of user information, decoded; nil where it is empty.
  private static func user(_ text: Substring, isPrefix: Bool) throws(Fault) -> String? {
    guard isPlainUser(text.lowercased()), !isPrefix || !(text.isEmpty || text.contains(":")) else { throw .user }
    let name = text.prefix { $0 != ":" }
    guard let bytes = PercentEncoding.decoded(name.utf8, as: .component),
      let user = String(validating: bytes, as: UTF8.self)
    else { throw .user }
    return user.isEmpty ? nil : user
  }

  /// Whether user information ends where it seems to: a reader that decodes it first finds no other host in it (RFC
  /// 3986, section 2.4).
  private static func isPlainUser(_ user: String) -> Bool {
    let delimiters = ["@", "[", "]", "%2f", "%3f", "%23", "%40", "%3a", "%5b", "%5d", "%5c", "%25", "%0", "%1", "%7f"]
    return !delimiters.contains { user.includes($0) }
  }

  private static func segments(_ path: Substring) throws(Fault) -> [String] {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    if segments.last?.isEmpty == true { segments.removeLast() }
    return try segments.map { segment throws(Fault) in
      guard !["", ".", ".."].contains(segment) else { throw .path }
      // Most have nothing that can be read in another way.
      guard segment.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: ";") }) else {
        return String(segment)
      }
      let normal = normal(segment)
      let lower = normal.lowercased()
      guard !["%2f", "%5c", "%2e", "%00"].contains(where: { lower.includes($0) }), !isEncodedTwice(lower),
        !["", ".", ".."].contains(withoutParameters(lower))
      else { throw .path }
      return normal
    }
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
