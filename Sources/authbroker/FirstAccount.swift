import AuthBrokerClient
import BrokerProtocol
import ClientSocket

/// Whether there is an account that could be logged in to at all.
///
/// Only the embedded provider says so, and a provider elsewhere must not: there it would tell strangers about accounts.
enum FirstAccount {
  /// The type of the embedded provider.
  private static let embedded = "local"

  /// Refuses a login before anyone types a password for an account that cannot exist.
  ///
  /// - Throws: a failure with code 4 that names the command which makes one.
  static func expect(_ session: Session, _ context: Context) throws(CommandFailure) {
    guard session.provider == embedded else { return }
    var connection = try context.connect()
    guard isMissing(session.profile, context, on: &connection) else { return }
    throw CommandFailure(.wrongCredentials, advice(session.profile))
  }

  /// A failure for want of a login, with what is to be done where there is no account yet.
  static func explained(_ failure: CommandFailure, _ context: Context) -> CommandFailure {
    guard let error = failure.error, [.loginRequired, .invalidCredentials].contains(error.kind),
      let profile = error.profile
    else { return failure }
    guard let found = try? context.connector(mayStart: false).connect() else { return failure }
    var connection = BlockingConnection(found)
    guard let session = try? context.call(GetSession.self, .init(profile: profile), on: &connection),
      session.provider == embedded, isMissing(profile, context, on: &connection)
    else { return failure }
    var failure = failure
    failure.message = advice(profile)
    return failure
  }

  private static func isMissing(
    _ profile: ProfileName, _ context: Context, on connection: inout BlockingConnection
  ) -> Bool {
    let check = try? context.call(CheckProvider.self, .init(profile: profile), on: &connection)
    return check?.findings.contains { $0.check == "accounts" && $0.level == .note } ?? false
  }

  private static func advice(_ profile: ProfileName) -> String {
    "no account exists here yet; create one with: authbroker register"
      + (profile == .default ? "" : " --profile \(profile)")
  }
}
