import BrokerCore
import BrokerProtocol
import SecretMemory

/// What the disk does, and what must hold for what it has.
extension Simulation {
  /// Lets the disk do what it was asked first.
  func answerStorage(healthily: Bool = false) throws(Violation) {
    guard let call = life.storage.calls.first else { return }
    let answer = healthily ? .done : drawStoreAnswer(call.question)
    trace.note("disk: \(describe(call.question)) \(answer)")
    if case .failed = answer { weather.hasDiskFailed = true }
    life.storage.answer(call.number, answer)
    try turn()
  }

  private func drawStoreAnswer(_ question: StoreQuestion) -> StoreAnswer {
    switch question {
    case .lock, .read: return .done
    default: break
    }
    if weather.isDiskFull { return chance(0.9) ? .failed : .done }
    if case .commit = question, chance(0.004) { return .doneButFailed }
    return chance(0.006) ? .failed : .done
  }

  /// Notes that the broker was told that a change could not be made.
  func noteRefused(_ steps: [StoreStep], isDurable: Bool) {
    weather.hasDiskFailed = true
    var hasRecord = false
    for case .record(let record) in steps {
      hasRecord = true
      if isDurable {
        durable.surprisingRecords.insert(record.profile)
        // What could not be kept, as far as the broker knows, is given back.
        revocable[record.profile] = server.families.count
      }
      if case .living(let session) = record.contents, let text = session.tokens.accessToken.value.revealedString() {
        durable.unsaved.insert(text)
        if let refreshToken = session.tokens.refreshToken?.value.revealedString() {
          durable.unsaved.insert(refreshToken)
        }
      }
    }
    for case .event(let event) in steps {
      if isDurable { durable.surprising.insert(event.sequence) }
      if hasRecord { durable.refused.insert(event.sequence) } else { durable.unkept.insert(event.sequence) }
    }
  }

  func describe(_ question: StoreQuestion) -> String {
    guard case .commit(let steps) = question else { return "\(question)" }
    return "commit " + steps.map(describe).joined(separator: ", ")
  }

  private func describe(_ step: StoreStep) -> String {
    switch step {
    case .record(let record):
      switch record.contents {
      case .living(let session):
        let refresh = session.tokens.refreshToken?.value.revealedString() ?? "none"
        return "record \(record.profile) \(record.generation) living \(refresh)"
      case .ended(let reason, _): return "record \(record.profile) \(record.generation) ended \(reason)"
      case .reauthenticationRequired: return "record \(record.profile) \(record.generation) wants the user"
      case .signedOut: return "record \(record.profile) \(record.generation) signed out"
      }
    case .openIntent(let intent): return "open intent \(intent.profile) \(intent.generation)"
    case .event(let event): return "event \(event.sequence) \(event.payload.name) \(event.profile?.description ?? "")"
    default: return String("\(step)".prefix(60))
    }
  }

  /// Takes in what has become durable.
  func noteCommitted(_ steps: [StoreStep]) throws(Violation) {
    for step in steps {
      durable.noteIntent(step)
      switch step {
      case .record(let record): try noteCommitted(record)
      case .event(let event):
        durable.sequences.insert(event.sequence)
        durable.refused.remove(event.sequence)
        durable.promised = max(durable.promised, event.sequence)
      default: break
      }
    }
  }

  private func noteCommitted(_ record: SessionRecord) throws(Violation) {
    let profile = record.profile
    if let old = durable.records[profile], old.generation >= record.generation {
      throw Violation(.generationGrows, "\(profile): \(record.generation) after \(old.generation)")
    }
    switch record.contents {
    case .living(let session): try noteCommitted(session, profile)
    case .ended(let reason, _):
      try checkEnd(profile, reason)
      durable.add(.ended(profile, reason))
    case .reauthenticationRequired:
      try checkEnd(profile, .refreshRejected)
      durable.add(.ended(profile, .refreshRejected))
    case .signedOut:
      let isMoved =
        wishes.moved.contains(profile)
        || profiles.contains { $0.name == profile && $0.issuer != durable.records[profile]?.binding.issuer }
      if wishes.logouts[profile] != nil || isMoved || hasEndedWithGrant(profile) {
        durable.add(.signedOut(profile))
        break
      }
      // A login that the broker was told to be refused is overwritten, whether it rests there or not.
      guard durable.surprisingRecords.contains(profile) || durable.living(profile) == nil else {
        throw Violation(.sessionKept, "\(profile) is signed out, and nobody wanted that")
      }
    }
    durable.records[profile] = record
    durable.surprisingRecords.remove(profile)
  }

