package import BrokerProtocol
package import JSON
package import SecretMemory

/// The one answer to a request.
package enum Answer: Sendable {
  /// The result of its method.
  case value(any JSONEncodable & Sendable)
  /// The result as JSON: it holds a token, which the audit names; nil where there is no audit.
  case rendered(Secret, Grant?)
  /// Why there is no result.
  case failure(BrokerError)
}

/// Registering, answering and removing callers.
extension Broker {
  /// A method: it answers its caller, now or later, or throws the error for the caller.
  package typealias Method<Value: Sendable> = @Sendable (isolated Broker, Caller<Value>) throws(BrokerError) -> Void

  /// Starts a request; the answer leaves by the port that ``start(with:notify:)`` was given.
  ///
  /// - Parameters:
  ///   - caller: who is to be answered.
  ///   - need: when the method needs an open vault.
  ///   - method: answers the caller, now or later.
  package func receive<Value: Sendable>(
    _ caller: Caller<Value>, _ need: VaultNeed = .throughout, _ method: Method<Value>
  ) {
    callers.insert(caller.id, as: caller.principal, need)
    serve(caller, need, method)
  }

  /// Starts a request of the broker's own for a token, for itself or for a principal, then goes on.
  func receive(
    own continuation: @escaping Callers.Continuation, as principal: Principal = .broker, _ method: Method<Secret>
  ) {
    serve(Caller(callers.insertOwn(continuation, as: principal), as: principal), .throughout, method)
  }

  private func serve<Value: Sendable>(_ caller: Caller<Value>, _ need: VaultNeed, _ method: Method<Value>) {
    do throws(BrokerError) {
      if need != .never { try requireUnlocked() }
      try method(self, caller)
    } catch {
      refuse(caller.id, error)
    }
  }

  /// The number of callers that wait for an answer, counted twice where a code of theirs is kept.
  package var waitingCallerCount: Int { callers.count + logins.callerCount }

  /// Answers a caller with the result of its method, once; a caller that has left is ignored.
  func answer<Value: JSONEncodable & Sendable>(_ caller: Caller<Value>, _ result: Result<Value, BrokerError>) {
    answer(caller.id, result)
  }

  /// Answers a caller, known by its name alone, with the result of its method, once.
  func answer(_ caller: CallerID, _ result: Result<some JSONEncodable & Sendable, BrokerError>) {
    switch result {
    case .success(let value): finish(caller, .value(value))
    case .failure(let error): refuse(caller, error)
    }
  }

  /// Gives a caller a result; see ``answer(_:_:)``.
  func answer<Value: JSONEncodable & Sendable>(_ caller: Caller<Value>, _ value: Value) {
    finish(caller.id, .value(value))
  }

  /// Gives a caller the token that it waits for, unless its owner is to be asked again; `grant` says which, and is asked for
  /// where there is an audit.
  func answer(_ caller: CallerID, token: Result<Secret, BrokerError>, as grant: @autoclosure () -> Grant?) {
    switch token {
    case .success where isServedAgain(caller): break
    case .success(let json): finish(caller, .rendered(json, audit.isOn ? grant() : nil))
    case .failure(let error): refuse(caller, error)
    }
  }

  /// Answers a caller with the progress of a login, its own or the one whose code it gave; `clientContext` is returned
  /// to it.
  func answer(_ caller: CallerID, login result: Result<LoginProgress, BrokerError>, _ clientContext: String?) {
    if case .success = result { noteVaultUse() }
    let counted = callers[caller]?.countsBackupCodesOf.flatMap { slot(named: $0) }
    let result = result.map { progress in
      LoginResult(
        progress.with(clientContext: clientContext), clientContext: clientContext,
        backupCodesRemaining: counted?.account.backupCodesRemaining)
    }
    answer(caller, result)
  }

  /// Answers a caller that its request is done, or with the error.
  func acknowledge(_ caller: CallerID, _ error: BrokerError?) {
    finish(caller, error.map { Answer.failure($0) } ?? .value(Empty()))
  }

  /// Tells a caller why there is no result.
  func refuse(_ caller: CallerID, _ error: BrokerError) { finish(caller, .failure(error)) }

  /// Ends the wait of a caller of the broker's own that is served another way than by an answer.
  ///
  /// - Returns: whether it still waited.
  func release(_ caller: CallerID) -> Bool { callers.remove(caller) != nil }

