import BrokerProtocol
import JSON
import SecretMemory

/// `authbroker helper terraform`: the credentials helper of Terraform and OpenTofu (Terraform's documentation,
/// "Credentials Helpers Internals").
enum TerraformHelper: ToolHelper {
  static let name = "helper terraform"
  static let about = CommandDescription(
    operands: "get|store|forget HOST",
    summary: "Give Terraform or OpenTofu the token for a host",
    details: """
      Prints {"token": TOKEN} for get, and {} for a host that is not a configured target. Nothing is ever stored: the broker's logins
      are the only ones. Terraform finds it as terraform-credentials-authbroker in ~/.terraform.d/plugins, with
        credentials_helper "authbroker" {}
      in its configuration; words of its `args` may be --profile NAME.
      """,
    examples: ["authbroker helper terraform get app.example.com"])
  static let programNames = ["terraform-credentials-authbroker"]

  /// Answers one request.
  static func run(_ context: Context) throws(CommandFailure) {
    let (request, host) = (context.arguments.operands[0], context.arguments.operands[1])
    switch request {
    case "get": try get(host, context)
    case "store": try refuseToStore(host, context)
    case "forget": try forget(host, context)
    default: throw CommandFailure(.failure, "unknown request \(request.shellQuoted); use get, store or forget")
    }
  }

  private static func get(_ host: String, _ context: Context) throws(CommandFailure) {
    var broker = try HelperBroker(context, sending: .bearer)
    guard let grant = try broker.grant(forFirst: ["https://\(host)"]) else { return Output.line("{}") }
    var writer = JSONWriter()
    writer.object { writer in writer.member(revealing: "token", grant.token.accessToken) }
    Output.line(writer.bytes)
  }

  /// Reads the credentials to store, to their end as the protocol demands, and refuses them.
  private static func refuseToStore(_ host: String, _ context: Context) throws(CommandFailure) {
    var text = try ToolLines.all()
    wipe(&text)
    guard let profile = try profile(of: host, context) else {
      throw CommandFailure(
        .failure,
        "nothing was stored: \(host.shellQuoted) \(HelperBroker.notConfigured)",
        next: NextCommand("add it with", "target", "add", "https://\(host)"))
    }
    throw CommandFailure(
      .failure, "nothing was stored: the token for \(host.shellQuoted) comes from the broker",
      next: NextCommand("log in with", "login").on(profile))
  }

  /// Says that a login of the broker is not ended from here; a host that is no target has nothing to forget.
  private static func forget(_ host: String, _ context: Context) throws(CommandFailure) {
    guard let profile = try profile(of: host, context) else { return }
    throw CommandFailure(
      .failure, "the token for \(host.shellQuoted) comes from the broker",
      next: NextCommand("log out with", "logout").on(profile))
  }

  private static func profile(of host: String, _ context: Context) throws(CommandFailure) -> ProfileName? {
    var broker = try HelperBroker(context, sending: .bearer)
    return try broker.target(ofFirst: ["https://\(host)"])?.profile
  }
}