  /// Whether a session was over when it was examined because of another one's end: it counts as ended with that.
  private func hasEndedWithGrant(_ profile: ProfileName) -> Bool {
    guard wishes.examined.contains(profile), let token = durable.refreshToken(of: profile) else { return false }
    return !server.isAlive(token)
  }

  private func noteCommitted(_ session: LivingSession, _ profile: ProfileName) throws(Violation) {
    guard let text = session.tokens.accessToken.value.revealedString(),
      let new = (session.tokens.refreshToken?.value.revealedString()).flatMap({ SimulatedServer.Token($0) })
    else { throw Violation(.generationGrows, "\(profile): the refresh token is gone") }
    if let old = durable.refreshToken(of: profile), old.family == new.family {
      guard new.number >= old.number else {
        throw Violation(.generationGrows, "\(profile): \(new) after \(old)")
      }
    }
    for number in 0..<new.number { durable.spent.insert(SimulatedServer.Token(new.family, number)) }
    if durable.living(profile)?.tokens.accessToken != session.tokens.accessToken {
      let isLogin = durable.refreshToken(of: profile)?.family != new.family
      if isLogin { durable.add(.login(profile)) }
      if let first = wishes.logouts[profile], new.family >= first { wishes.logouts[profile] = nil }
      durable.add(.token(profile, text))
    }
    durable.jumpsBeforeRecord[profile] = weather.jumpsBeforeRecord
    if let user = session.user, !durable.users.contains(user) { durable.users.append(user) }
    durable.tokens.insert(text)
    durable.tokens.insert("R\(new.family).\(new.number)")
  }

  /// A session may only be said to have ended where it has, and for the reason that is true.
  private func checkEnd(_ profile: ProfileName, _ reason: SessionExpiredEvent.Reason) throws(Violation) {
    // What overwrites a login that the broker was told to be refused is the end of the session before.
    guard !durable.surprisingRecords.contains(profile) else { return }
    guard let session = durable.living(profile), let token = durable.refreshToken(of: profile) else { return }
    let family = server.families[token.family]
    if reason == .idleTimeout { return try checkIdleEnd(profile) }
    guard !family.isAlive else {
      throw Violation(.sessionKept, "\(profile): \(reason), but the provider's session \(token.family) lives")
    }
    if family.hasExpired { counts.expired += 1 }
    guard family.hasEndedByReplay else { return }
    counts.lostForGood += 1
    guard reason == .refreshOutcomeUnknown || hasRefreshTokenEnded(session) || isSpentElsewhere(token, profile) else {
      throw Violation(.reasonTold, "\(profile): \(reason), but a reply was lost")
    }
  }

  /// Whether the lost reply was for an earlier token, whose successor another broker has saved since.
  private func isSpentElsewhere(_ token: SimulatedServer.Token, _ profile: ProfileName) -> Bool {
    plan.isShared && profile == .default && !spending.isUnknown("R\(token.family).\(token.number)")
  }

  /// A session ends for want of use where that is configured, and not before its time.
  func checkIdleEnd(_ profile: ProfileName) throws(Violation) {
    guard let timeout = shortestIdleTimeouts[profile] else {
      throw Violation(.sessionKept, "\(profile) has ended for want of use, and no such end is configured")
    }
    guard let use = lastUse[profile], use.jumps == weather.jumps, idleTimeout(of: profile) == timeout else { return }
    // Nor can what was written down by another clock be told from a long time without use.
    guard durable.jumpsBeforeRecord[profile] == weather.jumps else { return }
    // What was written down of the last use may be so much older.
    guard life.clock.uptime - use.uptime >= timeout - .seconds(61) else {
      throw Violation(.sessionKept, "\(profile) has ended for want of use, and was used at \(use.uptime)")
    }
  }

  /// Whether the refresh token of a session has ended at its provider.
  func hasRefreshTokenEnded(_ session: LivingSession) -> Bool {
    guard let token = (session.tokens.refreshToken?.value.revealedString()).flatMap({ SimulatedServer.Token($0) })
    else {
      return false
    }
    return server.hasExpired(token.family, at: life.clock.uptime)
  }
}

extension SimulatedServer.Token {
  /// A token of a family.
  init(_ family: Int, _ number: Int) { (self.family, self.number) = (family, number) }
}
