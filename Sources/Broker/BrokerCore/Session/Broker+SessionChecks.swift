import BrokerProtocol
import JSON

/// Examination of sessions that their provider may have ended.
extension Broker {
  /// The profiles whose session may have ended with a change of an account: those with the same binding, and not known
  /// to be another user's; nil is an unknown user.
  ///
  /// One rule for all that ends more sessions than one: another password, the end of the account, a logout everywhere,
  /// and a revocation that takes the whole grant with it.
  func sessions(of user: String?, at binding: ProviderBinding, besides name: ProfileName? = nil) -> [ProfileSlot] {
    slots.filter { slot in
      guard slot.name != name, slot.provider.binding == binding, slot.machine.hasSession else { return false }
      guard let user, let present = slot.user?.id else { return true }
      return user == present
    }
  }

  /// How long a caller waits for an examination, as long as for any call of a person: it goes on after that, and its
  /// result counts.
  static let checkPatience = Duration.seconds(10)

  /// Examines sessions once each, by a refresh, or where there is no refresh token by asking whose they are.
  ///
  /// Those that their provider has ended end here for the given reason, or as refused ones where there is none;
  /// whatever else happens leaves them as they are. The caller, who asked for a profile or for none, is answered when
  /// all that it is shown have been examined and what ended is durable; the others are examined without it.
  func check<Value: JSONEncodable & Sendable>(
    _ slots: [ProfileSlot], _ reason: LogoutEvent.Reason?, for caller: Caller<Value>, _ value: Value,
    of profile: ProfileName?
  ) {
    let concerned = slots.filter { $0.machine.hasSession }
    let view = view(of: caller.principal)
    let awaited = concerned.filter { view.sees($0.name) }
    defer { check(concerned.filter { !view.sees($0.name) }, reason, in: nil) }
    guard !awaited.isEmpty else { return answer(caller, value) }
    let checks = SessionChecks(of: awaited.map(\.id), askedFor: profile)
    note(caller.id, waitsFor: .sessionChecks(checks))
    let waiter = SessionCheck.Waiter.caller(caller.id) { $0.answer(caller, value) }
    for slot in awaited { examine(SessionCheck(waiter: waiter, slot: slot.id, reason: reason)) }
  }

  /// Examines sessions, as ``check(_:_:for:_:of:)`` does, as a part of a logout that waits for it; nil for none.
  func check(_ slots: [ProfileSlot], _ reason: LogoutEvent.Reason?, in logout: UInt64?) {
    let view = logout.flatMap { logouts.principal(of: $0) }.map { self.view(of: $0) }
    let awaited = Set(slots.filter { view?.sees($0.name) == true }.map(\.id))
    if let logout { note(logout) { $0.unexamined.formUnion(awaited) } }
    for slot in slots {
      let waiter = logout.flatMap { awaited.contains(slot.id) ? SessionCheck.Waiter.logout($0) : nil }
      examine(SessionCheck(waiter: waiter ?? .none, slot: slot.id, reason: reason))
    }
  }

  /// Examines one session; one whose login is being saved has no tokens to examine it with before that is done.
  func examine(_ check: SessionCheck) {
    guard let slot = slot(check.slot) else { return close(check, nil) }
    guard !slot.machine.isSigningIn else { return whenSaved(slot, .loginBeforeCheck(check)) }
    guard let tokens = slot.machine.living?.tokens, !slot.provider.capabilities.areClientsOwn(tokens) else {
      return finish(check)
    }
    if tokens.refreshToken != nil {
      refresh(slot, check, isAgain: false)
    } else {
      askForUser(slot, check)
    }
  }

  /// Spends the refresh token: no other answer says as surely whether the session goes on.
  ///
  /// A refresh that was on its way before, or whose tokens are being saved, is no answer to that, so that after it the
  /// session is examined again.
  private func refresh(_ slot: ProfileSlot, _ check: SessionCheck, isAgain: Bool) {
    let wasUnderWay = slot.machine.refreshState.wasSent
    handle(.endSuspected(check.reason), on: slot)
    let params = GetAccessToken.Params(profile: slot.name, timeout: Self.checkPatience, forceRefresh: true)
    withAccessToken(params) { broker, result in
      if case .success = result, wasUnderWay, !isAgain, let slot = broker.slot(check.slot) {
        return broker.refresh(slot, check, isAgain: true)
      }
      broker.finish(check)
    }
  }

  private func askForUser(_ slot: ProfileSlot, _ check: SessionCheck) {
    guard let userInfo = slot.provider.capabilities.userInfo, let token = slot.machine.living?.tokens.accessToken else {
      return finish(check)
    }
    ask(slot, .repeatable) { _ throws(ProviderFailure) in
      _ = try await userInfo.currentUser(accessToken: token)
    } then: { broker, slot, result in
      if result.failure == .tokenRefused, let slot, slot.machine.living?.tokens.accessToken == token {
        broker.handle(.endConfirmed(check.reason), on: slot)
      }
      broker.finish(check)
    }
  }

  /// Notes the end of an examination, once its result is durable.
  private func finish(_ check: SessionCheck) {
    guard let slot = slot(check.slot) else { return close(check, nil) }
    whenSettled(slot, .sessionCheck(check))
  }

  /// Notes the end of an examination, and answers its caller after the last one.
  func close(_ check: SessionCheck, _ failure: StoreFailure?) {
    switch check.waiter {
    case .none: break
    case .logout(let id): note(id) { $0.unexamined.remove(check.slot) }
    case .caller(let caller, let answer):
      guard case .sessionChecks(var checks)? = callers[caller]?.wait else { return }
      checks.close(check.slot, failure)
      note(caller, waitsFor: .sessionChecks(checks))
      guard checks.open.isEmpty else { return }
      if checks.failure != nil { refuse(caller, Self.unsaved(checks.profile)) } else { answer(self) }
    }
  }
}

extension RefreshMachine.State {
  /// Whether the refresh token of the flight under way was sent already.
  var wasSent: Bool {
    switch self {
    case .sent, .saving: true
    case .resting, .preparing, .awaitingOther, .backingOff, .barred, .holdingBack: false
    }
  }
}
