import JSON

/// A golden conversation, as `Schemas/conversations/README.md` describes the format.
struct Conversation {
  /// One line of it.
  enum Step {
    /// The client sends this.
    case client(String)
    /// The server sends what matches this.
    case server(JSONNode)
    /// `$code` and `$wrongCode`, or `$token`, are bound to what the newest message says.
    case newest(MessageMember)
    /// With a REST backend, `$backupCode` is bound to a new one, in place of the next request and its answers.
    case backupCodeOfBackend
    /// The client shows that it has the state directory.
    case proof
  }

  /// What a message has for its user.
  enum MessageMember: String {
    case code, token
  }

  /// The broker's configuration; nil where the defaults hold.
  private(set) var configuration: String?
  /// The settings of the REST backend with which it goes the same way; nil where it is about the embedded provider.
  let backendSettings: String?
  private(set) var steps: [Step]

  private static let directory = BuiltPrograms.repository + "/Schemas/conversations"

  /// The names of all conversations.
  static let names = Directory.names(in: directory).filter { $0.hasSuffix(".jsonl") }.map { String($0.dropLast(6)) }

  /// The names of those that hold for a REST backend as well.
  static let namesWithBackend = names.filter { (try? Conversation(named: $0))?.backendSettings != nil }

  init(named name: String) throws {
    var configuration: String?
    var backendSettings: String?
    var steps: [Step] = []
    let text = String(decoding: try Directory.bytes(of: "\(Self.directory)/\(name).jsonl"), as: UTF8.self)
    for line in text.split(separator: "\n") {
      let rest = String(line.dropFirst(2))
      switch line.prefix(2) {
      case "# ": break
      case "> ": steps.append(.client(rest))
      case "< ": steps.append(.server(try JSONDocument(parsing: Array(rest.utf8)).root))
      case "= " where rest == "code outbox": steps.append(.newest(.code))
      case "= " where rest == "token outbox": steps.append(.newest(.token))
      case "= " where rest == "proof": steps.append(.proof)
      case "= " where rest == "rest backup code": steps.append(.backupCodeOfBackend)
      case "= " where rest.hasPrefix("config "): configuration = String(rest.dropFirst(7))
      case "= " where rest.hasPrefix("rest settings "): backendSettings = String(rest.dropFirst(14))
      default: throw TestFailure("not a line of a conversation: \(line)")
      }
    }
    self.configuration = configuration
    self.backendSettings = backendSettings
    self.steps = steps
  }

  /// The same conversation with a REST backend at an address in place of the embedded provider.
  ///
  /// - Throws: ``TestFailure`` where its configuration names no profile of that provider.
  func overREST(at url: String) throws -> Conversation {
    let provider = #""provider":"local""#
    guard let text = configuration, text.contains(provider) else { throw TestFailure("no profile is on local") }
    var other = self
    other.configuration = text.replacing(provider, with: #""provider":"rest","baseUrl":"\#(url)""#)
    other.steps = []
    var rest = steps[...]
    while let step = rest.popFirst() {
      other.steps.append(step)
      guard case .backupCodeOfBackend = step else { continue }
      rest = rest.dropFirst().drop { if case .server = $0 { true } else { false } }
    }
    return other
  }
}
