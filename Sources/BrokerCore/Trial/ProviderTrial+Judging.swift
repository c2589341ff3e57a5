import BrokerProtocol

/// What answers show.
extension ProviderTrial {
  /// Says what an answer shows, and takes in what it brings.
  mutating func judge(_ stage: TrialStage, _ answer: TrialAnswer, at now: Timestamp) -> [ProviderFinding] {
    switch (stage, answer) {
    case (.wrongPassword, .login(let result)): judgeWrongPassword(result)
    case (_, .login(let result)): judgeLogin(result)
    case (_, .session(let result)): judgeSession(result)
    case (_, .challenge(let result)): judgeResend(result)
    case (.accessAfterLogout, .user(let result)): judgeAccess(result, at: now)
    case (_, .user(let result)): judgeUser(result)
    case (.reuse, .tokens(let result)): judgeReuse(result)
    case (.refreshAfterLogout, .tokens(let result)): judgeLateRefresh(result)
    case (_, .tokens(let result)): judgeRefresh(stage, result)
    case (_, .revoked(let failure)): judgeLogout(failure)
    }
  }

  private mutating func judgeWrongPassword(_ result: Result<LoginOutcome, ProviderFailure>) -> [ProviderFinding] {
    let check = TrialStage.wrongPassword
    switch result {
    case .failure(.refused(.invalidCredentials, _, _, _)):
      return [ok(check, "a wrong password is refused as one")]
    case .failure(let failure):
      let advice = "Let it answer with a status and an error that say so, or map them; users are told the wrong thing."
      return [failed(check, failure, "A wrong password was refused as something else.", advice)]
    case .success(.otpRequired):
      let advice = "Whoever knows an address can have codes sent to its user; refuse the password first."
      return [finding(check, .warning, "A wrong password is not refused before the one-time code.", advice)]
    case .success:
      return [finding(check, .failure, "A password that was made up is accepted.", "Look at the provider at once.")]
    }
  }

