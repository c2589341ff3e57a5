import AuthBrokerClient
import BrokerProtocol
import ClientSocket

/// Whether there is an account that could be logged in to at all.
///
/// Only the embedded provider says so, and a provider elsewhere must not: there it would tell strangers about accounts.
enum FirstAccount {
  /// The failure of a command that needs an account where there is none, which names the command that makes one.
  static func failure(_ profile: ProfileName, _ code: ExitCode) -> CommandFailure {
    CommandFailure(code, message(profile))
  }

  /// A failure for want of a login, with the advice where there is no account yet.
  static func explained(_ failure: CommandFailure, _ context: Context) -> CommandFailure {
    guard let error = failure.error, [.loginRequired, .invalidCredentials].contains(error.kind),
      let profile = error.profile
    else { return failure }
    guard let connector = try? context.connector(mayStart: false), let found = try? connector.connect() else {
      return failure
    }
    var connection = BlockingConnection(found)
    guard let answer = try? context.call(GetSession.self, .init(profile: profile), on: &connection),
      answer.session.provider == EmbeddedProvider.type, isMissing(profile, context, on: &connection)
    else { return failure }
    return failure.saying(message(profile))
  }

  /// Whether a provider's finding says that it has no account yet.
  static func isMissing(_ finding: ProviderFinding) -> Bool { finding.check == "accounts" && finding.level == .note }

  /// Whether the examination of a provider says so.
  static func isMissing(in check: CheckProvider.Result) -> Bool { check.findings.contains { isMissing($0) } }

  /// The command that makes the first account.
  static let creation = NextCommand("create one with", "register")

  /// The advice where every session is signed out and there is no account to log in to; nil elsewhere.
  static func hint(
    _ sessions: [Session], _ context: Context, on connection: inout BlockingConnection
  ) -> Message? {
    guard sessions.allSatisfy({ $0.state == .signedOut }),
      let session = sessions.first(where: { $0.provider == EmbeddedProvider.type }),
      isMissing(session.profile, context, on: &connection)
    else { return nil }
    return message(session.profile)
  }

  private static func isMissing(
    _ profile: ProfileName, _ context: Context, on connection: inout BlockingConnection
  ) -> Bool {
    let check = try? context.call(CheckProvider.self, .init(profile: profile), on: &connection)
    return check.map { isMissing(in: $0) } ?? false
  }

  private static func message(_ profile: ProfileName) -> Message {
    Message("no account exists here yet", next: creation.on(profile))
  }
}
