import BrokerProtocol
import SecretMemory

/// Tokens that are requested without a login.
extension Broker {
  /// Requests the first tokens of a session that needs no login.
  func requestFirst(_ flight: UInt64, on slot: ProfileSlot) {
    counts.refreshes += 1
    let (provider, id, sentAt) = (slot.provider, slot.id, now)
    request(TokenTarget(), on: slot) { broker, result in
      broker.noteCall(result.failure, of: id)
      guard let slot = broker.slot(id) else {
        if case .success(let tokens) = result { broker.revokeUnused(tokens, at: provider, for: id.profile) }
        return
      }
      switch result {
      case .success(let tokens):
        broker.noteClocks(of: tokens, slot)
        let grant = slot.provider.capabilities.grant?.grantName ?? LoginMethod.clientCredentials.rawValue
        broker.handle(.firstFetched(flight: flight, tokens, grant: grant, sentAt: sentAt), on: slot)
      case .failure(let failure): broker.handle(.firstFailed(flight: flight, failure), on: slot)
      }
    }
  }

  /// Requests tokens by a profile's grant, with the tokens of other profiles that it shows, then goes on.
  func request(
    _ target: TokenTarget, on slot: ProfileSlot, in room: SecretReservation? = nil,
    then go: @escaping @Sendable (isolated Broker, Result<TokenSet, ProviderFailure>) -> Void
  ) {
    let (provider, id) = (slot.provider, slot.id)
    let key = slot.machine.living?.tokens.accessToken.key
    let references = provider.capabilities.grant?.subjects ?? []
    gatherSubjects(Array(zip(references, slot.subjects ?? references.map { _ in "" })), []) { broker, gathered in
      let subjects: [GatheredSubject]
      switch gathered {
      case .success(let found): subjects = found
      case .failure(let error): return go(broker, .failure(.subjectMissing(error)))
      }
      broker.slot(id)?.subjects = subjects.map(\.name)
      let tokens = subjects.map(\.token)
      broker.inBackground(.spent, in: room) {
        let result = await Self.answer(of: provider, for: id.profile) { provider throws(ProviderFailure) in
          try await provider.require(\.grant).tokens(for: target, showing: tokens, boundTo: key)
        }
        return { go($0, result) }
      }
    }
  }

  /// A token of another profile, and its name.
  private struct GatheredSubject: Sendable {
    let token: SubjectToken
    let name: String
  }

  private typealias Gathering = @Sendable (isolated Broker, Result<[GatheredSubject], BrokerError>) -> Void

  /// Gets the tokens of other profiles one after the other, each refreshed where it must be.
  ///
  /// - Parameters:
  ///   - references: what is shown, each with the name of the last such token.
  ///   - found: what there is already.
  ///   - go: goes on with all of them.
  private func gatherSubjects(
    _ references: [(SubjectReference, shown: String)], _ found: [GatheredSubject], then go: @escaping Gathering
  ) {
    guard let (reference, shown) = references.first else { return go(self, .success(found)) }
    getSubject(reference, shown) { broker, result in
      switch result {
      case .success(let subject):
        broker.gatherSubjects(Array(references.dropFirst()), found + [subject], then: go)
      case .failure(let error): go(broker, .failure(error))
      }
    }
  }

  private func getSubject(
    _ reference: SubjectReference, _ shown: String,
    then go: @escaping @Sendable (isolated Broker, Result<GatheredSubject, BrokerError>) -> Void
  ) {
    guard let slot = slot(named: reference.profile) else {
      return go(self, .failure(BrokerError(.unknownProfile, profile: reference.profile)))
    }
    // An ID token ends by itself, and is renewed with its session. An assertion is good once.
    let isOld = slot.machine.living.map { living in
      reference.isIDToken ? !isIDTokenGood(of: slot) : isUsedUp(living.tokens.accessToken, reference, shown)
    }
    let params = GetAccessToken.Params(profile: reference.profile, forceRefresh: isOld ?? false)
    withAccessToken(params) { broker, result in go(broker, broker.subject(reference, after: result)) }
  }

  private func isUsedUp(_ token: BoundToken, _ reference: SubjectReference, _ shown: String) -> Bool {
    reference.isAssertion && token.kind == .subject && entropy.tokenID(of: token.value) == shown
  }

  private func isIDTokenGood(of slot: ProfileSlot) -> Bool {
    guard let living = slot.machine.living, let held = HeldIDToken(of: living, slot.machine.dating, at: now) else {
      return true
    }
    let skew = slot.machine.policy.skew
    return held.isGood(for: skew, at: now) || held.isLastWord(for: skew)
  }

