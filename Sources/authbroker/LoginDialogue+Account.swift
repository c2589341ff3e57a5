import BrokerProtocol

/// What is asked of a provider about an account.
extension LoginDialogue {
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
    try reauthenticate(profile)
    do throws(CommandFailure) { return try call(method, params) } catch { throw explained(error) }
  }

  /// Has the user of a session authenticate again: with the password where the provider takes one, else elsewhere.
  private mutating func reauthenticate(_ profile: ProfileName?) throws(CommandFailure) {
    Output.message("the provider wants you to authenticate again first")
    let result = try beginReauthentication(profile)
    _ = try Self.session(try follow(result), context)
  }

  private mutating func beginReauthentication(_ profile: ProfileName?) throws(CommandFailure) -> LoginResult {
    guard PasswordSource.isGiven(context) || takesPassword(profile) else {
      return try begin(Reauthenticate.self, .init(profile: profile))
    }
    var tries = PasswordTries(context)
    while true {
      let password = try PasswordSource.password(context)
      do throws(CommandFailure) {
        return try begin(Reauthenticate.self, .init(profile: profile, password: password))
      } catch { try tries.note(error) }
    }
  }

  /// A failure with the values that the provider does not take in plain words.
  mutating func explained(_ failure: CommandFailure) -> CommandFailure {
    guard let error = failure.error, error.kind == .validationFailed else { return failure }
    let provider = (try? session(of: error.profile).provider) ?? ""
    var failure = failure
    if let sentence = RefusedFields.sentence(error, provider) { failure.message = Message(sentence) }
    return failure
  }
}
