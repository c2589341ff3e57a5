import BrokerProtocol
import StateDirectory

/// A question whether a client may have a token, for people.
struct ConsentText {
  /// How many characters of a handle are shown: `consent allow` takes the beginning of one.
  private static let handleLength = 8

  private let question: ConsentQuestion

  /// The text of a question.
  init(_ question: ConsentQuestion) { self.question = question }

  /// The question, line by line: no byte of a client's controls the terminal.
  var lines: [(lead: String, text: String)] {
    let client = question.client
    let scopes = question.scopes.map { ", scopes \($0.joined(separator: " "))" } ?? ""
    let audience = question.audience.map { ", audience \($0)" } ?? ""
    var lines = [
      (
        lead: "\(Self.plain(String(question.consentID.prefix(Self.handleLength))))  ",
        text: "a token of \(question.profile) (\(question.method)\(scopes)\(audience))"
      ),
      (lead: "  client   ", text: client.identity.words), (lead: "  process  ", text: chain),
    ]
    if let file = client.chain.first?.executable { lines.append((lead: "  program  ", text: file)) }
    if question.forwarded == true {
      lines.append((lead: "  ", text: "forwarded by ssh: any program of another machine may be behind it"))
    }
    if question.requests > 1 { lines.append((lead: "  ", text: "\(question.requests) requests wait for this answer")) }
    lines.append((lead: "  expires  ", text: LocalTime.relative(question.expiresAt)))
    lines.append((lead: "  allow    ", text: "gives it to \(grant)"))
    return lines.map { (lead: $0.lead, text: Self.plain($0.text)) }
  }

  /// The process and its ancestors, as `git (4711) ← zsh (812)`.
  private var chain: String {
    guard !question.client.chain.isEmpty else { return "not known" }
    return question.client.chain.map { Self.name(of: $0) }.joined(separator: " ← ")
  }

  /// The subject that a plain "allow" gives it to, and for how long.
  var grant: String {
    let grants = question.grants
    let process = question.client.chain.first { $0.pid == grants.pid }.map { Self.name(of: $0) }
    let subject: String
    switch grants.subject {
    case "process": subject = process.map { "\($0) alone" } ?? "this connection alone"
    case "ancestor": subject = "\(process ?? "an ancestor") and all that it starts"
    case "unit": subject = "the unit \(grants.unit ?? "")"
    case "socket":
      subject = grants.socket.map { "all clients of the socket \($0)" } ?? "all clients of the broker's socket"
    default: subject = grants.subject
    }
    let time =
      grants.remember > .zero
      ? ", until it is not used for \(grants.remember.inWords)" : ", for this time"
    return Self.plain(subject + time)
  }

  private static func name(of process: ConsentProcess) -> String { "\(process.command ?? "?") (\(process.pid))" }

  private static func plain(_ text: String) -> String { PlainText.line(text.utf8) }
}