  /// The token of another profile, once it was asked for.
  private func subject(
    _ reference: SubjectReference, after asked: Result<Secret, BrokerError>
  ) -> Result<GatheredSubject, BrokerError> {
    guard vault.isOpen, let slot = slot(named: reference.profile), let living = slot.machine.living else {
      return .failure(asked.failure ?? BrokerError(.loginRequired, profile: reference.profile))
    }
    if reference.isIDToken {
      guard let held = HeldIDToken(of: living, slot.machine.dating, at: now), held.isAlive(at: now) else {
        return .failure(asked.failure ?? Self.idTokenMissing(reference.profile))
      }
      return .success(
        GatheredSubject(token: SubjectToken(held.token, end: held.end), name: entropy.tokenID(of: held.token)))
    }
    let token = living.tokens.accessToken
    // One that no server takes is refused to clients, and is there all the same.
    if let error = asked.failure, token.kind != .subject || !slot.machine.isServable(at: now) { return .failure(error) }
    let end = slot.machine.shown(living.tokens.accessTokenExpiresAt)
    return .success(
      GatheredSubject(token: SubjectToken(token.value, end: end), name: entropy.tokenID(of: token.value)))
  }
}

/// Logins where none is needed.
extension Broker {
  /// Refuses a login to a profile whose tokens are requested by a grant.
  ///
  /// - Throws: `unsupportedByProvider`; it names the profile to log in to, where its tokens are issued for those of another.
  func requireLogin(on slot: ProfileSlot) throws(BrokerError) {
    guard let grant = slot.provider.capabilities.grant, slot.provider.loginForms.isEmpty else { return }
    var error: BrokerError
    if let subject = signedOutSubject(of: slot)?.name {
      let sentence =
        "No login is made on this profile: its tokens are issued for those of \(subject), which needs a login."
      error = BrokerError(.unsupportedByProvider, sentence, profile: subject)
      error.nextAction = .login
    } else {
      let sentence =
        grant.configuredField == nil
        ? "This profile needs no login: its tokens are requested by the grant \(grant.grantName)."
        : "There is nothing to log in to: the token of this profile is the secret that its configuration names."
      error = BrokerError(.unsupportedByProvider, sentence, profile: slot.name)
      error.nextAction = .fixRequest
    }
    throw error
  }

  /// The first profile without a session, of those whose tokens this one's are issued for, that takes a login; they are in
  /// no circle.
  private func signedOutSubject(of slot: ProfileSlot) -> ProfileSlot? {
    for reference in slot.provider.capabilities.grant?.subjects ?? [] {
      guard let subject = self.slot(named: reference.profile) else { continue }
      if subject.provider.loginForms.isEmpty {
        if let found = signedOutSubject(of: subject) { return found }
      } else if subject.machine.living == nil {
        return subject
      }
    }
    return nil
  }
}

/// Following the tokens that others were issued for.
extension Broker {
  /// Takes in that the tokens of a profile have changed: those that were issued for them count as old, and its own may
  /// have been overtaken while they were requested.
  func followSubjects(_ slot: ProfileSlot) {
    guard vault.isOpen, !profiles.dependents.isEmpty else { return }
    for name in profiles.dependents[slot.name] ?? [] {
      guard let dependent = self.slot(named: name) else { continue }
      if slot.machine.living == nil, !slot.machine.isSigningIn {
        endDependent(dependent)
      } else if dependent.machine.isFirstAwaited {
        handle(.subjectReplaced, on: dependent)
      } else {
        judge(dependent, by: slot)
      }
    }
    guard slot.machine.isUnattended, slot.machine.life?.isOutdated == false else { return }
    for reference in slot.provider.capabilities.grant?.subjects ?? [] {
      if let subject = self.slot(named: reference.profile) { judge(slot, by: subject) }
    }
  }

  private func judge(_ dependent: ProfileSlot, by subject: ProfileSlot) {
    guard dependent.machine.life?.isOutdated != true, isOutdated(dependent, by: subject) else { return }
    handle(.subjectReplaced, on: dependent)
  }

  /// Ends a session whose subject's has ended: its tokens would outlive that.
  private func endDependent(_ slot: ProfileSlot) {
    guard let tokens = slot.machine.newestTokens else { return handle(.subjectReplaced, on: slot) }
    slot.logouts += 1
    slot.sessions += 1
    handle(.logoutWanted(.user), on: slot)
    revokeLater(tokens, of: slot)
  }

  /// Whether a token was exchanged for another one than its subject has now, or would have if it was asked.
  private func isOutdated(_ dependent: ProfileSlot, by subject: ProfileSlot) -> Bool {
    let references = dependent.provider.capabilities.grant?.subjects ?? []
    let exchanged = references.indices.filter {
      references[$0].profile == subject.name && !references[$0].isAssertion
    }
    guard !exchanged.isEmpty, let life = subject.machine.life else { return false }
    guard !life.isOutdated else { return true }
    guard let known = dependent.subjects else {
      // Since a restart only the times tell.
      return dependent.machine.living.map { life.session.issuedAt > $0.issuedAt } ?? true
    }
    let tokens = life.session.tokens
    let names = [tokens.accessToken.value, tokens.idToken].compactMap { $0.map { entropy.tokenID(of: $0) } }
    return exchanged.contains { !names.contains(known[$0]) }
  }
}
