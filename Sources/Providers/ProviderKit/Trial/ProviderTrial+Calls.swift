package import BrokerCore
package import BrokerProtocol

/// The provider calls of a trial.
extension ProviderTrial {
  /// Calls the capability that a request needs; a provider without it answers `.unsupported`.
  package static func ask(_ provider: any AuthProvider, _ request: TrialRequest) async -> TrialAnswer {
    switch request {
    case .login(let credentials):
      return .login(await result { () throws(ProviderFailure) in try await provider.login(credentials) })
    case .verify(let flow, let code):
      return .session(
        await result { () throws(ProviderFailure) in
          try await provider.require(\.challenges).verifyOTP(flow: flow, code: code)
        })
    case .verifyBackupCode(let flow, let code):
      return .session(
        await result { () throws(ProviderFailure) in
          try await provider.require(\.backupCodes).verifyBackupCode(flow: flow, code: code)
        })
    case .resend(let flow):
      return .challenge(
        await result { () throws(ProviderFailure) in try await provider.require(\.codeResending).resendOTP(flow: flow) }
      )
    case .currentUser(let token):
      return .user(
        await result { () throws(ProviderFailure) in
          try await provider.require(\.userInfo).currentUser(accessToken: token)
        })
    case .refresh(let token):
      return .tokens(await result { () throws(ProviderFailure) in try await provider.refreshUnrecorded(token) })
    case .revoke(let tokens):
      do throws(ProviderFailure) {
        try await provider.require(\.revocation).revoke(tokens, everywhere: false)
        return .revoked(nil)
      } catch {
        return .revoked(error)
      }
    }
  }

  /// Polls for a device at its interval (RFC 8628, section 3.5), and waits for a browser's return.
  package static func awaitUser(
    _ action: ProviderUserAction, _ provider: any AuthProvider, now: @Sendable () -> Timestamp,
    pause: @Sendable (Duration) async -> Bool
  ) async -> Result<ProviderSession, ProviderFailure> {
    guard action.kind == .deviceCode else {
      return await result { () throws(ProviderFailure) in
        try await provider.require(\.browserLogin).awaitRedirect(flow: action.flow)
      }
    }
    var interval = max(action.interval, ProviderUserAction.shortestInterval)
    while now() < action.expiresAt {
      guard await pause(interval) else { return .failure(.transient(.cancelled)) }
      do throws(ProviderFailure) {
        switch try await provider.require(\.deviceLogin).pollUserAction(flow: action.flow) {
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

  private static func result<R: Sendable>(
    _ call: () async throws(ProviderFailure) -> R
  ) async -> Result<R, ProviderFailure> {
    do throws(ProviderFailure) { return .success(try await call()) } catch { return .failure(error) }
  }
}
