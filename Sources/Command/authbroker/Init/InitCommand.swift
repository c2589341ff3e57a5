import AuthBrokerClient
import BrokerProtocol

/// `authbroker init`.
enum InitCommand: Command {
  static let name = "init"
  static let about = CommandDescription(
    summary: "Set up a profile at a provider, and log in",
    details: """
      Asks which provider it is (one that is known by name, an OpenID Connect issuer, a REST backend, the embedded
      provider, or that of a protected resource, which the resource itself names: RFC 9728), for what that provider needs,
      and for the name of the profile. The provider is probed before anything is written, and what is wrong is asked for
      again; Ctrl-C leaves nothing behind. A configuration that is there keeps every byte: the profile is added to it. A
      running broker reads it again, and the login follows.

      Each answer can be given by an option. A client secret is never taken from an argument and never written into the
      configuration, which says where it is.
      """,
    options: [
      .value("--provider", "TYPE", "the type of the provider, such as github, google or oidc", completion: .providers),
      .value("--name", "NAME", "the name of the profile (default)"),
      ProtectedResource.option,
    ] + ProfileQuestions.keyOptions + ProfileQuestions.secretOptions + [
      .flag("--no-login", "do not log in afterwards"),
      .flag("--no-network", "do not probe the provider"),
      ClientDocument.option,
      .flag("--print", "print the configuration file instead of writing it"),
      BrowserLauncher.option,
    ],
    examples: [
      "authbroker init", "authbroker init --provider github --client-id ID --name work",
      "authbroker init --issuer https://sso.example.com --client-id cli --print",
      "authbroker init --resource https://mcp.example.com/mcp",
      "authbroker init --print-client-metadata --client-metadata-url https://a.test/b",
    ])

  /// Asks, tries, writes, reloads and logs in.
  static func run(_ context: Context) throws(CommandFailure) {
    guard !context.arguments.has(ClientDocument.option.name) else { return try ClientDocument.print(context) }
    let edit = try ConfigurationEdit(context)
    // Before anything is asked: no one answers questions in vain.
    if !context.arguments.has("--print"), edit.isWritable { try edit.expectWritableDirectory() }
    let questions = ProfileQuestions(context, try OfferedProvider.all(context), taken: edit.profiles)
    var draft = try questions.draft()
    let trial = ProfileTrial(context, edit)
    while true {
      let outcome = try trial.outcome(of: draft)
      guard let fault = outcome.fault else {
        draft.ask(for: outcome.scopes)
        break
      }
      let failure = CommandFailure(fault.exitCode, fault.message)
      if context.canAsk { Output.message(fault.message) }
      if fault.isUnreachable, context.canAsk, !questions.asksForAddress(draft) {
        if try questions.leavesProviderOut() { break }
        continue
      }
      guard try questions.correct(&draft, fault.keys) else {
        throw context.canAsk ? failure.told() : failure
      }
    }
    let text = edit.text(with: draft, secretFile: edit.secretFile(of: draft))
    guard !context.arguments.has("--print") else { return Output.data(text.span) }
    guard edit.isWritable else {
      Output.data(text.span)
      let text = "\(edit.path) is a symbolic link and stays as it is; write what is shown into the file behind it"
      throw CommandFailure(.failure, text).behindResult()
    }
    try edit.write(draft, context)
    Output.notice(written(draft, edit))
    ReloadCommand.reloadRunning(context)
    try logIn(draft, context)
  }

  private static func written(_ draft: ProfileDraft, _ edit: ConfigurationEdit) -> String {
    let secret = draft.typedSecret == nil ? "" : ", and the secret to \(edit.secretFile(of: draft))"
    return "wrote the profile \(draft.name) to \(edit.path)\(secret)"
  }

  /// Logs in as `login` does, or makes the first account of the embedded provider as `register` does.
  private static func logIn(_ draft: ProfileDraft, _ context: Context) throws(CommandFailure) {
    guard draft.provider.type != Session.configuredType else {
      return context.notice(
        Message("the profile \(draft.name) is ready", next: NextCommand("print its token with", "token").on(draft.name))
      )
    }
    let isEmbedded = draft.provider.type == EmbeddedProvider.type
    let command = isEmbedded ? "register" : "login"
    guard !context.arguments.has("--no-login"), context.canAsk else {
      let lead = isEmbedded ? "create an account with" : "log in with"
      return context.notice(
        Message("the profile \(draft.name) is ready", next: NextCommand(lead, command).on(draft.name)))
    }
    let arguments = try Arguments(
      ["--profile", draft.name.description] + context.arguments.words(of: Self.kept),
      known: Option.global + [BrowserLauncher.option])
    let context = Context(arguments: arguments, environment: context.environment, isAdministrative: true)
    if isEmbedded { try RegisterCommand.run(context) } else { try LoginCommand.run(context) }
  }

  /// The options that the login takes over.
  private static let kept = [
    "--state", "--socket", "--config", "--timeout", "--json", "--quiet", BrowserLauncher.option.name,
  ]
}
