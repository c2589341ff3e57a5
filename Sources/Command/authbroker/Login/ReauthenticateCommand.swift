import AuthBrokerClient
import BrokerProtocol

/// `authbroker reauthenticate`.
enum ReauthenticateCommand: Command {
  static let name = "reauthenticate"
  static let about = CommandDescription(
    summary: "Prove once more who the user of a session is",
    details: """
      For what needs a recent login, such as another second factor: with the password where the provider takes one, else at
      another device or in a browser. The session goes on; another user is refused.
      """,
    options: PasswordSource.options + [
      BrowserLauncher.option, .flag("--no-wait", "do not wait for the user elsewhere"),
    ],
    examples: ["authbroker reauthenticate", "authbroker reauthenticate -p work"])

  /// Asks for the credentials of the provider, and goes on until it accepts them.
  static func run(_ context: Context) throws(CommandFailure) {
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    let known = context.canAsk ? try dialogue.survey(profile) : nil
    if let session = known?.session, session.state != .challengePending, ExitCode(session.state) != .success {
      throw CommandFailure(.broker(BrokerError(.loginRequired, profile: session.profile)))
    }
    try dialogue.conclude(try dialogue.reauthenticate(profile))
  }
}
