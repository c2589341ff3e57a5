import BrokerProtocol
import SecretMemory

/// `authbroker helper cargo`, a credential provider of cargo.
enum CargoHelper: ToolHelper {
  static let name = "helper cargo"
  static let about = CommandDescription(
    operands: "--cargo-plugin",
    summary: "Give cargo the token of a registry",
    details: """
      cargo runs it, once its configuration (~/.cargo/config.toml) names it for a registry:
        [registries.example]
        index = "sparse+https://cargo.example.com/index/"
        credential-provider = ["cargo-credential-authbroker"]

      The index decides which profile's token it is (section targets); options such as "--profile", "work" stand behind
      the provider's name in the list. The token is sent as `Bearer TOKEN`, unless the target has scheme Basic. As the
      protocol demands it, refusals are answers, and the exit code is 0.
      """,
    takesRawWords: true,
    examples: ["authbroker helper cargo --cargo-plugin"])

  static let programNames = ["cargo-credential-authbroker"]

  /// Answers one request a line until the input ends.
  static func run(_ context: Context) throws(CommandFailure) {
    guard context.arguments.operands.first == "--cargo-plugin" else {
      throw .usage("cargo runs this itself; usage: \(description.usage)")
    }
    Output.line(CargoCredential.hello)
    var input = ToolLines()
    while var line = try input.line() {
      defer { wipe(&line) }
      Output.line(answer(to: line, context))
    }
  }

  private static func answer(to line: [UInt8], _ context: Context) -> [UInt8] {
    let request: CargoCredential
    do throws(CargoCredential.Fault) { request = try CargoCredential(parsing: line) } catch {
      return CargoCredential.refusal("other", error.sentence)
    }
    var own = context
    do throws(CommandFailure) {
      // Those of cargo's configuration come last, and so win over those of this command line.
      let outer = context.arguments.words(of: Option.global.map { $0.name })
      let arguments = try Arguments(outer + request.arguments, known: Option.global)
      own = Context(arguments: arguments, environment: context.environment)
      return try answer(to: request, own)
    } catch {
      return CargoCredential.refusal("other", HelperAnswer.sentence(of: error, own))
    }
  }

  private static func answer(to request: CargoCredential, _ context: Context) throws(CommandFailure) -> [UInt8] {
    guard ["get", "login", "logout"].contains(request.kind) else {
      return CargoCredential.refusal("operation-not-supported")
    }
    var broker = try HelperBroker(context, sending: .authorization)
    let unknown = CargoCredential.refusal("url-not-supported")
    if request.kind == "get" {
      guard let grant = try broker.grant(forFirst: [request.index]) else { return unknown }
      return CargoCredential.answer(grant.token, for: grant.target)
    }
    guard let target = try broker.target(ofFirst: [request.index]) else { return unknown }
    switch request.kind {
    case "login":
      // There is nothing to type where the session stands: cargo advises it where the registry has refused the token. Where
      // there is no session, the failure names the command.
      let isReplaced = try broker.replaceToken(of: target) ?? false
      context.notice(Message(HelperBroker.replacement(of: target, isThere: isReplaced)))
      return CargoCredential.done("login")
    default:
      let next = NextCommand("end the session with", "logout").on(target.profile)
      throw CommandFailure(.failure, "a registry is not signed out alone", next: next)
    }
  }
}
