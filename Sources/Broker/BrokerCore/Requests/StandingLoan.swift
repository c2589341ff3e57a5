import BrokerProtocol
import SecretMemory

/// A loan that holds for the next requests of a door as well, until something changes that it was made by.
///
/// The broker need not be asked again: for as long as the cache of answers has it, the session's token, the permissions of
/// all clients, the rules and the configuration are those of the loan.
struct StandingLoan: Sendable {
  /// A span of the audit.
  struct Span: Sendable {
    /// Its name there.
    let id: UInt64
    /// When it ends, in milliseconds of uptime.
    let until: Int64
  }

  /// The token.
  let token: LentToken
  /// The position of the profile.
  let position: Int
  /// The span in which its uses are counted; nil where there is no audit.
  let span: Span?
  /// The rules of the profile.
  let rules: RequestRules?
  /// The providers, none of whose own addresses a request may go to.
  let providers: [any AuthProvider]
}

/// The standing loan of a door, which its connections share.
package final class LoanMemory: Sendable {
  private let number: Int
  private let answers: AnswerCache
  private let clock: any BrokerClock

  /// Nothing was lent yet.
  package init(of broker: Broker) {
    (answers, clock) = (broker.answers, broker.clock)
    number = answers.addBorrower()
  }

  deinit { answers.keep(nil, for: number, since: 0) }

  /// How often all loans have ended.
  package var ends: UInt64 { answers.loanEnds }

  /// Keeps a loan in place of the one before; nil for one that holds once, as does one for which all loans had ended another
  /// number of times when its principal was looked up.
  func keep(_ loan: StandingLoan?, since ends: UInt64) { answers.keep(loan, for: number, since: ends) }

  /// The standing loan as one connection has it at hand: while its requests follow each other, no lock is taken for it.
  package struct Hand {
    private let memory: LoanMemory
    private var kept: KeptLoan?

    /// Nothing is at hand yet.
    package init(_ memory: LoanMemory) { self.memory = memory }

    /// Lends the token for one more request, on the thread of the connection; its use is remembered, and counted for the
    /// audit.
    ///
    /// - Returns: nil where the broker is to be asked, also for what is refused.
    package mutating func lend(_ demand: LoanDemand) -> LentToken? {
      if kept?.uses.isHeld != true { kept = memory.answers.loan(for: memory.number) }
      guard demand.refused == nil, let kept else { return nil }
      do throws(BrokerError) {
        try Broker.judge(demand.method, demand.address, by: kept.loan.rules, of: demand.profile, kept.loan.providers)
      } catch { return nil }
      let time = memory.clock.milliseconds
      let isGood = kept.use(minValidity: demand.minValidity?.milliseconds, wall: time.wall, uptime: time.uptime)
      return isGood ? kept.loan.token : nil
    }

    /// Forgets the loan, and its token with it.
    package mutating func clear() { kept = nil }
  }
}

extension LentToken {
  /// The same with the token in the locked memory, where it rests elsewhere: for what is sent again and again.
  func opened() -> LentToken {
    let copy = token.value.withBytes { try? Secret(copying: $0, in: .requests) }
    guard !token.value.isInArena, let copy else { return self }
    return LentToken(BoundToken(copy, token.kind, client: token.client, key: token.key), prover: prover, in: field)
  }
}
