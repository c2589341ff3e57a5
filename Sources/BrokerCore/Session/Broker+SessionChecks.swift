import BrokerProtocol

/// Sessions that are being looked at, until all are.
struct SessionChecks {
  /// What goes on when none is left; the failure is why the end of a session could not be made durable.
  typealias Continuation = @Sendable (isolated Broker, StoreFailure?) -> Void

  private struct Check {
    var open: Set<ProfileName>
    var failure: StoreFailure?
    let continuation: Continuation
  }

  private var checks: [UInt64: Check] = [:]
  private var count: UInt64 = 0

  /// Begins to look at the sessions of some profiles.
  ///
  /// - Returns: its name.
  mutating func begin(_ profiles: [ProfileName], _ continuation: @escaping Continuation) -> UInt64 {
    count += 1
    checks[count] = Check(open: Set(profiles), continuation: continuation)
    return count
  }

  /// Takes in that one session was looked at.
  ///
  /// - Returns: what goes on with which failure, once none is left.
  mutating func close(
    _ profile: ProfileName, of id: UInt64, _ failure: StoreFailure?
  ) -> (continuation: Continuation, failure: StoreFailure?)? {
    guard var check = checks[id] else { return nil }
    check.open.remove(profile)
    check.failure = check.failure ?? failure
    checks[id] = check.open.isEmpty ? nil : check
    return check.open.isEmpty ? (check.continuation, check.failure) : nil
  }
}

/// How sessions are looked at that their provider may have ended.
extension Broker {
  /// How long a look is waited for, as long as a call that a person waits for: it goes on after that, and what it finds
  /// counts.
  static let checkPatience = Duration.seconds(10)

  /// Looks at sessions once each, by a refresh, or where there is no refresh token by asking whose they are.
  ///
  /// Those that their provider has ended end here for the given reason; whatever else happens leaves them as they are.
  /// `done` is called when all have been looked at and what ended is durable.
  func check(
    _ slots: [ProfileSlot], _ reason: LogoutEvent.Reason,
    then done: @escaping SessionChecks.Continuation
  ) {
    let concerned = slots.filter { $0.machine.hasSession }
    guard !concerned.isEmpty else { return done(self, nil) }
    let id = sessionChecks.begin(concerned.map(\.name), done)
    for slot in concerned { look(at: slot, reason, id) }
  }

  /// Looks at one session; one whose login is being saved has no tokens to look at it with before that is done.
  private func look(at slot: ProfileSlot, _ reason: LogoutEvent.Reason, _ id: UInt64) {
    let (name, slotID) = (slot.name, slot.id)
    guard !slot.machine.isSigningIn else {
      return whenSaved(slot) { broker, _ in
        guard let slot = broker.slot(named: name, id: slotID) else { return broker.close(name, of: id, nil) }
        broker.look(at: slot, reason, id)
      }
    }
    guard let tokens = slot.machine.living?.tokens, !slot.provider.areClientsOwn(tokens) else {
      return finishCheck(of: name, slotID, id)
    }
    if tokens.refreshToken != nil {
      refresh(slot, reason, isAgain: false, id)
    } else {
      askForUser(slot, reason, id)
    }
  }

  /// Spends the refresh token: no other answer says as surely whether the session goes on.
  ///
  /// A refresh that was on its way before, or whose tokens are being saved, is no answer to that, so that after it the
  /// session is looked at again.
  private func refresh(_ slot: ProfileSlot, _ reason: LogoutEvent.Reason, isAgain: Bool, _ id: UInt64) {
    let (name, slotID) = (slot.name, slot.id)
    let wasUnderWay = slot.machine.refreshState.wasSent
    handle(.endSuspected(reason), on: slot)
    let params = GetAccessToken.Params(profile: name, timeout: Self.checkPatience, forceRefresh: true)
    withAccessToken(params) { broker, result in
      if case .success = result, wasUnderWay, !isAgain, let slot = broker.slot(named: name, id: slotID) {
        return broker.refresh(slot, reason, isAgain: true, id)
      }
      broker.finishCheck(of: name, slotID, id)
    }
  }

  private func askForUser(_ slot: ProfileSlot, _ reason: LogoutEvent.Reason, _ id: UInt64) {
    let (name, slotID, provider) = (slot.name, slot.id, slot.provider)
    guard provider.abilities.contains(.getCurrentUser), let token = slot.machine.living?.tokens.accessToken else {
      return finishCheck(of: name, slotID, id)
    }
    inBackground {
      do throws(ProviderFailure) {
        _ = try await provider.currentUser(accessToken: token)
        return { broker in
          broker.noteCall(nil, of: name, id: slotID)
          broker.finishCheck(of: name, slotID, id)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          if error == .tokenRefused, let slot = broker.slot(named: name, id: slotID),
            slot.machine.living?.tokens.accessToken == token
          {
            broker.handle(.endConfirmed(reason), on: slot)
          }
          broker.finishCheck(of: name, slotID, id)
        }
      }
    }
  }

  /// Takes in that a session was looked at, once what came of it is durable.
  private func finishCheck(of name: ProfileName, _ slotID: UInt64, _ id: UInt64) {
    guard let slot = slot(named: name, id: slotID), slot.machine.settledGeneration < slot.machine.generation else {
      return close(name, of: id, nil)
    }
    whenSaved(slot) { broker, failure in broker.close(name, of: id, failure) }
  }

  private func close(_ name: ProfileName, of id: UInt64, _ failure: StoreFailure?) {
    guard let (go, failure) = sessionChecks.close(name, of: id, failure) else { return }
    go(self, failure)
  }
}

extension RefreshMachine.State {
  /// Whether the refresh token of the flight under way was sent already.
  var wasSent: Bool {
    switch self {
    case .sent, .saving: true
    case .resting, .preparing, .backingOff, .barred, .holdingBack: false
    }
  }
}
