import BrokerProtocol
import SecretMemory
import TextCoding

/// A request of git to a credential helper (git-credential(1), "Input/output format").
struct GitCredential: Equatable, Sendable {
  /// Why an input cannot be followed.
  enum Fault: Error, Equatable, Sendable {
    /// A line is longer than ``longestLine``.
    case longLine
    /// A NUL or a carriage return, which could end a line for another reader.
    case controlByte
    /// A line is no `key=value`.
    case noEqualsSign
    /// A value is not UTF-8.
    case noText
    /// The memory for secrets is used up.
    case noMemory

    /// The fault, as the end of a sentence.
    var reason: String {
      switch self {
      case .longLine: "a line is longer than \(GitCredential.longestLine) bytes"
      case .controlByte: "there is a NUL or a carriage return in it"
      case .noEqualsSign: "a line is not KEY=VALUE"
      case .noText: "a value is not UTF-8"
      case .noMemory: "the memory for secrets is used up"
      }
    }
  }

  /// The longest line that git itself writes, without its end.
  static let longestLine = 65_535
  /// The prefix of a state of this program; the rest is the identifier of the token that was given out.
  static let statePrefix = "authbroker:"

  /// The scheme of the server, such as `https`.
  var scheme = ""
  /// Its name, and its port where that is not the usual one.
  var host = ""
  /// The path, without a slash at its beginning, where git is told to use it (credential.useHttpPath).
  var path: String?
  /// The user name, where git knows one.
  var username: String?
  /// The password that the server has taken or refused.
  var password: Secret?
  /// The same for a scheme of authentication that is not basic.
  var credential: Secret?
  /// git's capabilities beyond user name and password.
  var capabilities: [String] = []
  /// The states that helpers want to be sent again.
  var states: [String] = []
  /// The values of the server's `WWW-Authenticate`.
  var challenges: [String] = []

  /// A credential of which nothing is known.
  init() {}

  /// Reads lines up to an empty one.
  ///
  /// What has no meaning here is left out, as git demands it.
  ///
  /// - Throws: why it cannot be followed.
  init(parsing bytes: [UInt8]) throws(Fault) {
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      guard !line.isEmpty else { return }
      guard line.count <= Self.longestLine else { throw .longLine }
      guard !line.contains(0), !line.contains(0x0D) else { throw .controlByte }
      guard let sign = line.firstIndex(of: UInt8(ascii: "=")), sign > line.startIndex else { throw .noEqualsSign }
      try read(line[..<sign], line[(sign + 1)...])
    }
  }

  private mutating func read(_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws(Fault) {
    switch String(decoding: key, as: UTF8.self) {
    case "protocol": scheme = try Self.text(value)
    case "host": host = try Self.text(value)
    case "path": path = try Self.text(value)
    case "username": username = try Self.text(value)
    case "password": password = try Self.secret(value)
    case "credential": credential = try Self.secret(value)
    case "capability[]": Self.add(try Self.text(value), to: &capabilities)
    case "state[]": Self.add(try Self.text(value), to: &states)
    case "wwwauth[]": Self.add(try Self.text(value), to: &challenges)
    default: break
    }
  }

  /// Adds to a list; an empty value empties it.
  private static func add(_ value: String, to list: inout [String]) {
    if value.isEmpty { list = [] } else { list.append(value) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(Fault) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .noText }
    return text
  }

  private static func secret(_ bytes: ArraySlice<UInt8>) throws(Fault) -> Secret {
    do { return try Secret(copying: bytes.span) } catch { throw .noMemory }
  }
}

extension GitCredential {
  /// Whether a token is sent as a password of a mail protocol (git-send-email(1), git-imap-send(1)).
  var isMail: Bool { ["smtp", "imap", "imaps"].contains(scheme) }

  /// The addresses under which the server may stand among the targets, the likeliest first; none where it cannot.
  ///
  /// git says `smtp` whether the connection begins with TLS or not; only a named port tells which server that is.
  var urls: [String] {
    let known = ["https", "http", "smtp", "imap", "imaps"]
    guard known.contains(scheme), !host.isEmpty, host.utf8.allSatisfy(Self.isPartOfHost) else { return [] }
    let tail = host + (path.map { "/" + Self.encoded($0) } ?? "")
    let hasPort = host.last.map { $0 != "]" } == true && host.contains(":")
    let schemes = [scheme] + (scheme == "smtp" && hasPort ? ["smtps"] : [])
    return schemes.map { TargetUser.named(username, in: "\($0)://\(tail)") }
  }

  /// The token that this program gave out for the same request, and that the server has refused.
  var refusedTokenID: String? {
    states.last { $0.hasPrefix(Self.statePrefix) }.map { String($0.dropFirst(Self.statePrefix.count)) }
  }

  /// Whether the server offers a scheme of authentication (RFC 9110, section 11.6.1).
  func offers(_ scheme: String) -> Bool {
    challenges.contains { challenge in
      challenge.prefix { $0 != " " && $0 != "," }.lowercased() == scheme
    }
  }

  private static func isPartOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "-._:[]".utf8.contains(byte)
    }
  }

  /// A path as it stands in an address: git has decoded it (RFC 3986, section 3.3).
  private static func encoded(_ path: String) -> String {
    PercentEncoding.encoded(path, keeping: "!$&'()*+,;=:@/")
  }
}
