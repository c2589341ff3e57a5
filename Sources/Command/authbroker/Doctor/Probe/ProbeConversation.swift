import HTTPMessage
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
  private var head = RequestHead(longest: 1 << 16)
  // What follows the head.
  private var body: BodyReader?
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
    let start = pending.count
    pending += bytes
    if pending.first == 0x16 {
      sawTLS = true
      // docker and podman go on without TLS after such an answer.
      return Answer(bytes: Self.response("400 Bad Request"), closes: true)
    }
    return dialect == .http ? answerToRequest(start) : answerToLines()
  }

  /// Forgets what was received, which may hold the token.
  mutating func end() {
    head.wipe()
    wipe(&pending)
  }

  // MARK: HTTP

  private mutating func answerToRequest(_ start: Int) -> Answer {
    // The same bytes, not another copy of them: nothing changes them here.
    let received = pending
    let bytes = received.span.extracting(start...)
    var position = 0
    var answer = Answer()
    if body == nil {
      switch head.read(bytes) {
      case .incomplete: return answer
      case .refused: return Answer(bytes: Self.response("400 Bad Request"), closes: true)
      case .complete(let count):
        position = count
        body = BodyReader(head.body, longestLine: 4096)
        // A client that asks first (RFC 9110, section 10.1.1).
        if head.value(of: "expect") != nil { answer.bytes = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
      }
    }
    while let event = body?.next(in: bytes, from: &position) {
      switch event {
      case .data: continue
      case .malformed: return Answer(bytes: Self.response("400 Bad Request"), closes: true)
      case .end: return answerToWholeRequest()
      }
    }
    return answer
  }

  private mutating func answerToWholeRequest() -> Answer {
    sawToken = sawToken || search.finds(in: pending[...])
    // pip sends a user without a password first.
    return Answer(
      bytes: sawToken
        ? Self.response("404 Not Found")
        : Self.response("401 Unauthorized", [("WWW-Authenticate", challenge)]),
      closes: true)
  }

  private static func response(_ status: String, _ fields: [(String, String)] = []) -> [UInt8] {
    ResponseMessage.bytes(status, fields + [("Content-Type", "application/json")], body: "{}")
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
