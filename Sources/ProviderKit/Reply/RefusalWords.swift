package import JSON

/// What a refusal's object says: names of errors, and sentences for people.
///
/// Providers put both in many places. Sentences are looked through for a few words, and go nowhere.
package struct RefusalWords: Sendable, Equatable {
  /// The names, what is called `error` first.
  package private(set) var names: [String] = []
  /// Whether one of them stands where OAuth has it (RFC 6749, section 5.2), or where others have theirs.
  package var hasName: Bool { !names.isEmpty }
  /// Whether a sentence says that the refresh token or the grant is good no more.
  package private(set) var saysGrantIsOver = false
  /// Whether a sentence or a number asks for patience.
  package private(set) var asksForPatience = false
  /// Whether a sentence is about scopes, an audience, a resource or a consent.
  package private(set) var isAboutTarget = false
  /// Whether a sentence is about the client.
  package private(set) var isAboutClient = false

  /// The longest name that is examined.
  private static let longestName = 64
  /// The longest sentence that is examined: more than any server says of an error.
  private static let longestSentence = 2048
  /// More errors than any list has that is worth reading.
  private static let mostErrors = 8

  private static let nameMembers = [
    "error", "error_code", "errorCode", "code", "status", "error_reason", "errorType", "type", "reason", "err",
  ]
  private static let sentenceMembers = [
    "error_description", "error_hint", "errorDescription", "message", "msg", "detail", "title", "errmsg",
    "error_message",
    "errorMessage", "description", "hint",
  ]
  /// What Microsoft's own numbers say of throttling and of what passes (AADSTS50196, 90033, 90055).
  private static let patientNumbers: Set<String> = ["50196", "90033", "90055"]

  /// A refusal without a word.
  package init() {}

  /// The words of names alone.
  package init(names: [String]) { self.names = names }

  /// Reads an object.
  package init(_ root: JSONNode) {
    read(root)
    if let inner = root["error"], inner.kind == .object { read(inner) }
    for list in ["errors", "generalErrors"] {
      for entry in ((try? root[list]?.elements()) ?? []).prefix(Self.mostErrors) { read(entry) }
    }
    if let numbers = try? root["error_codes"]?.elements() {
      let texts = numbers.prefix(Self.mostErrors).map { String(decoding: $0.text, as: UTF8.self) }
      if texts.contains(where: Self.patientNumbers.contains) { asksForPatience = true }
    }
  }

  private mutating func read(_ node: JSONNode) {
    for member in Self.nameMembers {
      guard let text = Self.text(member, node) else { continue }
      if (1...Self.longestName).contains(text.utf8.count) { names.append(text) }
      // The specification's own name says so in every case, whatever else is said.
      if text != "invalid_grant" { judge(text) }
    }
    for member in Self.sentenceMembers {
      if let text = Self.text(member, node) { judge(text) }
    }
    // Strava names what is wrong member by member: a resource, a field, and a word on it.
    let parts = ["resource", "field", "code"].compactMap { Self.text($0, node) }
    if parts.count == 3 { judge(parts.joined(separator: " ")) }
  }

  private mutating func judge(_ text: String) {
    guard text.utf8.count <= Self.longestSentence else { return }
    let sentence = RefusalSentence(text)
    saysGrantIsOver = saysGrantIsOver || sentence.saysGrantIsOver
    asksForPatience = asksForPatience || sentence.asksForPatience
    isAboutTarget = isAboutTarget || sentence.isAboutTarget
    isAboutClient = isAboutClient || sentence.isAboutClient
  }

  private static func text(_ name: String, _ node: JSONNode) -> String? { node[name].flatMap { try? $0.string() } }

  /// Whether an object without tokens is a refusal, whatever status it comes with: nothing was issued.
  package static func areIn(_ root: JSONNode) -> Bool {
    if root["ok"]?.kind == .false || root["success"]?.kind == .false { return true }
    if let error = root["error"] {
      switch error.kind {
      case .null, .false: break
      case .array: if (try? error.elements())?.isEmpty == false { return true }
      case .string, .escapedString: if (try? error.string())?.isEmpty == false { return true }
      default: return true
      }
    }
    if (try? root["errors"]?.elements())?.isEmpty == false { return true }
    return (try? root["errcode"]?.integer()).map { $0 != 0 } ?? false
  }
}

/// A sentence of a provider's, as far as it is understood.
struct RefusalSentence {
  private let text: String

  private static let grants = ["refresh token", "refreshtoken", "authorization grant", "invalid grant"]
  private static let ends = [
    "invalid", "expired", "revoked", "claimed", "not valid", "no longer valid", "not found", "not been found",
    "already used", "already been used", "was used", "reused", "consumed", "unknown", "inactive", "not active",
    "inactivity", "not exist", "incorrect", "not recognized", "unrecognized", "stale", "deleted",
  ]
  /// What speaks of how the request was made, or of what was asked for, and not of the token.
  private static let others = [
    "grant type", "granttype", "missing", "required", "not allowed", "unsupported", "not supported", "must be",
    "must not",
    "no refresh token", "scope", "audience", "resource", "client id", "client secret", "client authentication",
    "client credentials", "invalid client",
  ]
  private static let patience = [
    "aadsts50196", "aadsts90033", "aadsts90055", "please retry", "try again later", "try again after", "try again in",
    "too many requests", "rate limit", "rate exceeded", "throttl", "temporarily", "concurrent requests",
  ]
  private static let targets = ["scope", "audience", "resource", "consent", "aadsts65001", "aadsts70011"]
  private static let clients = ["client", "credentials", "full authentication"]

  /// A sentence, or a name; its case, quotes and the signs between its words say nothing.
  init(_ sentence: String) {
    let bytes = sentence.lowercased().utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "_"), UInt8(ascii: "-"): UInt8(ascii: " ")
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): nil
      default: byte
      }
    }
    var text = String(decoding: bytes, as: UTF8.self)
    // Who owns a resource is none (RFC 6749, section 5.2: "resource owner credentials").
    while let range = text.firstOccurrence(of: "resource owner") { text.replaceSubrange(range, with: "owner") }
    self.text = text
  }

  /// Whether it says that the refresh token or the grant is good no more.
  var saysGrantIsOver: Bool {
    contains(Self.grants) && contains(Self.ends) && !contains(Self.others) && !asksForPatience
  }

  /// Whether it asks for patience.
  var asksForPatience: Bool { contains(Self.patience) }

  /// Whether it is about what a token is asked for.
  var isAboutTarget: Bool { contains(Self.targets) }

  /// Whether it is about the client, and not about its token.
  var isAboutClient: Bool { contains(Self.clients) && !contains(Self.grants) }

  private func contains(_ words: [String]) -> Bool { words.contains { text.includes($0) } }
}
