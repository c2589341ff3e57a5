import BrokerProtocol
package import SecretMemory
import Synchronization

/// The rendered answers to `getAccessToken`, which is asked again and again.
///
/// The broker puts them in and takes them out; the reader of requests asks here first, without entering the broker. Its
/// lock is a leaf: nothing is called while it is held.
package final class AnswerCache: Sendable {
  private struct State {
    var index = ProfileIndex()
    var answers: [CachedAnswer?] = []
    /// When each profile was last answered from here or given an answer, in milliseconds of uptime.
    var uses: [Int64] = []
    /// Whether that is news for the broker.
    var isUsed: [Bool] = []
    var hits = 0
    /// The number of each profile's present token: another one has another number.
    var tokens: [UInt64] = []
    var grants = AuditedGrants()
    var loans = LoanBook()
    /// The consents by which profiles are answered that a rule has the owner asked about.
    var consents = CachedConsents()

    /// Takes in that sessions were used by loans.
    mutating func add(_ all: [LoanBook.Uses]) {
      for one in all {
        uses[one.position] = max(uses[one.position], one.last)
        isUsed[one.position] = true
        hits += one.count
      }
    }

    /// The position of a profile that this connection has a living consent for.
    func consented(
      _ profile: Span<UInt8>, _ permissions: Permissions, _ client: ClientID?, uptime: Int64
    ) -> Int? {
      guard permissions.asks, let client else { return nil }
      let position =
        profile.isEmpty
        ? permissions.asksUnnamed ? index.unnamed(in: permissions.visible) : nil
        : index.find(profile, in: permissions.askable)
      guard let position, consents.isAlive(client, position, uptime: uptime) else { return nil }
      return position
    }
  }

  private let state = Mutex(State())

  /// A cache without profiles.
  package init() {}

  /// The answer for a profile, if its token lives for long enough and its session has not ended for want of use.
  ///
  /// `profile` are the bytes of a name, empty where none is named, and `permissions` those of the principal, whose
  /// connection `client` is and whose number for the audit `auditNumber`, nil where there is none; `minValidity` and both
  /// clocks are in milliseconds. Nothing is allocated, opened or read here; the use of the session, and of a consent, is
  /// remembered.
  package func answer(
    profile: Span<UInt8>, for permissions: Permissions, as auditNumber: Int? = nil, of client: ClientID? = nil,
    minValidity: Int64?, wall: Int64,
    uptime: Int64
  ) -> Secret? {
    state.withLock { state in
      let open =
        profile.isEmpty
        ? permissions.opensUnnamed ? state.index.unnamed(in: permissions.visible) : nil
        : state.index.find(profile, in: permissions.open)
      guard
        let position = open ?? state.consented(profile, permissions, client, uptime: uptime),
        let answer = state.answers[position], uptime &- state.uses[position] < answer.idleTimeout,
        let json = answer.answer(for: minValidity, wall: wall, uptime: uptime)
      else { return nil }
      if let auditNumber, !state.grants.count(auditNumber, position, state.tokens[position], at: uptime) {
        return nil
      }
      state.uses[position] = max(state.uses[position], uptime)
      state.isUsed[position] = true
      state.hits += 1
      if open == nil, let client { state.consents.use(client, position, uptime: uptime) }
      return json
    }
  }

  /// Counts requests that got the answer to the one before them, which was the same, in the same turn.
  ///
  /// A negative number takes answers back that could not be given.
  package func noteRepetitions(_ count: Int, as client: Int? = nil) {
    state.withLock { state in
      state.hits += count
      if client != nil { state.grants.countMore(count) }
    }
  }

  /// The most clients of the audit that are known at a time.
  package static let mostClients = AuditedGrants.mostClients

  /// A number for a client of the audit.
  package func addClient() -> Int { state.withLock { $0.grants.addClient() } }

  /// Counts the grants of the present token of the profile at a position to a client here, until an uptime.
  func cover(_ client: Int, at position: Int, as id: UInt64, until: Duration) {
    state.withLock { state in
      guard state.tokens.indices.contains(position) else { return }
      state.grants.cover(client, position, state.tokens[position], as: id, until: until.milliseconds)
    }
  }

  /// Ends the spans of the audit; what they counted is taken with the others.
  func settleGrants() { state.withLock { $0.grants.settleAll() } }

  /// How often each span of the audit was counted since the last call.
  func takeGrants() -> [UInt64: Int] {
    state.withLock { state in
      state.add(state.loans.takeUses())
      return state.grants.takeCounts().merging(state.loans.takeCounts(), uniquingKeysWith: +)
    }
  }

  /// How many requests were answered from here.
  var hits: Int {
    state.withLock { state in
      state.add(state.loans.takeUses())
      return state.hits
    }
  }

  /// When the cached answer of any profile was last given, or put in.
  var lastUse: Duration {
    state.withLock { state in
      state.add(state.loans.takeUses())
      return .milliseconds(state.uses.max() ?? 0)
    }
  }

  /// Notes that the answer for the profile at a position was given, although not from here.
  func use(at position: Int, uptime: Duration) {
    state.withLock { state in
      guard state.uses.indices.contains(position) else { return }
      state.uses[position] = max(state.uses[position], uptime.milliseconds)
    }
  }

  /// Adopts the profiles of a configuration, without answers.
  func reset(_ index: ProfileIndex) {
    let count = index.count
    endLoans()
    state.withLock { state in
      state.index = index
      state.answers = Array(repeating: nil, count: count)
      state.uses = Array(repeating: 0, count: count)
      state.isUsed = Array(repeating: false, count: count)
      state.tokens = Array(repeating: 0, count: count)
      state.grants.settleAll()
      state.consents.forget(nil)
    }
  }

  /// Lets a connection have the answer for the profile at a position by a consent, for as long as that lives.
  func keep(_ consent: Consents.Grant, for client: ClientID, at position: Int) {
    state.withLock { $0.consents.keep(consent, for: client, at: position) }
  }

  /// The consents by which answers are given, and the uptime at which each last was, in milliseconds.
  var consentUses: [(number: UInt64, usedAt: Int64)] { state.withLock { $0.consents.uses } }

  /// Forgets the consents that are remembered no more.
  func retainConsents(where isRemembered: (UInt64) -> Bool) {
    state.withLock { $0.consents.retain(where: isRemembered) }
  }

  /// Forgets the consents of a connection that is closed; nil for all.
  func forgetConsents(of client: ClientID? = nil) { state.withLock { $0.consents.forget(client) } }

  /// Keeps an answer for the profile at a position, which was used at this uptime.
  func set(_ answer: CachedAnswer, at position: Int, usedAt uptime: Duration) {
    endLoans(at: position)
    state.withLock { state in
      guard state.answers.indices.contains(position) else { return }
      if state.answers[position]?.tokenID != answer.tokenID { state.tokens[position] &+= 1 }
      state.answers[position] = answer
      state.uses[position] = max(state.uses[position], uptime.milliseconds)
    }
  }

  /// Forgets the answer for the profile at a position.
  func forget(at position: Int) {
    endLoans(at: position)
    state.withLock { state in
      guard state.answers.indices.contains(position) else { return }
      state.answers[position] = nil
    }
  }

  // MARK: Loans

  /// A number for a door.
  func addBorrower() -> Int { state.withLock { $0.loans.addBorrower() } }

  /// How often all loans have ended: a loan that was asked for before holds once only.
  var loanEnds: UInt64 { state.withLock { $0.loans.ends } }

  /// Keeps the loan of a borrower in place of the one before, where the answer is there that it rests on, and all loans have
  /// ended so often.
  func keep(_ loan: StandingLoan?, for borrower: Int, since ends: UInt64) {
    // A token is released outside of the lock, here and below.
    let before = state.withLock { state in
      var kept: KeptLoan?
      if let loan, state.loans.ends == ends, state.answers.indices.contains(loan.position),
        let answer = state.answers[loan.position]
      {
        kept = KeptLoan(loan: loan, answer: answer, uses: LoanUses(since: state.uses[loan.position]))
      }
      let (before, uses) = state.loans.keep(kept, for: borrower)
      state.add(uses.map { [$0] } ?? [])
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// The loan of a borrower that holds; nil where there is none.
  func loan(for borrower: Int) -> KeptLoan? { state.withLock { $0.loans[borrower] } }

  /// Ends the loans of the profile at a position, or all: the permissions of a client, or what is audited, are others.
  func endLoans(at position: Int? = nil) {
    let ended = state.withLock { state in
      let (ended, uses) = state.loans.end(at: position)
      state.add(uses)
      return ended
    }
    withExtendedLifetime(ended) {}
  }

  /// When the profile at a position was last answered from here, if that was since the last call.
  func takeUse(at position: Int) -> Duration? {
    state.withLock { state in
      guard state.isUsed.indices.contains(position) else { return nil }
      state.add(state.loans.takeUses(at: position))
      guard state.isUsed[position] else { return nil }
      state.isUsed[position] = false
      return .milliseconds(state.uses[position])
    }
  }
}

/// The answers to `getAccessToken`, rendered once for as long as the token is good.
struct CachedAnswer: Sendable {
  /// The JSON of the result; nil where it was not asked for yet.
  private let json: Secret?
  /// The answer for callers that want the token to live for longer than can be relied on.
  private let capped: Secret?
  /// The freshness of the token.
  private let freshness: Freshness
  /// The remaining lifetime that a request wants where it names none, in milliseconds.
  private let skew: Int64
  /// The uptime, in milliseconds, until which the session need not see its use: then its refresh token is renewed.
  private let seenUntil: Int64
  /// For how many milliseconds it is answered although no client has used it: until the session ends for want of use,
  /// or the vault is to be checked for its lock.
  let idleTimeout: Int64
  /// The name of the token.
  let tokenID: String

  /// The rendered answers with the token of a session; `unwatched` is as ``AutoLock/unwatched`` says.
  init(
    _ answers: RenderedAnswers, named tokenID: String, of life: SessionLife, rules: SessionRules, unwatched: Duration?
  ) {
    self.tokenID = tokenID
    json = answers.current
    capped = answers.capped
    freshness = life.freshness
    skew = rules.expiry.skew.milliseconds
    seenUntil = life.renewal.refresh?.uptime.milliseconds ?? .max
    let idleTimeout = rules.idleTimeout > .zero ? rules.idleTimeout.milliseconds : .max
    self.idleTimeout = min(idleTimeout, unwatched?.milliseconds ?? .max)
  }

  /// The answer for a caller that needs the token for so many milliseconds; nil where the session must be asked.
  func answer(for minValidity: Int64?, wall: Int64, uptime: Int64) -> Secret? {
    guard uptime < seenUntil else { return nil }
    return switch freshness.verdict(for: minValidity ?? skew, wall: wall, uptime: uptime) {
    case .good: json
    case .capped: capped
    case .stale: nil
    }
  }
}
