import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What an error says of another try: `retryAfterSeconds` stands only where the same request may succeed by then, unless
/// a login is over.
@Suite(.standardTimeLimit) struct RetryAdviceTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))
  private static let terms = RefreshMachine.Terms(generation: 1, accessEnd: nil)
  private static let word = ProviderWord("odd_error").map { ProviderRejection.Said.error($0) }
  private static let foreignType = ProviderWord("mac").map { ProviderRejection.Said.tokenType($0) }

  private struct Row {
    let failure: ProviderFailure
    let retryable: Bool
    let next: NextAction
  }

  private static let rows: [Row] = [
    // Answers that pass, whatever usually holds for their kinds.
    Row(failure: .transient(.forbidden), retryable: true, next: .wait),
    Row(failure: .transient(.providerRejected), retryable: true, next: .wait),
    Row(failure: .transient(.invalidResponse), retryable: true, next: .wait),
    Row(failure: .transient(.providerUnavailable), retryable: true, next: .wait),
    Row(failure: .transient(.networkUnavailable), retryable: true, next: .retry),
    Row(failure: .transient(.tlsFailed), retryable: true, next: .fixConfig),
    // JSON of 403 or 404, with and without a name that nobody knows.
    Row(failure: .rejected(ProviderRejection(.forbidden)), retryable: true, next: .wait),
    Row(failure: .rejected(ProviderRejection()), retryable: true, next: .wait),
    Row(failure: .rejected(ProviderRejection(said: word, isCounted: true)), retryable: true, next: .wait),
    Row(failure: .refused(.rateLimited, retryAfter: .seconds(9)), retryable: true, next: .wait),
    // What someone must change.
    Row(failure: .rejected(ProviderRejection(fault: .request, said: word)), retryable: false, next: .fixConfig),
    Row(failure: .rejected(ProviderRejection(said: foreignType)), retryable: false, next: .contactProvider),
    Row(failure: .misconfigured(.client), retryable: false, next: .fixConfig),
    Row(failure: .credentialMissing(MissingCredential("x", "y")), retryable: false, next: .fixConfig),
    Row(failure: .refused(.insufficientScope), retryable: false, next: .fixRequest),
    Row(failure: .tokenRefused, retryable: false, next: .contactProvider),
    Row(failure: .unsupported, retryable: false, next: .none),
  ]

  private static func judge(_ error: BrokerError, _ row: Row) {
    #expect(error.isRetryable == row.retryable && error.nextAction == row.next, "\(row.failure): \(error)")
    #expect((error.retryAfter != nil) == row.retryable, "\(row.failure): \(error)")
  }

  @Test func `the error of a refresh names a time exactly where time helps`() {
    for row in Self.rows {
      var machine = RefreshMachine(profile: .default)
      _ = machine.handle(.wanted, Self.terms, at: Self.start)
      _ = machine.handle(.intentSaved(flight: 1), Self.terms, at: Self.start)
      let actions = machine.handle(.failed(flight: 1, row.failure, jitter: 1), Self.terms, at: Self.start)
      let errors = actions.compactMap { action in
        if case .report(let error, nextAttemptAt: _?) = action { error } else { nil }
      }
      #expect(errors.count == 1, "\(row.failure): \(actions)")
      for error in errors { Self.judge(error, row) }
      // Callers that come meanwhile are told the same.
      if let error = machine.refusal(Self.terms, at: Self.start) { Self.judge(error, row) }
    }
  }

  @Test func `so does that of a first token`() throws {
    for row in Self.rows {
      var first = FirstToken()
      #expect(first.want(at: .zero) == .send(flight: 1))
      let failed = first.fail(1, BrokerError(row.failure, profile: .default), retryAfter: nil, jitter: 1, at: .zero)
      let error = try #require(failed)
      #expect((error.retryAfter != nil) == error.isRetryable, "\(row.failure): \(error)")
      guard case .refuse(let next) = first.want(at: .zero) else {
        Issue.record("\(row.failure)")
        continue
      }
      #expect((next.retryAfter != nil) == next.isRetryable, "\(row.failure): \(next)")
    }
  }
}
