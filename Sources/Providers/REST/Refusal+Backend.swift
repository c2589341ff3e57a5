import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit

/// A backend's error response.
///
/// The known forms of errors are read: `{error, message, timestamp, path, status}`, `{error, error_description}`
/// (RFC 6749, section 5.2), problem details (RFC 9457), `{code, message}` and `{errors: {field: […]}}`. Sentences for
/// people are not read at all: they never reach a client.
extension Refusal {
  /// The meaning of the error's name.
  var kind: ErrorKind? { configuredKind ?? code.flatMap(RefusalCode.kind) }

  /// Whether its words mean that the session has ended at the backend.
  var saysSessionIsOver: Bool {
    words.saysGrantIsOver || kind == .loginRequired || code.map(RefusalCode.isGrantError) == true
  }

  /// Whether it says plainly that it passes.
  var saysItPasses: Bool {
    words.tellsOfOutage || retryAfter != nil || kind == .providerUnavailable || kind == .rateLimited
  }

  /// Whether it is the client that is refused, and not its token.
  var isAboutClient: Bool {
    code.map(RefusalCode.isClientError) == true || words.isAboutClient
  }

  /// The most fields that are named: more than any form has.
  private static let mostFields = 32
  /// The longest name of a field.
  private static let longestField = 64

  /// Takes in what the body says beside its words.
  mutating func read(_ reader: ReplyReader, _ errors: RESTErrorMapping) {
    let names = ReplyReader.values(at: errors.code, in: reader.root).compactMap { try? $0.string() }
    // The first name that means something; else the first.
    let configured = Self.configuredName(reader, errors) ?? words.keys.first { errors.kinds[$0] != nil }
    let known = configured ?? names.first { RefusalCode.kind($0) != nil }
    code = known ?? names.first
    configuredKind = known.flatMap { errors.kinds[$0] }
    attemptsRemaining = reader.count(.attemptsRemaining, in: 0...100)
    if retryAfter == nil, status == 429 || kind == .resendTooSoon, let next = reader.moment(.nextResendAt) {
      let wait = next - reader.moments.receivedAt
      if wait > .zero { retryAfter = min(wait, .seconds(3600)) }
    }
    fields = Self.fields(reader.root)
  }

  /// The first name, or number, that the mapping knows at its own paths.
  static func configuredName(_ reader: ReplyReader, _ errors: RESTErrorMapping) -> String? {
    ReplyReader.values(at: errors.code, in: reader.root).lazy.compactMap { node in
      node.kind == .integer ? String(decoding: node.text, as: UTF8.self) : try? node.string()
    }.first { errors.kinds[$0] != nil }
  }

  /// The names of the refused fields: the members of an object, or the field names of a list's elements.
  private static func fields(_ root: JSONNode) -> [String] {
    for member in ["errors", "fields", "invalid-params", "invalidParams", "violations", "details"] {
      guard let node = root[member] else { continue }
      var names = ((try? node.members()) ?? []).map(\.name)
      for element in (try? node.elements()) ?? [] {
        let keys = ["field", "name", "path", "param", "property", "propertyPath"]
        if let name = keys.lazy.compactMap({ element[$0].flatMap { try? $0.string() } }).first { names.append(name) }
      }
      let clean = names.prefix(mostFields).map { SanitizedText($0).text }.filter {
        !$0.isEmpty && $0.utf8.count <= longestField
      }
      if !clean.isEmpty { return clean }
    }
    return []
  }
}
