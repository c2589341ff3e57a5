import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// A login with a refresh token that another program has obtained.
///
/// The broker spends it at once: only what the provider gives for it becomes the session.
struct RefreshTokenLogin: ~Copyable {
  private let context: Context
  private var dialogue: LoginDialogue

  /// A login on a connection.
  init(_ context: Context, _ connection: consuming BlockingConnection) {
    self.context = context
    dialogue = LoginDialogue(context, connection)
  }

  /// Logs in, and says what becomes of the other program's copy and of a session that was there before.
  ///
  /// - Parameters:
  ///   - token: the refresh token.
  ///   - scopes: the scopes that the token was issued for; nil where they are not known.
  /// - Throws: the broker's refusal; what is wrong with the profile is said before the token is sent.
  consuming func run(_ token: Secret, scopes: [String]?) throws(CommandFailure) {
    let profile = try context.profile()
    let known = try dialogue.survey(profile)
    if let session = known?.session, ExitCode(session.state) == .success {
      Output.notice(LoginCommand.replacing(session))
    }
    let result = try dialogue.begin(
      Login.self,
      .init(profile: profile, method: LoginMethod.refreshToken.rawValue, refreshToken: token, scopes: scopes))
    RefreshTokenSource.warn()
    try dialogue.finish(result)
  }
}
