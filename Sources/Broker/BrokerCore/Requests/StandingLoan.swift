import BrokerProtocol
import Synchronization

/// A loan that holds for the next requests as well, until something changes that it was made by.
///
/// The broker need not be asked again: the session's token, the permissions of the client, the rules and the configuration
/// are those of the loan for as long as the cache of answers knows its ticket.
struct StandingLoan: Sendable {
  /// The token.
  let token: LentToken
  /// The name of the state that it rests on.
  let ticket: AnswerCache.Ticket
  /// The rules of the profile.
  let rules: RequestRules?
  /// The providers, none of whose own addresses a request may go to.
  let providers: [any AuthProvider]
}

/// The standing loan of a door, which its connections share.
package final class LoanMemory: Sendable {
  private let loan = Mutex<StandingLoan?>(nil)
  private let answers: AnswerCache
  private let clock: any BrokerClock

  /// Nothing was lent yet.
  package init(of broker: Broker) { (answers, clock) = (broker.answers, broker.clock) }

  /// Keeps a loan in place of the one before; nil for one that holds once.
  func keep(_ loan: StandingLoan?) { self.loan.withLock { $0 = loan } }

  /// Lends the token for one more request, from any thread; its use is remembered, and counted for the audit.
  ///
  /// - Returns: nil where the broker is to be asked, also for what is refused.
  package func lend(_ demand: LoanDemand) -> LentToken? {
    guard demand.refused == nil, let loan = loan.withLock(\.self) else { return nil }
    do throws(BrokerError) {
      try Broker.judge(demand.method, demand.address, by: loan.rules, of: demand.profile, loan.providers)
    } catch { return nil }
    let time = clock.milliseconds
    let isGood = answers.use(
      loan.ticket, minValidity: demand.minValidity?.milliseconds, wall: time.wall, uptime: time.uptime)
    return isGood ? loan.token : nil
  }
}

extension AnswerCache {
  /// The name of a profile's present answer: the next one, and one of other permissions, have others.
  struct Ticket: Sendable {
    /// The number of the configuration and of all permissions.
    let epoch: UInt64
    /// The position of the profile.
    let position: Int
    /// The number of its token.
    let token: UInt64
    /// The span of the audit in which uses by it are counted; nil where there is no audit.
    let span: Span?

    /// A span of the audit.
    struct Span: Sendable {
      /// Its name there.
      let id: UInt64
      /// When it ends, in milliseconds of uptime.
      let until: Int64
    }
  }
}
