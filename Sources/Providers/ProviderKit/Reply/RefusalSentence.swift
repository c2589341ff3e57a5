import BrokerProtocol
import JSON

/// A provider's sentence or error name, as far as it is understood: by tables of words, and the nouns that they belong
/// to.
struct RefusalSentence {
  private let text: String
  private let clauses: [[String]]

  /// The single words that say that a refresh token, a grant or a session has ended.
  private static let ends: Set<String> = [
    "invalid", "expired", "revoked", "claimed", "reused", "consumed", "unknown", "inactive", "inactivity", "incorrect",
    "unrecognized", "stale", "deleted", "redeemed", "blacklisted", "blocklisted", "terminated", "cancelled", "canceled",
    "malformed", "rotated",
  ]
  /// The same in several words.
  private static let phrases: [[String]] = [
    "not valid", "no longer valid", "not found", "not been found", "not be found", "already used", "been used",
    "was used", "not active", "not exist", "not recognized", "not match", "not in database", "not in the database",
    "not in db",
  ].map { $0.split { $0 == " " }.map(String.init) }
  /// The words that may stand between such a word and the token that it belongs to.
  private static let links: Set<String> = [
    "or", "and", "the", "a", "an", "access", "your", "this", "that", "provided", "jwt",
  ]
  /// The nouns that such a word may belong to instead of the token.
  private static let things: Set<String> = [
    "request", "requests", "parameter", "parameters", "param", "header", "headers", "error", "host", "server", "proof",
    "flow", "body", "json", "url", "lookup", "endpoint", "route", "cookie", "cookies", "type", "types", "grant", "key",
    "state", "client",
  ]
  /// The adjectives of a grant type that is not understood.
  private static let kinds: Set<String> = ["unknown", "unrecognized", "incorrect", "malformed"]
  /// The owners of a grant or session that is not a user's.
  private static let owners: Set<String> = [
    "token", "tokens", "code", "password", "credentials", "client", "gateway", "proxy", "database", "db", "tls",
    "server",
  ]
  /// The words that are about the form or the object of the request, and not about the token.
  private static let others = [
    "grant type", "granttype", "missing", "required", "not allowed", "unsupported", "not supported", "must be",
    "must not", "should not", "no refresh token", "scope", "audience", "resource", "client id", "client secret",
    "client authentication", "client credentials", "invalid client", "assertion", "cookie", "in header",
    "in the header", "in body", "in the body", " /", "://", "cannot post",
  ]
  private static let patience = [
    "aadsts50196", "aadsts90033", "aadsts90055", "please retry", "retry later", "try again later", "try again after",
    "try again in", "too many requests", "rate limit", "ratelimit", "rate exceeded", "throttl", "temporarily",
    "concurrent requests", "quota", "in progress",
  ]
  private static let outages = [
    "server error", "internal error", "unavailable", "server busy", "overloaded", "maintenance", "deadlock",
    "econnrefused", "econnreset", "etimedout", "connection refused", "connection reset", "connection timed out",
    "connection terminated", "database error", "database connection", "database timeout", "backend timeout",
    "gateway timeout",
  ]
  private static let middleboxes = ["gateway", "proxy", "firewall", " vpn", "captive portal"]
  private static let targets = ["scope", "audience", "resource", "consent", "aadsts65001", "aadsts70011"]
  private static let clients = [
    "client assertion", "client secret", "client credential", "client auth", "invalid client", "unknown client",
    "client not found", "registration access token", "api key", "apikey",
  ]
  private static let credentials = ["client", "credentials", "full authentication"]
  private static let requests = [
    "is required", "must be a", "should not exist", "csrf", "invalid json", "unexpected token", "request body",
    "content type",
  ]
  private static let logins = ["login", "log in", "auth"]
  /// The obstacles to a login whose password may be right, with the words that name them.
  private static let obstacles: [(kind: ErrorKind, words: [String])] = [
    (.accountLocked, ["account disabled", "user disabled", "is disabled", "been disabled", " locked", "suspended"]),
    (.accountLocked, ["deactivated", "password expired", "password is expired", "password has expired"]),
    (.accountLocked, ["aadsts50053", "aadsts50055", "aadsts50057"]),
    (.emailUnverified, ["email not verified", "email is not verified", "email address is not verified"]),
    (.emailUnverified, ["email not confirmed", "verify your email", "confirmation email"]),
    (.captchaRequired, ["captcha"]),
    (.unsupportedByProvider, ["not fully set up", "multi factor", "multifactor", "two factor", "mfa required"]),
    (.unsupportedByProvider, ["otp required", "2fa required", "aadsts50074", "aadsts50076", "aadsts50079"]),
    (.invalidCredentials, ["do not match our records", "invalid credentials", "invalid login credentials"]),
    (.invalidCredentials, ["incorrect password", "wrong password", "invalid password", "invalid email or password"]),
    (.invalidCredentials, ["user not found", "account not found", "no such user", "no active account"]),
  ]

