import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit

/// What a backend says with a status that is no success.
///
/// The known forms of errors are read: `{error, message, timestamp, path, status}`, `{error, error_description}`
/// (RFC 6749, section 5.2), problem details (RFC 9457), `{code, message}` and `{errors: {field: […]}}`. Sentences for
/// people are not read at all: they never reach a client.
struct Refusal {
  /// The status (RFC 9110, section 15).
  var status: Int
  /// What the body is.
  var form: BodyForm
  /// The backend's own name of the error.
  var code: String?
  /// What the configuration says that the name means.
  var configuredKind: ErrorKind?
  /// How many more wrong codes are accepted.
  var attemptsRemaining: Int?
  /// How long the backend wants to be left alone.
  var retryAfter: Duration?
  /// What else its object says.
  var words = RefusalWords()
  /// Whether it came with a success, in an object without tokens: nothing was issued.
  var isWithSuccess = false
  /// Whether it asks for credentials of a kind that the client has not sent: a proxy's, or another middlebox's.
  var isForeignChallenge = false
  /// The fields that are not valid, under the backend's names.
  var fields: [String] = []

  /// What the error is, by its name.
  var kind: ErrorKind? { configuredKind ?? code.flatMap(RefusalCode.kind) }

  /// The name of the error, as it may be shown.
  var word: ProviderWord? { (code ?? words.names.first).flatMap { ProviderWord($0) } }

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
}

extension Refusal {
  /// Takes in what the body says.
  mutating func read(_ reader: ReplyReader, _ errors: RESTErrorMapping) {
    words = RefusalWords(reader.root)
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

  /// The names of the fields: the members of an object, or what the elements of a list call their field.
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
