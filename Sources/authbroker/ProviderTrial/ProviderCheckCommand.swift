import AuthBrokerClient
import BrokerProtocol

/// `authbroker provider-check`.
enum ProviderCheckCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "provider-check",
    operands: "[PROFILE]",
    summary: "Try a profile's provider, step by step",
    details: """
      Looks whether the broker reaches the provider, changes nothing and sends no credential; then says what --login
      would try: a login, its token, a refresh, the user and a logout, one after the other, with an account that you
      name. That needs a profile without a session, and leaves none.
      """,
    options: [
      .flag("--login", "log in, refresh and log out as well"), .value("--email", "ADDRESS", "the account for --login"),
    ] + PasswordSource.options)

  /// Tries the provider, prints what came of each step, and lets the exit code tell the worst of it.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    _ = try context.timeout()
    var trial = ProviderTrial(context, try profile(context), try context.connect())
    try trial.reach()
    if context.arguments.has("--login") { try trial.logIn() } else { trial.announce() }
    let table = trial.table
    if context.wantsJSON {
      context.printJSON(table)
    } else {
      for line in table.lines(context.style) { Output.line(line) }
    }
    guard table.exitCode == .success else { throw .quiet(table.exitCode) }
  }

  /// The operand, or what `--profile` says.
  private static func profile(_ context: Context) throws(CommandFailure) -> ProfileName? {
    let named = try context.arguments.profile()
    guard let text = context.arguments.operands.first else { return named }
    guard let name = ProfileName(text) else { throw .usage("\(text) is no profile's name.") }
    guard named == nil || named == name else { throw .usage("two profiles are named; give one.") }
    return name
  }
}
