import JSON
import SecretMemory

/// What the probe says to one connection of a tool, and what it has seen there; it does no input or output itself.
///
/// Every request gets a refusal, so that nothing is stored, sent or fetched: one of HTTP without the token is asked for it
/// (RFC 9110, section 11.6.1), and one with it finds nothing.
struct ProbeConversation: Sendable {
  /// What the tool speaks.
  enum Dialect: Sendable {
    /// HTTP/1.1; what begins with TLS is told that there is none.
    case http
    /// SMTP with AUTH (RFC 4954).
    case smtp
    /// IMAP4rev1 with an initial response (RFC 3501, RFC 4959).
    case imap
  }

  /// What to do after some bytes.
  struct Answer: Equatable, Sendable {
    /// What is sent.
    var bytes: [UInt8] = []
    /// Whether the connection is closed then.
    var closes = false
  }

  /// More than any request has whose headers are sound: the rest is not read.
  private static let longest = 1 << 18

  private let dialect: Dialect
  private let challenge: String
  private let search: TokenSearch
  private var pending: [UInt8] = []
  // Where the first line is that was not answered: nothing is removed before all of it is wiped.
  private var place = 0

  /// Whether the token came.
  private(set) var sawToken = false
  /// Whether it began with a TLS handshake (RFC 8446, section 5.1).
  private(set) var sawTLS = false

  /// A connection that has just been made.
  ///
  /// - Parameters:
  ///   - dialect: what is spoken.
  ///   - challenge: the schemes of HTTP that are asked for, as the value of `WWW-Authenticate`.
  ///   - search: the token.
  init(_ dialect: Dialect, challenge: String, _ search: TokenSearch) {
    self.dialect = dialect
    self.challenge = challenge
    self.search = search
  }

  /// What is said before the tool has said anything.
  var greeting: [UInt8] {
    switch dialect {
    case .http: []
    case .smtp: Array("220 authbroker doctor\r\n".utf8)
    case .imap: Array("* OK [CAPABILITY \(Self.abilities)] authbroker doctor\r\n".utf8)
    }
  }

  /// Takes what the tool has sent.
  mutating func received(_ bytes: some Collection<UInt8>) -> Answer {
    // All at once: an array that grows leaves its bytes behind.
    pending.reserveCapacity(Self.longest)
    guard bytes.count <= Self.longest - pending.count else { return Answer(closes: true) }
    pending += bytes
    if pending.first == 0x16 {
      sawTLS = true
      // docker and podman go on without TLS after such an answer.
      return Answer(bytes: Self.response("400 Bad Request"), closes: true)
    }
    return dialect == .http ? answerToRequest() : answerToLines()
  }

  /// Forgets what was received, which may hold the token.
  mutating func end() { wipe(&pending) }

  // MARK: HTTP

  private mutating func answerToRequest() -> Answer {
    guard let end = pending.firstOccurrence(of: Array("\r\n\r\n".utf8)) else { return Answer() }
    let head = pending[..<end.lowerBound]
    let length = Self.field("content-length", in: head).flatMap { Int($0) } ?? 0
    guard length >= 0, pending.count - end.upperBound >= length else {
      // A client that asks first (RFC 9110, section 10.1.1).
      let waits = Self.field("expect", in: head) != nil
      return Answer(bytes: waits ? Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) : [])
    }
    sawToken = sawToken || search.finds(in: pending[...])
    // pip sends a user without a password first.
    return Answer(
      bytes: sawToken
        ? Self.response("404 Not Found")
        : Self.response("401 Unauthorized", "WWW-Authenticate: \(challenge)\r\n"),
      closes: true)
  }

  /// The first word of a field; no other field becomes a string, which could not be wiped.
  private static func field(_ name: String, in head: ArraySlice<UInt8>) -> String? {
    for line in head.split(separator: UInt8(ascii: "\n")).dropFirst() {
      let title = line.prefix { $0 != UInt8(ascii: ":") }
      guard title.count == name.utf8.count, String(decoding: title, as: UTF8.self).lowercased() == name
      else { continue }
      let words = line.dropFirst(title.count + 1).split { $0 <= UInt8(ascii: " ") }
      return String(decoding: words.first ?? [], as: UTF8.self)
    }
    return nil
  }

  private static func response(_ status: String, _ fields: String = "") -> [UInt8] {
    let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Type: application/json\r\n"
    return Array("\(head)Content-Length: 2\r\nConnection: close\r\n\r\n{}".utf8)
  }

  // MARK: Mail

  private static let longestWord = 16
  private static let abilities = "IMAP4rev1 SASL-IR AUTH=OAUTHBEARER AUTH=XOAUTH2"

  private mutating func answerToLines() -> Answer {
    var answer = Answer()
    while !answer.closes, let end = pending[place...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = pending[place..<end]
      place = end + 1
      sawToken = sawToken || search.finds(in: line)
      // No more of it than a command has becomes a string, which could not be wiped.
      let words = line.split(maxSplits: 2) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }.prefix(2)
        .map { String(decoding: $0.prefix(Self.longestWord), as: UTF8.self) }
      let (text, closes) = dialect == .smtp ? Self.smtp(words) : Self.imap(words)
      answer.bytes += Array(text.utf8)
      answer.closes = closes
    }
    return answer
  }

  private static func smtp(_ words: [String]) -> (String, Bool) {
    switch words.first?.uppercased() {
    case "EHLO": ("250-authbroker doctor\r\n250 AUTH OAUTHBEARER XOAUTH2\r\n", false)
    case "QUIT": ("221 2.0.0 closing\r\n", true)
    default: ("535 5.7.8 this is a probe: every login is refused\r\n", false)
    }
  }

  private static func imap(_ words: [String]) -> (String, Bool) {
    let tag = words.first ?? "*"
    return switch words.dropFirst().first?.uppercased() {
    case "CAPABILITY": ("* CAPABILITY \(abilities)\r\n\(tag) OK done\r\n", false)
    case "NOOP": ("\(tag) OK done\r\n", false)
    case "LOGOUT": ("* BYE closing\r\n\(tag) OK done\r\n", true)
    default: ("\(tag) NO [AUTHENTICATIONFAILED] this is a probe: every login is refused\r\n", false)
    }
  }
}
