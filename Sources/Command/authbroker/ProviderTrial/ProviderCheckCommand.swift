import AuthBrokerClient
import BrokerProtocol

/// `authbroker provider-check`.
enum ProviderCheckCommand: Command {
  static let name = "provider-check"
  static let about = CommandDescription(
    operands: "[PROFILE]",
    summary: "Probe a profile's provider, and try it with --login",
    details: """
      Compares what the provider says of itself with the profile, checks whether the profile's secrets are available,
      and lists the methods that the provider supports; changes nothing and sends no user's credential. Then says what
      --login would try: a login, its tokens, two refreshes, the user and a logout, one after the other. The session for
      that is its own: that of the profile is left alone, and nothing is kept. Ctrl-C ends it. Where a one-time code is
      wanted, `r` sends another one, and a backup code is taken too where the provider has such. --timeout bounds the
      wait for what is done at another device or in a browser. Exit codes: 5 for a provider that cannot be reached, 4 for
      wrong credentials, 3 for a login that is not finished in time, 1 for anything else that fails; warnings are no
      failure.
      """,
    options: [
      .flag("--login", "log in, refresh and log out as well"), .value("--email", "ADDRESS", "the account for --login"),
      .value("--phone", "NUMBER", "the same, where the provider knows it by its phone number"),
      MethodOption.trial.option,
      BrowserLauncher.option,
      .flag("--wrong-password", "try a wrong password first; the provider may lock the account"),
      .flag("--reuse", "try a spent refresh token again; the provider may end all of the user's sessions"),
    ] + PasswordSource.options,
    examples: ["authbroker provider-check", "authbroker provider-check work --login"])

  /// The options for a login with a password.
  private static let passwordOptions =
    ["--email", "--phone", "--wrong-password"] + PasswordSource.options.map { $0.name }
  /// The options about the login.
  private static let loginOptions = passwordOptions + ["--method", "--reuse", BrowserLauncher.option.name]

  /// Looks, tries where that is wanted, prints what came of it, and lets the exit code tell the worst.
  static func run(_ context: Context) throws(CommandFailure) {
    _ = try context.arguments.seconds("--timeout")
    let profile = try profile(context)
    let method = try MethodOption.trial.method(context.arguments, passwordOptions: passwordOptions)
    let isTrial = context.arguments.has("--login")
    if !isTrial, let option = loginOptions.first(where: context.arguments.has) {
      throw .usage("\(option) is for --login")
    }
    var connection = try context.connect()
    let check = try context.call(CheckProvider.self, .init(profile: profile), on: &connection)
    var report = ProviderCheckReport(context, check)
    report.show()
    if isTrial, !report.isHopeless {
      var trial = ProviderTrialDialogue(context, connection)
      try trial.run(profile, method, &report)
    } else {
      report.announce()
    }
    try report.finish()
  }

  /// The operand, or what `--profile` says.
  private static func profile(_ context: Context) throws(CommandFailure) -> ProfileName? {
    let named = try context.profile()
    guard let text = context.arguments.operands.first else { return named }
    guard let name = ProfileName(text) else { throw .usage("\(text.shellQuoted) is not a profile name") }
    guard named == nil || named == name else { throw .usage("two profiles are named; give one") }
    return name
  }
}
