import AuthBrokerClient
import BrokerProtocol

/// `authbroker login`.
enum LoginCommand: Command {
  static let name = "login"
  static let about = CommandDescription(
    summary: "Log in with a password, on another device or in a browser",
    details: """
      Asks for what is not given, the password (at most three times) and a one-time code without echo; `r` instead
      of a code sends another one, and a backup code is taken where the account has some. Without a terminal, a
      login that wants a code ends with exit code 3 and names the command that answers it. A login at another
      device or in a browser shows the address to open on standard error, in a terminal with a QR code for the other
      device where qrencode is installed, and waits until it is done, its time is over or --timeout is; Ctrl-C
      cancels it. At a terminal with a display the browser is opened, with $BROWSER or xdg-open; over ssh only where
      $BROWSER is set. Where no browser can be opened, a login at another device is taken if the profile offers it. With --json the action is one line and the result another, and no browser is opened. With
      --no-wait it ends at once with exit code 3, and the broker goes on waiting; --flow waits for it again.

      --method refreshToken goes on with the session of another program: its refresh token is asked for without echo, or
      read from standard input with --refresh-token-stdin. The broker refreshes with it at once; `authbroker import json`
      takes it with its scopes.

      While the provider looks at a password or a code, Ctrl-C and the end of --timeout cancel the login as well,
      with exit code 5 in the second case; where it is too late for that, the output says that the login was done.
      """,
    options: [
      .value("--email", "ADDRESS", "the account; a browser login is told it as a hint"),
      .value("--phone", "NUMBER", "the account, where the provider knows it by its phone number"),
      MethodOption.login.option, RefreshTokenSource.option, BrowserLauncher.option,
      .value("--scope", "SCOPE", "a scope to ask for in place of the profile's own; may be repeated"),
      .flag("--no-wait", "do not wait for the user to finish elsewhere"),
      .value("--flow", "FLOW", "resume a pending login"),
    ] + PasswordSource.options,
    examples: [
      "authbroker login",
      "authbroker login --email ann@example.com",
      "authbroker login -p work --method deviceCode",
      "pass show work | authbroker login --email ann@example.com --password-stdin",
      "pass show work-token | authbroker login -p work --refresh-token-stdin",
    ])

