package import BrokerProtocol
package import SecretMemory

/// What a trial asks a provider for.
package enum TrialRequest: Sendable {
  /// A login.
  case login(Credentials)
  /// The session behind a one-time code.
  case verify(flow: Secret, code: Secret)
  /// The session behind a backup code.
  case verifyBackupCode(flow: Secret, code: Secret)
  /// Another one-time code.
  case resend(flow: Secret)
  /// The user.
  case currentUser(accessToken: Secret)
  /// Other tokens, after a pause.
  ///
  /// Two tokens of one second may be the same text where they say nothing but times (RFC 7519, section 4.1.6).
  case refresh(Secret)
  /// The end of a session.
  case revoke(TokenSet)
}

/// What a provider answered to a ``TrialRequest``.
package enum TrialAnswer: Sendable {
  /// To a login.
  case login(Result<LoginOutcome, ProviderFailure>)
  /// To a code, or what came of a user's action elsewhere.
  case session(Result<ProviderSession, ProviderFailure>)
  /// To the wish for another code.
  case challenge(Result<ProviderChallenge, ProviderFailure>)
  /// Whose session it is.
  case user(Result<User, ProviderFailure>)
  /// To a refresh.
  case tokens(Result<TokenSet, ProviderFailure>)
  /// To a revocation; nil for a success.
  case revoked(ProviderFailure?)
}

extension TrialRequest {
  /// How long it is waited before it is asked: for a refresh longer than a second, the unit of every time in a token.
  package var pause: Duration? {
    guard case .refresh = self else { return nil }
    return .milliseconds(1100)
  }
}

extension AuthProvider {
  /// Does what a trial asks for.
  package func answer(_ request: TrialRequest) async -> TrialAnswer {
    switch request {
    case .login(let credentials):
      return .login(await result { () throws(ProviderFailure) in try await login(credentials) })
    case .verify(let flow, let code):
      return .session(
        await result { () throws(ProviderFailure) in
          try await require(\.challenges).verifyOTP(flow: flow, code: code)
        })
    case .verifyBackupCode(let flow, let code):
      return .session(
        await result { () throws(ProviderFailure) in
          try await require(\.backupCodes).verifyBackupCode(flow: flow, code: code)
        })
    case .resend(let flow):
      return .challenge(
        await result { () throws(ProviderFailure) in try await require(\.codeResending).resendOTP(flow: flow) })
    case .currentUser(let token):
      return .user(
        await result { () throws(ProviderFailure) in try await require(\.userInfo).currentUser(accessToken: token) })
    case .refresh(let token):
      return .tokens(await result { () throws(ProviderFailure) in try await refresh(token) })
    case .revoke(let tokens):
      do throws(ProviderFailure) {
        try await require(\.revocation).revoke(tokens, everywhere: false)
        return .revoked(nil)
      } catch {
        return .revoked(error)
      }
    }
  }

  /// Waits until a user has done elsewhere what a login asks of them; ends soon after its task is cancelled.
  ///
  /// - Parameters:
  ///   - action: what the user is to do.
  ///   - now: the wall clock.
  ///   - pause: waits for some time, and says whether all of it has passed: not so where the task was cancelled.
  /// - Returns: the session, or why there is none.
  package func awaitUser(
    _ action: ProviderUserAction, now: @Sendable () -> Timestamp, pause: @Sendable (Duration) async -> Bool
  ) async -> Result<ProviderSession, ProviderFailure> {
    guard action.kind == .deviceCode else {
      return await result { () throws(ProviderFailure) in
        try await require(\.browserLogin).awaitRedirect(flow: action.flow)
      }
    }
    var interval = max(action.interval, ProviderUserAction.shortestInterval)
    while now() < action.expiresAt {
      guard await pause(interval) else { return .failure(.transient(.cancelled)) }
      do throws(ProviderFailure) {
        switch try await require(\.deviceLogin).pollUserAction(flow: action.flow) {
        case .authenticated(let session): return .success(session)
        // RFC 8628, section 3.5.
        case .pending(let slowsDown): if slowsDown { interval += .seconds(5) }
        }
      } catch {
        guard case .transient = error else { return .failure(error) }
      }
    }
    return .failure(.refused(.otpExpired))
  }

  private func result<R: Sendable>(
    _ call: () async throws(ProviderFailure) -> R
  ) async -> Result<R, ProviderFailure> {
    do throws(ProviderFailure) { return .success(try await call()) } catch { return .failure(error) }
  }
}
