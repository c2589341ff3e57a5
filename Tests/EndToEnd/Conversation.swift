import JSON

/// A golden conversation, as `Schemas/conversations/README.md` describes the format.
struct Conversation {
  /// One line of it.
  enum Step {
    /// The client sends this.
    case client(String)
    /// The server sends what matches this.
    case server(JSONNode)
    /// `$code` is bound to the code of the newest message in the outbox.
    case codeFromOutbox
    /// The client shows that it has the state directory.
    case proof
  }

  let configuration: String?
  let steps: [Step]

  private static let directory = BuiltPrograms.repository + "/Schemas/conversations"

  /// The names of all conversations.
  static let names = Directory.names(in: directory).filter { $0.hasSuffix(".jsonl") }.map { String($0.dropLast(6)) }

  init(named name: String) throws {
    var configuration: String?
    var steps: [Step] = []
    let text = String(decoding: try Directory.bytes(of: "\(Self.directory)/\(name).jsonl"), as: UTF8.self)
    for line in text.split(separator: "\n") {
      let rest = String(line.dropFirst(2))
      switch line.prefix(2) {
      case "# ": break
      case "> ": steps.append(.client(rest))
      case "< ": steps.append(.server(try JSONDocument(parsing: Array(rest.utf8)).root))
      case "= " where rest == "code outbox": steps.append(.codeFromOutbox)
      case "= " where rest == "proof": steps.append(.proof)
      case "= " where rest.hasPrefix("config "): configuration = String(rest.dropFirst(7))
      default: throw TestFailure("not a line of a conversation: \(line)")
      }
    }
    self.configuration = configuration
    self.steps = steps
  }
}