  private mutating func judgeLogin(_ result: Result<LoginOutcome, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .success(.authenticated(let session)): return begun(session)
    case .success(.otpRequired(let challenge)):
      order = .awaitCode(challenge)
      return []
    case .success(.userActionRequired(let action)):
      order = .awaitUser(action)
      return []
    case .success(.emailVerificationRequired):
      return [finding(.login, .failure, "The e-mail address has to be verified first.", "Verify it, then try again.")]
    case .failure(let failure): return [notBegun(failure)]
    }
  }

  /// Says why there is no session.
  func notBegun(_ failure: ProviderFailure) -> ProviderFinding {
    var finding = failed(.login, failure, "No session was begun.", loginAdvice(failure))
    if let sentence = failure.sentence(of: credentials.method) {
      finding.message = "No session was begun. \(sentence)"
      finding.advice = nil
    }
    return finding
  }

  /// Takes a session in.
  mutating func begun(_ session: ProviderSession) -> [ProviderFinding] {
    tokens = session.tokens
    // A client that logs in by itself has none of its own: it asks anew.
    if credentials.method == .clientCredentials { tokens?.refreshToken = nil }
    user = session.user
    passed.insert(.login)
    let who = session.user.map { $0.email ?? $0.id }
    return [ok(.login, who.map { "a session of \($0)" } ?? "a session; the reply does not say whose")]
  }

  private func loginAdvice(_ failure: ProviderFailure) -> String? {
    if case .misconfigured(let fault) = failure { return fault.message }
    return switch failure.kind {
    case .invalidCredentials: "Look at the address and the password, and whether the account may log in this way."
    case .providerRejected:
      "Compare clientId, clientSecret and clientAuth with what is registered there, and whether it allows this way in."
    case .unsupportedByProvider: "Choose another way with --method."
    case .invalidResponse: "Compare the address, and the mapping where there is one, with what the provider answers."
    default: nil
    }
  }

  private mutating func judgeUser(_ result: Result<User, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .success(let named):
      guard let user, user.id != named.id else {
        user = named
        passed.insert(.user)
        return [ok(.user, "the provider says that it is \(named.email ?? named.id)")]
      }
      let advice = "Both must give the same account the same id; look at the mapping of the user."
      return [finding(.user, .failure, "The login named another user than the provider does now.", advice)]
    case .failure(let failure):
      return [failed(.user, failure, "Whose session it is is not told.", "Look at its endpoint for the user.")]
    }
  }

  private mutating func judgeRefresh(
    _ stage: TrialStage, _ result: Result<TokenSet, ProviderFailure>
  ) -> [ProviderFinding] {
    switch result {
    case .success(let fresh):
      let old = tokens
      if stage == .refresh {
        spent = old?.refreshToken
        rotates = fresh.refreshToken != nil && fresh.refreshToken != spent
      }
      tokens = fresh
      tokens?.refreshToken = fresh.refreshToken ?? old?.refreshToken
      tokens?.idToken = fresh.idToken ?? old?.idToken
      passed.insert(stage)
      guard fresh.accessToken != old?.accessToken else {
        let advice = "A token that a server has refused could never be replaced; let each refresh give another one."
        return [finding(stage, .failure, "The provider gave the same access token again.", advice)]
      }
      return [ok(stage, "another access token")]
    case .failure(let failure):
      let advice =
        stage == .refresh
        ? "Look whether the client may refresh, and for how long its refresh tokens live."
        : "A refresh token that is good for one use must bring the next one with it."
      return [failed(stage, failure, "No other access token was given.", advice)]
    }
  }

  private mutating func judgeReuse(_ result: Result<TokenSet, ProviderFailure>) -> [ProviderFinding] {
    if case .failure = result { isBurnt = true }
    switch result {
    case .failure(.sessionEnded): return [ok(.reuse, "a refresh token that was spent is refused")]
    case .failure(let failure):
      let advice = "Refuse it with invalid_grant (RFC 6749, section 5.2), or with 401."
      return [failed(.reuse, failure, "The spent refresh token was refused as something else.", advice)]
    case .success(let fresh):
      tokens = fresh
      guard subject.rules.rotationGrace == .zero else {
        return [finding(.reuse, .note, "A spent refresh token is taken once more, as rotationGraceSeconds says.")]
      }
      let advice =
        "Whoever steals one can go on with it (RFC 9700, section 4.14.2); if that is a grace, set rotationGraceSeconds."
      return [finding(.reuse, .warning, "A refresh token that was spent is accepted again.", advice)]
    }
  }

  private mutating func judgeLogout(_ failure: ProviderFailure?) -> [ProviderFinding] {
    switch failure {
    case nil where isBurnt:
      return [finding(.logout, .skipped, "Not checked: the session may have ended with the spent refresh token.")]
    case nil:
      passed.insert(.logout)
      return [ok(.logout, "the session is ended at the provider")]
    case .unsupported:
      let advice = "A logout ends the session here only; the tokens end by themselves."
      return [finding(.logout, .warning, "The provider has no way to end a session.", advice)]
    case let failure?:
      return [failed(.logout, failure, "The session was not ended at the provider.", "Look at its logout endpoint.")]
    }
  }

  private mutating func judgeAccess(_ result: Result<User, ProviderFailure>, at now: Timestamp) -> [ProviderFinding] {
    switch result {
    case .failure(.tokenRefused), .failure(.sessionEnded):
      return [ok(.accessAfterLogout, "the access token is refused")]
    case .failure(let failure):
      let what = "The access token was refused as something else."
      return [failed(.accessAfterLogout, failure, what, "Answer with 401.")]
    case .success:
      let left = tokens?.accessTokenExpiresAt.map { " for \(max(0, ($0 - now).milliseconds / 1000)) s" } ?? ""
      let advice = "Tokens that nobody can take back should live minutes only."
      return [finding(.accessAfterLogout, .warning, "The access token is still accepted\(left).", advice)]
    }
  }

  private mutating func judgeLateRefresh(_ result: Result<TokenSet, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .failure(.sessionEnded): return [ok(.refreshAfterLogout, "the refresh token is refused")]
    case .failure(let failure):
      let advice = "Refuse it with invalid_grant (RFC 6749, section 5.2), or with 401."
      return [failed(.refreshAfterLogout, failure, "The refresh token was refused as something else.", advice)]
    case .success:
      let advice = "End the whole session at a logout, its refresh tokens first."
      return [finding(.refreshAfterLogout, .failure, "The refresh token is still good after the logout.", advice)]
    }
  }
}

/// How findings are written.
extension ProviderTrial {
  /// All is well.
  private func ok(_ stage: TrialStage, _ message: String) -> ProviderFinding {
    ProviderFinding(stage.rawValue, .ok, message)
  }

  /// Something else.
  func finding(
    _ stage: TrialStage, _ level: ProviderFinding.Level, _ message: String, _ advice: String? = nil
  ) -> ProviderFinding {
    ProviderFinding(stage.rawValue, level, message, advice: advice)
  }

  /// The provider failed, or refused what it should not have.
  func failed(
    _ stage: TrialStage, _ failure: ProviderFailure, _ what: String, _ advice: String?
  ) -> ProviderFinding {
    let kind = failure.kind
    return ProviderFinding(
      stage.rawValue, .failure, "\(what) \(kind.message)", advice: advice, errorKind: kind)
  }
}
