import AuthBrokerClient
import BrokerProtocol

/// Dialogues about an account.
extension LoginDialogue {
  /// A dialogue about the account of the profile that the command line names, once there is one and its provider offers a
  /// method.
  ///
  /// - Throws: a failure before anything is asked for in vain.
  static func about<Method: BrokerMethod>(
    _ method: Method.Type, _ context: Context, needsLogin: Bool = false
  ) throws(CommandFailure) -> LoginDialogue {
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(method, of: profile)
    guard let session = try? dialogue.session(of: profile) else { return dialogue }
    try dialogue.expectFirstAccount(session, orElse: .loginRequired)
    guard needsLogin, [.signedOut, .expired].contains(session.state) else { return dialogue }
    throw CommandFailure(.broker(BrokerError(.loginRequired, profile: session.profile)))
  }

  /// Finds out whether there is any use in asking a person for what a method takes.
  ///
  /// - Throws: a failure if the broker says that the provider of the profile does not offer it. Without a terminal, and
  ///   from a broker that does not say, its answer to the request itself is enough.
  mutating func expectAbility<Method: BrokerMethod>(
    _ method: Method.Type, of profile: ProfileName?
  ) throws(CommandFailure) {
    guard context.canAsk, let broker = try? call(Initialize.self, .init()) else { return }
    let sessions = broker.sessions
    let wanted = profile ?? (sessions.count == 1 ? sessions[0].profile : .default)
    guard let session = sessions.first(where: { $0.profile == wanted }),
      let type = broker.capabilities.providers.first(where: { $0.type == session.provider }),
      !type.methods.contains(Method.name)
    else { return }
    throw CommandFailure(.broker(BrokerError(.unsupportedByProvider, profile: wanted)))
  }

  /// Refuses it before anyone types a password for an account that cannot exist.
  ///
  /// - Throws: a failure with a code that names the command which makes one.
  mutating func expectFirstAccount(_ session: Session, orElse code: ExitCode) throws(CommandFailure) {
    guard session.state == .signedOut, session.provider == EmbeddedProvider.type,
      let check = try? call(CheckProvider.self, .init(profile: session.profile)), FirstAccount.isMissing(in: check)
    else { return }
    throw FirstAccount.failure(session.profile, code)
  }

  /// The provider's rule for a new password; unknown where no question is asked.
  mutating func passwordRule(_ profile: ProfileName?) throws(CommandFailure) -> NewPasswordRule {
    guard context.canAsk else { return .unknown }
    return NewPasswordRule(try session(of: profile).provider)
  }

  /// The same of the account that is logged in: the broker may know whether it has a second factor.
  mutating func ownPasswordRule(_ profile: ProfileName?) throws(CommandFailure) -> NewPasswordRule {
    guard context.canAsk else { return .unknown }
    let session = try session(of: profile)
    let hasSecondFactor = session.user?.twoFactor.map { $0 != LocalUser.SecondFactor.off.rawValue }
    return NewPasswordRule(session.provider, hasSecondFactor: hasSecondFactor)
  }

  /// Calls a method that changes the account; where the user must authenticate again first, does that and calls it once
  /// more.
  ///
  /// - Throws: the failure of the method, with the values that the provider does not take in plain words; also
  ///   `reauthRequired`, where no password is at hand and no person can be asked.
  mutating func change<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, of profile: ProfileName?
  ) throws(CommandFailure) -> Method.Result {
    do throws(CommandFailure) { return try call(method, params) } catch {
      guard error.error?.kind == .reauthRequired, context.canAsk || PasswordSource.isGiven(context) else {
        throw explained(error)
      }
    }
    Output.message("the provider wants you to authenticate again first")
    _ = try session(in: try reauthenticate(profile))
    do throws(CommandFailure) { return try call(method, params) } catch { throw explained(error) }
  }

  /// Has the user of a session authenticate again: with the password where the provider takes one, else elsewhere.
  ///
  /// - Returns: the last result, as of a login.
  mutating func reauthenticate(_ profile: ProfileName?) throws(CommandFailure) -> LoginResult {
    try follow(try beginReauthentication(profile))
  }

  private mutating func beginReauthentication(_ profile: ProfileName?) throws(CommandFailure) -> LoginResult {
    guard PasswordSource.isGiven(context) || takesPassword(profile) else {
      return try begin(Reauthenticate.self, .init(profile: profile))
    }
    let context = context
    return try PasswordTries.repeated(context) { password throws(CommandFailure) in
      try begin(Reauthenticate.self, .init(profile: profile, password: password))
    }
  }

  /// A failure with the values that the provider does not take in plain words.
  mutating func explained(_ failure: CommandFailure) -> CommandFailure {
    guard let error = failure.error, error.kind == .validationFailed else { return failure }
    return RefusedFields.explained(failure, (try? session(of: error.profile).provider) ?? "")
  }
}
