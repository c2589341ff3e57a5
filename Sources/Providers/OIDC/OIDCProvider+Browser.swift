package import BrokerCore
import BrokerProtocol
import HTTP
import LinuxSystem
import Sealing
package import SecretMemory
import TextCoding

/// Logins in a browser on this machine (RFC 8252), by a code and its proof (RFC 7636).
extension OIDCProvider: BrowserLoginProvider {
  /// Begins to listen, and makes the address to open.
  ///
  /// A port that an earlier login has is freed last: while the provider is not there, that one goes on.
  ///
  /// - Throws: `.unsupported` for a proof that the provider cannot be made to ask for; `.misconfigured(.redirectPort)` where
  ///   another program has the port; and as ``login(_:)``.
  func beginBrowser(
    _ scopes: [String], of email: String?, wantsProof: Bool, replacesPending: Bool, stepUp: StepUp? = nil
  ) async throws(ProviderFailure) -> ProviderUserAction {
    guard !wantsProof || dialect.quirks.provesAgain else { throw .unsupported }
    let url = try await endpoint(.authorization)
    if dialect.quirks.needsProof, try await !discovery.features().takesProof { throw .misconfigured(.proof) }
    let namesIssuer = try await discovery.namesIssuer()
    let pushing = try await discovery.pushedAuthorization(isWanted: dialect.pushesAuthorization)
    let key = try newKey()
    let now = clock()
    let flow = try listeners.begin(on: redirect, replacesAwaited: replacesPending, at: now) {
      port throws(ProviderFailure) in
      do throws(SealingError) {
        return try RedirectFlow(
          redirect, port: port, scopes: scopes, namesIssuer: namesIssuer, wantsProof: wantsProof, key: key,
          at: now)
      } catch {
        throw .transient(.overloaded)
      }
    }
    let handle: Secret
    do throws(SecretMemoryExhausted) { handle = try PendingFlow.redirect(flow).handle() } catch {
      throw .transient(.overloaded)
    }
    var fields = fields(of: flow, for: email, stepUp)
    if let key { fields.append(("dpop_jkt", try key.thumbprint())) }
    if let pushing {
      do throws(ProviderFailure) { fields = try await pushed(fields, to: pushing, key) } catch {
        listeners.withdraw(flow)
        throw error
      }
    }
    return ProviderUserAction(
      flow: handle, kind: .browser, verificationURI: Self.address(url, fields), expiresAt: flow.expiresAt)
  }

  /// Waits for the browser, exchanges the code that it brings, and shows it the result.
  ///
  /// - Throws: `.refused` with `consentDenied`, `providerRejected` or what else the provider answers, with `otpExpired`
  ///   where no browser came, with `flowNotFound` for a handle that is none or a code that is not good any more;
  ///   `.transient(.cancelled)` once the task is cancelled, or a later login has the port;
  ///   `.misconfigured(.redirectPort)` where another program has it; `.transient` and `.outcomeUnknown` for what went wrong
  ///   on the way to the provider.
  package func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession {
    guard case .redirect(let pending) = try pendingFlow(flow) else { throw .refused(.flowNotFound) }
    let wait = try listeners.wait(for: pending, dialect)
    let deadline = BootClock.now + (pending.expiresAt - clock())
    let verdict = await withTaskCancellationHandler {
      await wait.answer(until: deadline)
    } onCancel: {
      wait.cancel()
    }
    // A code that has come serves once: who waits for it no longer does not end its exchange.
    let result = await ProviderCall.spending {
      await Task(executorPreference: TaskThread.shared) { [self] in await session(verdict, pending) }.value
    }
    switch result {
    case .success: await wait.finish(.success)
    case .failure(let failure): await wait.finish(.failure(failure.kind))
    }
    listeners.end(wait)
    return try result.get()
  }

  package func takeRedirect(_ address: Secret, flow: Secret) throws(RedirectFault) {
    guard case .redirect(let pending)? = try? pendingFlow(flow) else { throw .otherLogin }
    // A terminal that is narrow breaks an address when it is copied.
    var text = address.withBytes { bytes in bytes.indices.map { bytes[$0] }.filter { $0 > 0x20 } }
    defer { wipe(&text) }
    listeners.bring(try RedirectJudge(flow: pending, dialect: dialect).judge(text), to: pending)
  }

  private func session(
    _ verdict: RedirectJudge.Verdict?, _ flow: RedirectFlow
  ) async -> Result<ProviderSession, ProviderFailure> {
    switch verdict {
    case .code(let code):
      do throws(ProviderFailure) { return .success(try await exchange(code, flow)) } catch { return .failure(error) }
    case .ended(let failure): return .failure(failure)
    case .keepWaiting, nil: return .failure(.transient(.cancelled))
    }
  }

  /// Exchanges a code for tokens (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
  private func exchange(_ code: Secret, _ flow: RedirectFlow) async throws(ProviderFailure) -> ProviderSession {
    var form: TokenCaller.Form = [
      ("grant_type", .text("authorization_code")), ("code", .secret(code)), ("redirect_uri", .text(flow.redirectURI)),
      ("code_verifier", .secret(flow.verifier)),
    ]
    if let resource = dialect.resource { form.append(("resource", .text(resource))) }
    let reply = try await ask(.code, try await tokenEndpoint(), form, key: flow.key)
    let session = try await session(reply, flow.scopes, nonce: flow.sentNonce)
    guard isProven(session.tokens, flow) else {
      // No session will use them.
      try? await revoke(session.tokens, everywhere: false)
      throw .refused(.reauthRequired)
    }
    return session
  }

  /// Whether the user has authenticated since the login was begun, where that is wanted; a provider that does not say
  /// when counts as having asked (OpenID Connect Core, section 3.1.3.7, item 13).
  private func isProven(_ tokens: TokenSet, _ flow: RedirectFlow) -> Bool {
    guard flow.wantsProof, let authTime = claims(of: tokens, nonce: flow.sentNonce)?.authTime else { return true }
    return authTime + IDToken.tolerance >= flow.begunAt + (tokens.clockSkew ?? .zero)
  }
}