  /// A sentence, or a name; its case, quotes and the signs between its words say nothing.
  init(_ sentence: String) {
    var bytes: [UInt8] = []
    var wasSmall = false
    for byte in sentence.utf8 {
      switch byte {
      case UInt8(ascii: "_"), UInt8(ascii: "-"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): break
      case 0x41...0x5A: bytes += wasSmall ? [UInt8(ascii: " "), byte | 0x20] : [byte | 0x20]
      default: bytes.append(byte)
      }
      wasSmall = (0x61...0x7A).contains(byte)
    }
    var text = String(decoding: bytes, as: UTF8.self).lowercased()
    // Who owns a resource is none (RFC 6749, section 5.2: "resource owner credentials").
    for (part, plain) in [("resource owner", "owner"), ("refreshtoken", "refresh token"), ("e mail", "email")] {
      while let range = text.firstOccurrence(of: part) { text.replaceSubrange(range, with: plain) }
    }
    self.text = text
    clauses = Self.clauses(text)
  }

  /// The words of each clause: one ends at a sign that a blank or nothing follows.
  private static func clauses(_ text: String) -> [[String]] {
    var clauses: [[String]] = [[]]
    var word: [UInt8] = []
    var wasSign = false
    func end(_ clauses: inout [[String]]) {
      if !word.isEmpty { clauses[clauses.count - 1].append(String(decoding: word, as: UTF8.self)) }
      word = []
    }
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x61...0x7A, 0x80...:
        word.append(byte)
        wasSign = false
      case UInt8(ascii: "."), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"):
        end(&clauses)
        wasSign = true
      default:
        end(&clauses)
        if wasSign { clauses.append([]) }
        wasSign = false
      }
    }
    end(&clauses)
    return clauses
  }

  /// Whether it says that the refresh token, the grant or the session is good no more.
  var saysGrantIsOver: Bool {
    !contains(Self.others) && !asksForPatience && clauses.contains(where: Self.saysEnd)
  }

  private static func saysEnd(_ words: [String]) -> Bool {
    words.indices.contains { index in
      guard let next = subject(words, at: index) else { return false }
      if next < words.count, things.contains(words[next]) { return false }
      if words[index] == "grant", index > 0, kinds.contains(words[index - 1]) { return false }
      return endStands(before: index, words) || endStands(after: next, words)
    }
  }

  /// Returns the index behind a refresh token, a grant or a session that begins at a word; nil for any other word.
  private static func subject(_ words: [String], at index: Int) -> Int? {
    switch words[index] {
    case "refresh" where index + 1 < words.count && ["token", "tokens"].contains(words[index + 1]): index + 2
    case "grant", "session": index > 0 && owners.contains(words[index - 1]) ? nil : index + 1
    default: nil
    }
  }

  private static func endStands(before index: Int, _ words: [String]) -> Bool {
    var position = index - 1
    while position >= 0 {
      if ends.contains(words[position]) { return !isDenied(words, position) }
      guard links.contains(words[position]) else { return false }
      position -= 1
    }
    return false
  }

  private static func endStands(after index: Int, _ words: [String]) -> Bool {
    for position in words.indices.dropFirst(index) {
      if things.contains(words[position]) { return false }
      if phrases.contains(where: { words[position...].starts(with: $0) }) { return true }
      guard ends.contains(words[position]), !isDenied(words, position) else { continue }
      let isOfThing = position + 1 < words.count && things.contains(words[position + 1])
      return !isOfThing
    }
    return false
  }

  private static func isDenied(_ words: [String], _ position: Int) -> Bool {
    position > 0 && ["not", "never", "yet"].contains(words[position - 1])
  }

  /// Whether it asks for patience.
  var asksForPatience: Bool { contains(Self.patience) }

  /// Whether it says that a server cannot answer at the moment.
  var tellsOfOutage: Bool { contains(Self.outages) }

  /// Whether it is about a middlebox before the provider.
  var isAboutMiddlebox: Bool { contains(Self.middleboxes) }

  /// Whether it is about the scopes or the audience of a token.
  var isAboutTarget: Bool { contains(Self.targets) }

  /// Whether it is about the client, and not about its token.
  var isAboutClient: Bool { contains(Self.clients) && !text.includes("refresh token") }

  /// Whether it is about credentials that may be the client's.
  var isAboutCredentials: Bool { contains(Self.credentials) && !text.includes("refresh token") }

  /// Whether it is about the form of the request.
  var isAboutRequest: Bool { contains(Self.requests) && !contains(Self.logins) }

  /// The obstacle to a login that the sentence names.
  var obstacle: ErrorKind? { Self.obstacles.first { contains($0.words) }?.kind }

  private func contains(_ words: [String]) -> Bool { words.contains { text.includes($0) } }
}