  private func finish(_ caller: CallerID, _ answer: Answer) {
    guard let entry = callers.remove(caller) else { return }
    let answer = entry.need == .throughout ? unlessLocked(answer) : answer
    if case .rendered = answer { noteVaultUse() }
    guard let continuation = entry.continuation else { return notify(.answer(answer, to: caller)) }
    switch answer {
    case .rendered(let json, _): continuation(self, .success(json))
    case .failure(let error): continuation(self, .failure(error))
    case .value: break
    }
  }

  /// Replaces an answer that comes after the vault was locked by `vaultLocked`.
  private func unlessLocked(_ answer: Answer) -> Answer {
    if case .failure(let error) = answer, error.kind == .vaultLocked { return answer }
    return vault.isOpen ? answer : .failure(BrokerError(.vaultLocked))
  }

  /// Sets a time limit on a caller's wait, after which an error names the profile.
  func limit(_ caller: CallerID, to time: Duration) {
    let deadline = schedule(at: now.uptime + time) { $0.expire(caller) }
    callers.update(caller) { entry in
      entry.deadline?.cancel()
      entry.deadline = deadline
    }
  }

  private func expire(_ caller: CallerID) {
    guard let entry = callers[caller] else { return }
    let profile: ProfileName? =
      switch entry.wait {
      case .token(let name): name
      case .userAction(let login): logins[login]?.login.profile
      case .request, .login, .code, .cancellation, .consent, .sessionChecks: nil
      }
    // Before the answer: its room must not answer once more.
    tellRoom(of: caller, entry.wait)
    refuse(caller, BrokerError(.deadlineExceeded, profile: profile))
  }

  /// Cancels a request, which is then not answered any more.
  ///
  /// A provider cannot be stopped: a session that a cancelled login brings after all is revoked, unless an equal login
  /// waits for it too.
  ///
  /// - Returns: false for a login that is answered, or whose session is just being saved: that is what it is answered
  ///   with.
  package func cancel(_ caller: CallerID) -> Bool {
    guard let entry = callers[caller] else { return true }
    if entry.wait == .login, !logins.attempts.leave(caller, isCancelled: true) { return false }
    detach(caller)
    return true
  }

  /// Forgets a caller whose connection was closed; the work that it began goes on.
  package func detach(_ caller: CallerID) {
    if let entry = callers.remove(caller) { tellRoom(of: caller, entry.wait) }
  }

  /// Takes in that a connection may have other things from now on: its subscriptions show these profiles, and requests
  /// for tokens are refused where it has less of their profile than before.
  package func limit(_ principal: Principal) {
    guard let client = principal.client else { return }
    answers.endLoans()
    showEvents(of: principal, to: client)
    renewConsents(of: client, principal.permissions)
    for (caller, name) in callers.waitingForTokens {
      guard var asking = callers[caller]?.principal, asking.client == client,
        !asking.keeps(name, by: principal.permissions)
      else { continue }
      let confirmation = asking.confirmation(of: name)
      asking.permissions = principal.permissions
      tellRoom(of: caller, .token(name))
      do throws(BrokerError) {
        _ = try view(of: asking).slot(for: name)
        // When it began to wait its owner was not asked, or asked less often.
        if asking.permits(name), asking.confirmation(of: name) > confirmation { throw .notConsented(name) }
        refuse(caller, .notAllowed(asking.method ?? "", with: name, by: asking.permissions))
      } catch { refuse(caller, error) }
    }
  }

  /// Whether a caller only waits for the work of others, so that its request can be refused now and sent again.
  package func maySendAgain(_ caller: CallerID) -> Bool {
    switch callers[caller]?.wait {
    case .token, .userAction, .consent: true
    case .request, .login, .code, .cancellation, .sessionChecks, nil: false
    }
  }

  /// Notes the object of a caller's wait, and the profile whose backup codes are counted in its answer.
  func note(_ caller: CallerID, waitsFor wait: Callers.Wait, countsBackupCodesOf profile: ProfileName? = nil) {
    callers.update(caller) { entry in
      entry.wait = wait
      if let profile { entry.countsBackupCodesOf = profile }
    }
  }

  /// Notes the client context to return with the answer to a login.
  func note(_ caller: CallerID, clientContext: String?) {
    callers.update(caller) { $0.clientContext = clientContext }
  }

  /// Tells the room in which a caller waited that it has left.
  private func tellRoom(of caller: CallerID, _ wait: Callers.Wait) {
    switch wait {
    case .token(let profile): handle(.waiterLeft(caller), onProfile: profile)
    case .code(let login): handle(.callerLeft(caller), onLogin: login)
    case .login: _ = logins.attempts.leave(caller, isCancelled: false)
    case .consent: leaveConsent(caller)
    case .request, .userAction, .cancellation, .sessionChecks: break
    }
  }
}
