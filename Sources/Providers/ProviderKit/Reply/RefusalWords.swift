package import BrokerProtocol
package import JSON

/// The names of errors and the sentences in a refusal's object.
///
/// Providers put both in many places. Sentences are searched for a few words, and go nowhere.
package struct RefusalWords: Sendable, Equatable {
  /// The names, what is called `error` first.
  package private(set) var names: [String] = []
  /// The strings and numbers in the places of names, unchanged: reasons of statuses too, which only a profile can give
  /// a meaning.
  package private(set) var keys: [String] = []
  /// Whether there is a name, in OAuth's place (RFC 6749, section 5.2) or in another usual one.
  package var hasName: Bool { !names.isEmpty }
  /// Whether `error` itself is a name, and no reason of a status.
  package private(set) var hasErrorName = false
  /// Whether a sentence says that the refresh token or the grant is good no more.
  package private(set) var saysGrantIsOver = false
  /// Whether a sentence or a number asks for patience.
  package private(set) var asksForPatience = false
  /// Whether a sentence says that a server cannot answer at the moment.
  package private(set) var tellsOfOutage = false
  /// Whether a sentence is about a middlebox before the provider.
  package private(set) var isAboutMiddlebox = false
  /// Whether a sentence is about scopes, an audience, a resource or a consent.
  package private(set) var isAboutTarget = false
  /// Whether a sentence is about the client.
  package private(set) var isAboutClient = false
  /// Whether a sentence is about credentials that may be the client's.
  package private(set) var isAboutCredentials = false
  /// Whether a sentence is about how the request was made.
  package private(set) var isAboutRequest = false
  /// The obstacle to a login that a sentence names.
  package private(set) var obstacle: ErrorKind?

  /// The longest name that is examined.
  private static let longestName = 64
  /// The longest sentence that is examined: more than any server says of an error.
  private static let longestSentence = 2048
  /// More errors than any list has that is worth reading.
  private static let mostErrors = 8

  private static let nameMembers = [
    "error", "error_code", "errorCode", "errorcode", "code", "status", "error_reason", "errorType", "type", "reason",
    "err",
  ]
  private static let sentenceMembers = [
    "error_description", "error_hint", "errorDescription", "message", "msg", "detail", "title", "errmsg",
    "error_message", "errorMessage", "errorSummary", "description", "hint", "faultstring", "Message",
  ]
  /// Microsoft's error numbers for throttling and for errors that pass (AADSTS50196, 90033, 90055).
  private static let patientNumbers: Set<String> = ["50196", "90033", "90055"]
  /// The words in a name's place that are no error names, in letters and digits alone: reasons of statuses (RFC 9110,
  /// section 15), JSend's words, and what firewalls and proxies write.
  private static let noNames: Set<String> = [
    "error", "fail", "failed", "failure", "success", "ok", "badrequest", "forbidden", "notfound", "methodnotallowed",
    "notacceptable", "proxyauthenticationrequired", "conflict", "gone", "unsupportedmediatype", "misdirectedrequest",
    "waf",
  ]

  /// A refusal without a word.
  package init() {}

  /// The words of names alone.
  package init(names: [String]) { self.names = names }

  /// Reads an object.
  package init(_ root: JSONNode) {
    hasErrorName = Self.texts("error", root).contains(where: Self.isName)
    read(root)
    for place in [["error"], ["data"], ["fault"], ["fault", "detail"]] {
      var node: JSONNode? = root
      for name in place { node = node?[name] }
      if let node, node.kind == .object { read(node) }
    }
    for list in ["errors", "generalErrors"] {
      for entry in ((try? root[list]?.elements()) ?? []).prefix(Self.mostErrors) {
        if let text = try? entry.string() { take(name: text) }
        read(entry)
        if let more = entry["extensions"] { read(more) }
      }
    }
    readFields(root)
    if let numbers = try? root["error_codes"]?.elements() {
      let texts = numbers.prefix(Self.mostErrors).map { String(decoding: $0.text, as: UTF8.self) }
      if texts.contains(where: Self.patientNumbers.contains) { asksForPatience = true }
    }
  }

  /// Reads what is wrong with each field of the request, under the field's own name.
  private mutating func readFields(_ root: JSONNode) {
    if let errors = root["errors"] {
      for (name, _) in ((try? errors.members()) ?? []).prefix(Self.mostErrors) {
        for text in Self.texts(name, errors) { judge(text) }
      }
    }
    for (name, field) in ((try? root.members()) ?? []).prefix(Self.mostErrors) where field.kind == .array {
      for text in Self.texts(name, root) where RefusalSentence(text).isAboutRequest { isAboutRequest = true }
    }
  }

  /// Reads a form (RFC 6749, appendix B), which some write in the place of an object.
  package init(error: String, description: String) {
    hasErrorName = Self.isName(error)
    take(name: error)
    judge(description)
  }

  private mutating func read(_ node: JSONNode) {
    for member in Self.nameMembers {
      if let number = node[member], number.kind == .integer {
        keys.append(String(decoding: number.text.prefix(Self.longestName), as: UTF8.self))
      }
      for text in Self.texts(member, node) { take(name: text) }
    }
    for member in Self.sentenceMembers {
      for text in Self.texts(member, node) { judge(text) }
    }
    // Strava names what is wrong member by member: a resource, a field, and a word on it.
    let parts = ["resource", "field", "code"].compactMap { Self.texts($0, node).first }
    if parts.count == 3 { judge(parts.joined(separator: " ")) }
  }

  /// Takes in what stands where names do.
  private mutating func take(name text: String) {
    if (1...Self.longestName).contains(text.utf8.count) {
      keys.append(text)
      if Self.isName(text) { names.append(text) }
    }
    // The specification's own name says so in every case, whatever else is said; of a problem's address (RFC 9457) the
    // end says what it is.
    if text != "invalid_grant" { judge(String(text.split { $0 == "/" }.last ?? "")) }
  }

  /// Whether a text is the name of an error, and not the reason of a status, an address or a sentence.
  private static func isName(_ text: String) -> Bool {
    (1...longestName).contains(text.utf8.count) && !noNames.contains(letters(text))
      && !text.utf8.contains { [UInt8(ascii: "/"), UInt8(ascii: " "), UInt8(ascii: ":")].contains($0) }
  }

  /// A text's letters in lower case and its digits: names are the same however they are spelt.
  package static func letters(_ text: String) -> String {
    let bytes = text.utf8.compactMap { byte -> UInt8? in
      switch byte {
      case 0x41...0x5A: byte | 0x20
      case 0x61...0x7A, 0x30...0x39: byte
      default: nil
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a name is the specification's own for a grant that is good no more (RFC 6749, section 5.2), however it is
  /// spelt.
  package static func isInvalidGrant(_ name: String) -> Bool { letters(name) == "invalidgrant" }

  private mutating func judge(_ text: String) {
    guard text.utf8.count <= Self.longestSentence else { return }
    let sentence = RefusalSentence(text)
    saysGrantIsOver = saysGrantIsOver || sentence.saysGrantIsOver
    asksForPatience = asksForPatience || sentence.asksForPatience
    tellsOfOutage = tellsOfOutage || sentence.tellsOfOutage
    isAboutMiddlebox = isAboutMiddlebox || sentence.isAboutMiddlebox
    isAboutTarget = isAboutTarget || sentence.isAboutTarget
    isAboutClient = isAboutClient || sentence.isAboutClient
    isAboutCredentials = isAboutCredentials || sentence.isAboutCredentials
    isAboutRequest = isAboutRequest || sentence.isAboutRequest
    obstacle = obstacle ?? sentence.obstacle
  }

  /// A member's text, or the texts of its list.
  package static func texts(_ name: String, _ node: JSONNode) -> [String] {
    guard let member = node[name] else { return [] }
    if let text = try? member.string() { return [text] }
    return ((try? member.elements()) ?? []).prefix(mostErrors).compactMap { try? $0.string() }
  }
}

extension RefusalWords {
  /// The statuses that firewalls, proxies and routers also answer with: without an error's own name they say nothing
  /// about a token.
  private static let others: Set<Int> = [403, 404, 405, 407, 409, 415, 421]

  /// Whether a status without an error's name says nothing about the request.
  package static func saysNothing(of status: Int) -> Bool { others.contains(status) }

  private static let flags = ["ok", "success", "isSuccess", "isSuccessful", "Success"]
  private static let sentences = ["msg", "message"]

  /// Whether an object without tokens is a refusal, whatever status it comes with: nothing was issued.
  package static func areIn(_ root: JSONNode) -> Bool {
    if saysNo(root) || hasStatusOfError(root) || root["data"].map(saysNo) == true { return true }
    if (try? root["errors"]?.elements())?.isEmpty == false { return true }
    return (try? root["errcode"]?.integer()).map { $0 != 0 } ?? false
  }

  /// Whether it has an error, or a flag that is not set.
  private static func saysNo(_ node: JSONNode) -> Bool {
    for flag in flags {
      guard let member = node[flag] else { continue }
      if member.kind == .false || (try? member.integer()) == 0 { return true }
      if (try? member.string())?.lowercased() == "false" { return true }
    }
    if let code = try? node["error_code"]?.integer(), code != 0 { return true }
    guard let error = node["error"] else { return false }
    switch error.kind {
    case .null, .false: return false
    case .array: return (try? error.elements())?.isEmpty == false
    case .string, .escapedString: return (try? error.string())?.isEmpty == false
    default: return true
    }
  }

  /// Whether it has the status of an error in it: JSend's word, an HTTP status, or a number of the provider's own
  /// beside a sentence that explains it.
  private static func hasStatusOfError(_ root: JSONNode) -> Bool {
    if let status = try? root["status"]?.string(), ["error", "fail"].contains(status) { return true }
    let failures: Range<Int64> = 400..<600
    if let status = try? root["statusCode"]?.integer(), failures.contains(status) { return true }
    guard let code = try? root["code"]?.integer(), code != 0, !(200..<300).contains(code) else { return false }
    guard sentences.contains(where: { !texts($0, root).isEmpty }) else { return false }
    let isEmpty = root["data"].map { $0.isNull || (try? $0.members())?.isEmpty == true } ?? false
    return failures.contains(code) || isEmpty || RefusalWords(root).saysGrantIsOver
  }
}
