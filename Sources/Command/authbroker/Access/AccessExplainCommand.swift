import BrokerProtocol
import LinuxSystem
import StateDirectory

/// `authbroker access explain`.
enum AccessExplainCommand: Command {
  static let name = "access explain"
  static let about = CommandDescription(
    summary: "Say which rule decides for a client, and what it may do",
    details: """
      Without an option that describes a client it is about this command itself, by the rules alone. With --pid it is a
      process, as the broker knows it by its newest connection, else as it would connect now; what else is given takes the
      place of the process's own. Without --profile it is about every profile.
      """,
    options: [
      .value("--pid", "PID", "the process of the client"),
      .value("--by-socket", "NAME", "the limited socket by which it comes", member: "socket"),
      .value("--uid", "USER", "its user, by name or number"),
      .value("--unit", "UNIT", "its systemd unit, with user/ in front for a user's"),
      .value("--label", "LABEL", "its label by AppArmor, SELinux or Smack"),
      .value("--tool", "NAME", "the name that it gives itself"),
      .value("--method", "METHOD", "whether it may call this method"),
    ],
    examples: [
      "authbroker access explain --pid 4711 --profile work",
      "authbroker access explain --by-socket ci --uid deploy --method getAccessToken",
    ])

  /// Asks the broker, and prints a line for each profile.
  static func run(_ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    let params = ExplainAccess.Params(
      profile: try arguments.profile(), method: arguments["--method"], pid: try arguments.count("--pid"),
      socket: arguments["--by-socket"], uid: try user(arguments["--uid"]), unit: arguments["--unit"],
      label: arguments["--label"], tool: arguments["--tool"])
    guard let result = try context.ask(ExplainAccess.self, params) else { return }
    Output.line("client  \(PlainText.line(result.client.words.utf8))")
    var table = TextTable("PROFILE", params.method.map { PlainText.line($0.utf8) } ?? "ALLOWED", "DECIDED BY")
    for decision in result.profiles {
      table.add(decision.profile.description, allowed(decision), reason(decision, result.client))
    }
    table.print(context.style)
  }

  private static func user(_ text: String?) throws(CommandFailure) -> Int? {
    guard let text else { return nil }
    if let number = UInt32(text) ?? AccountFiles.read()?.user(named: text) { return Int(number) }
    throw .usage("there is no user \(text.shellQuoted) in /etc/passwd; give --uid the number")
  }

  private static func allowed(_ decision: ExplainAccess.AccessDecision) -> String {
    if let isAllowed = decision.allowed {
      let asks = isAllowed && decision.confirm != nil ? ", once you have consented" : ""
      return (isAllowed ? "yes" : "no") + asks
    }
    guard decision.exists else { return "nothing" }
    var parts: [String] = []
    if let methods = decision.methods { parts.append(methods.joined(separator: ", ")) }
    if let scopes = decision.scopes { parts.append("scopes " + scopes.joined(separator: ", ")) }
    if let audiences = decision.audiences { parts.append("audiences " + audiences.joined(separator: ", ")) }
    if let confirm = decision.confirm { parts.append("tokens once you have consented (confirm: \(confirm))") }
    if decision.may == "use" { parts.append("no token leaves the broker") }
    return parts.isEmpty ? "everything" : PlainText.line(parts.joined(separator: "; ").utf8)
  }

  private static func reason(_ decision: ExplainAccess.AccessDecision, _ client: ClientIdentity)
    -> String
  {
    let socket = "the limited socket \(client.socket.map { PlainText.line($0.utf8) } ?? "-")"
    switch decision.reason {
    case "rule": return decision.rule.map { "access.rules[\($0.index)]: \(words($0))" } ?? "a rule"
    case "noRule": return "no rule matches"
    case "socket": return "\(socket): there are no rules"
    case "outsideSocket": return "\(socket) does not have it"
    case "notAdmitted": return "the user \(client.uid) may not connect"
    case "unlimited": return "there are no rules"
    default: return PlainText.line(decision.reason.utf8)
    }
  }

  private static func words(_ rule: ExplainAccess.DecidingRule) -> String {
    let members: [(String, String?)] = [
      ("socket", rule.socket), ("uid", rule.uids?.joined(separator: " ")), ("unit", rule.unit), ("label", rule.label),
      ("tool", rule.tool), ("profiles", rule.profiles?.map { $0.description }.joined(separator: " ")),
    ]
    let text = members.compactMap { name, value in value.map { "\(name) \(PlainText.line($0.utf8))" } }.joined(
      separator: ", ")
    return text.isEmpty ? "every client of the owner, all profiles" : text
  }
}
