import BrokerCore
import BrokerProtocol

/// Judging of answers.
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
      return [ok(check, "a wrong password is rejected as such")]
    case .failure(let failure):
      let advice =
        "Answer with a status and an error for wrong credentials, or map them; users see a misleading message."
      return [failed(check, failure, "A wrong password was rejected with another error.", advice)]
    case .success(.otpRequired):
      let advice = "Anyone who knows an address can have codes sent to its user; reject the password first."
      return [finding(check, .warning, "A wrong password is not rejected before the one-time code.", advice)]
    case .success:
      return [finding(check, .failure, "A made-up password is accepted.", "Fix the provider at once.")]
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
      return [finding(.login, .failure, "The e-mail address must be verified first.", "Verify it, then try again.")]
    case .failure(let failure): return [notBegun(failure)]
    }
  }

  /// Says why there is no session.
  func notBegun(_ failure: ProviderFailure) -> ProviderFinding {
    var finding = failed(.login, failure, "The login failed.", loginAdvice(failure))
    if let sentence = failure.sentence(of: credentials.method) {
      finding.message = "The login failed. \(sentence)"
      finding.advice = nil
    }
    return finding
  }

  /// Takes a session in.
  mutating func begun(_ session: ProviderSession) -> [ProviderFinding] {
    tokens = session.tokens
    // A client that logs in by itself has none of its own: it asks again.
    if credentials.method == .clientCredentials { tokens?.refreshToken = nil }
    user = session.user
    passed.insert(.login)
    let who = session.user.map { $0.email ?? $0.id }
    return [ok(.login, who.map { "a session of \($0)" } ?? "a session; the reply names no user")]
  }

  private func loginAdvice(_ failure: ProviderFailure) -> String? {
    if case .misconfigured(let fault) = failure { return fault.message }
    return switch failure.kind {
    case .invalidCredentials: "Check the address and the password, and whether the account may log in this way."
    case .providerRejected:
      "Compare clientId, clientSecret and clientAuth with the registration at the provider, and check that it allows this grant."
    case .unsupportedByProvider: "Choose another method with --method."
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
        return [ok(.user, "the provider names the user: \(named.email ?? named.id)")]
      }
      let advice = "Both must give the same account the same id; check the mapping of the user."
      return [finding(.user, .failure, "The login named a different user than the provider does now.", advice)]
    case .failure(let failure):
      return [failed(.user, failure, "The provider did not name the user.", "Check its endpoint for the user.")]
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
        let advice = "A rejected token could never be replaced; issue another one at each refresh."
        return [finding(stage, .failure, "The refresh returned the same access token.", advice)]
      }
      return [ok(stage, "another access token")]
    case .failure(let failure):
      let advice =
        stage == .refresh
        ? "Check that the client may refresh, and the lifetime of its refresh tokens."
        : "A refresh token for a single use must come with its successor."
      return [failed(stage, failure, "The refresh returned no access token.", advice)]
    }
  }

  private mutating func judgeReuse(_ result: Result<TokenSet, ProviderFailure>) -> [ProviderFinding] {
    if case .failure = result { isBurnt = true }
    switch result {
    case .failure(.sessionEnded): return [ok(.reuse, "a spent refresh token is rejected")]
    case .failure(let failure):
      let advice = "Reject it with invalid_grant (RFC 6749, section 5.2), or with 401."
      return [failed(.reuse, failure, "The spent refresh token was rejected with another error.", advice)]
    case .success(let fresh):
      tokens = fresh
      guard subject.rules.rotationGrace == .zero else {
        return [finding(.reuse, .note, "A spent refresh token is accepted once more, as rotationGraceSeconds says.")]
      }
      let advice =
        "Anyone who steals one can use it (RFC 9700, section 4.14.2); if that is a grace period, set rotationGraceSeconds."
      return [finding(.reuse, .warning, "A spent refresh token is accepted again.", advice)]
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
      let advice = "A logout ends the session here only; the tokens stay valid until they expire."
      return [finding(.logout, .warning, "The provider cannot end a session.", advice)]
    case let failure?:
      return [failed(.logout, failure, "The session was not ended at the provider.", "Check its logout endpoint.")]
    }
  }

  private mutating func judgeAccess(_ result: Result<User, ProviderFailure>, at now: Timestamp) -> [ProviderFinding] {
    switch result {
    case .failure(.tokenRefused), .failure(.sessionEnded):
      return [ok(.accessAfterLogout, "the access token is rejected")]
    case .failure(let failure):
      let what = "The access token was rejected with another error."
      return [failed(.accessAfterLogout, failure, what, "Answer with 401.")]
    case .success:
      let left = tokens?.accessTokenExpiresAt.map { " for \(max(0, ($0 - now).milliseconds / 1000)) s" } ?? ""
      let advice = "Access tokens that cannot be revoked should expire within minutes."
      return [finding(.accessAfterLogout, .warning, "The access token is still accepted\(left).", advice)]
    }
  }

  private mutating func judgeLateRefresh(_ result: Result<TokenSet, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .failure(.sessionEnded): return [ok(.refreshAfterLogout, "the refresh token is rejected")]
    case .failure(let failure):
      let advice = "Reject it with invalid_grant (RFC 6749, section 5.2), or with 401."
      return [failed(.refreshAfterLogout, failure, "The refresh token was rejected with another error.", advice)]
    case .success:
      let advice = "Revoke the whole session at a logout, its refresh tokens first."
      return [finding(.refreshAfterLogout, .failure, "The refresh token is still valid after the logout.", advice)]
    }
  }
}

/// Writing of findings.
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