  /// Asks for missing values, logs in, and goes on until there is a session.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.profile()
    let method = try method(context.arguments)
    _ = try scopes(context)
    if let flow = context.arguments["--flow"] { return try goOn(with: try FlowHandle.checked(flow), context) }
    let isNamed = ["--email", "--phone"].contains(where: context.arguments.has)
    if method == .refreshToken {
      let token = try RefreshTokenSource.token(context)
      return try RefreshTokenLogin(context, try context.connect()).run(token, scopes: try scopes(context))
    }
    // No broker is needed to see that a password is missing.
    let given = !context.canAsk && method == .password && isNamed ? try credentials(profile, context, []) : nil
    var dialogue = LoginDialogue(context, try context.connect())
    if let given { return try dialogue.finish(try logIn(given, &dialogue, context)) }
    let known = context.canAsk || method == nil || method == .password ? try dialogue.survey(profile) : nil
    let session = context.canAsk ? known?.session : nil
    if let session, ExitCode(session.state) == .success { Output.notice(replacing(session)) }
    // A profile that takes no login says why; so would a broker that does not say, which wants a password.
    let takesNone = !context.canAsk && known?.login.isEmpty == true
    if method != .password || takesNone, try logInWithoutPassword(method, profile, known?.login ?? [], &dialogue) {
      return
    }
    if let session { try dialogue.expectFirstAccount(session, orElse: .wrongCredentials) }
    try dialogue.finish(try logIn(try credentials(profile, context, known?.login ?? []), &dialogue, context))
  }

  /// The account and its password from the options; missing values are asked for, as far as the profile's login takes
  /// them.
  private static func credentials(
    _ profile: ProfileName?, _ context: Context, _ forms: [LoginForm]
  ) throws(CommandFailure) -> Login.Params {
    var params = Login.Params(profile: profile, scopes: try scopes(context))
    let form = LoginDialogue.passwordForm(in: forms)
    try LoginAccount.ask(context, email: &params.email, phoneNumber: &params.phoneNumber, form)
    params.password = try PasswordSource.password(context)
    return params
  }

  /// Begins the login; where the password was typed at a terminal, asks again while it or the address is wrong.
  private static func logIn(
    _ first: Login.Params, _ dialogue: inout LoginDialogue, _ context: Context
  ) throws(CommandFailure) -> LoginResult {
    var params = first
    var tries = PasswordTries(context)
    while true {
      do throws(CommandFailure) { return try dialogue.begin(Login.self, params) } catch { try tries.note(error) }
      try LoginAccount.askAgain(context, email: &params.email, phoneNumber: &params.phoneNumber)
      params.password = try PasswordSource.password(context)
    }
  }

  /// The scopes that the options name; nil for those of the profile.
  private static func scopes(_ context: Context) throws(CommandFailure) -> [String]? {
    let words = context.arguments.all("--scope")
    let named = words.flatMap { $0.split(separator: " ").map(String.init) }
    guard words.isEmpty || !named.isEmpty else { throw .usage("--scope needs the name of a scope") }
    return named.isEmpty ? nil : named
  }

  /// The message before a login to a profile that has a session.
  static func replacing(_ session: Session) -> String {
    "already logged in to \(session.profile)\(session.userWords); a new login replaces that session"
  }

  /// The way that the options say; nil where the provider's own first one is meant.
  ///
  /// - Throws: a usage failure.
  private static func method(_ arguments: Arguments) throws(CommandFailure) -> LoginMethod? {
    let passwordOptions = ["--email", "--phone"] + PasswordSource.options.map { $0.name }
    let others = ["--method", "--scope", RefreshTokenSource.option.name]
    if arguments.has("--flow"), let option = (passwordOptions + others).first(where: arguments.has) {
      throw .usage("\(option) is for a new login, --flow for one that was begun")
    }
    return try MethodOption.login.method(arguments, passwordOptions: passwordOptions)
  }

  /// - Returns: false where the provider wants a password: as it says, or else as its refusal shows.
  private static func logInWithoutPassword(
    _ method: LoginMethod?, _ profile: ProfileName?, _ forms: [LoginForm], _ dialogue: inout LoginDialogue
  ) throws(CommandFailure) -> Bool {
    if method == nil {
      if LoginDialogue.takePassword(forms) { return false }
      if elsewhere(forms, dialogue.context), let result = try beginElsewhere(profile, &dialogue) {
        try dialogue.finish(result)
        return true
      }
    }
    let result: LoginResult
    do throws(CommandFailure) {
      let scopes = try scopes(dialogue.context)
      result = try dialogue.begin(
        Login.self,
        .init(
          profile: profile, method: method?.rawValue, email: dialogue.context.arguments["--email"], scopes: scopes))
    } catch {
      guard method == nil || forms.isEmpty, error.error?.kind == .missingCredential else { throw error }
      return false
    }
    try dialogue.finish(result)
    return true
  }

  /// Whether the login is better done at another device: a browser could not be opened here, and the profile offers both.
  private static func elsewhere(_ forms: [LoginForm], _ context: Context) -> Bool {
    guard forms.first(where: { $0.fields.isEmpty })?.method == .browser, !BrowserLauncher(context).hasBrowser else {
      return false
    }
    return forms.contains { $0.method == .deviceCode }
  }

  /// Tries the login at another device.
  ///
  /// - Returns: nil where the provider turns out not to support it.
  /// - Throws: any other refusal: one of the client or of its scopes is the same in a browser, where it would not be seen.
  private static func beginElsewhere(
    _ profile: ProfileName?, _ dialogue: inout LoginDialogue
  ) throws(CommandFailure) -> LoginResult? {
    do throws(CommandFailure) {
      let method = LoginMethod.deviceCode.rawValue
      return try dialogue.begin(
        Login.self, .init(profile: profile, method: method, scopes: try scopes(dialogue.context)))
    } catch {
      switch error.error?.kind {
      case .unsupportedByProvider: return nil
      case .providerRejected, .configInvalid: throw error.saying(error.message.behind(reasonForDevice))
      default: throw error
      }
    }
  }

  /// The words before the refusal of a device login that was not asked for.
  private static let reasonForDevice =
    "no browser can be opened here, and the login at another device failed (--method browser takes a browser all the"
    + " same): "

  /// Goes on with a login that was begun, here or elsewhere.
  private static func goOn(with flow: String, _ context: Context) throws(CommandFailure) {
    var connection = try context.connect()
    let profiles = try context.call(ListSessions.self, Empty(), on: &connection).sessions.map { $0.profile }
    let step = try PendingLogins.list(of: profiles, context, on: &connection).first { $0.id == flow }
    let result: LoginResult
    switch step {
    case .code(let challenge): result = LoginResult(.otpRequired(challenge))
    case .action(let action): result = LoginResult(.userActionRequired(action))
    // One that has just ended may still say how.
    case nil: result = try context.call(AwaitLogin.self, .init(loginFlowID: flow), on: &connection)
    }
    var dialogue = LoginDialogue(context, connection)
    try dialogue.finish(result)
  }
}
