import BrokerProtocol

/// Decides when a provider that is not well is asked again without a caller's wish: by one profile at a time, for all of
/// them.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state. A profile whose own call has failed
/// waits by its own ``Backoff``, so that it is not held back here as well.
struct ProviderRest: Sendable, Equatable {
  /// The state of the provider.
  enum State: Sendable, Equatable {
    /// Nothing is known against the provider. Left by a failure.
    case well
    /// It has failed so many times in a row, the last time for a profile: the others do not ask before `until`. Left by a
    /// request, a failure, or a sign that it is well.
    case resting(until: Duration, failures: Int, SlotID)
  }

  /// An event that drives the machine.
  enum Event: Sendable, Equatable {
    /// A refresh of a profile is about to be sent.
    case asked(SlotID)
    /// A call for a profile has shown that the provider is away, or overloaded; it may have named a time.
    case failed(SlotID, retryAfter: Duration?, jitter: Double)
    /// The provider is well, or may be.
    case recovered
  }

  /// The longest time that one profile's failures hold the others back, unless the provider itself has named a time: the
  /// fault may be that profile's alone.
  static let longest = Duration.seconds(30)
  /// How long the answer to a refresh is awaited before another profile asks: longer than any call takes.
  static let patience = Duration.seconds(25)

  /// The present state.
  private(set) var state = State.well

  /// A provider without a failure.
  init() {}

  /// Takes an event in.
  mutating func handle(_ event: Event, at uptime: Duration) {
    switch (event, state) {
    case (.recovered, _): state = .well
    case (.asked, .well): break
    case (.asked(let slot), .resting(_, let failures, _)):
      state = .resting(until: uptime + Self.patience, failures: failures, slot)
    case (.failed(let slot, let retryAfter, let jitter), _):
      let delay = Backoff.delay(afterFailures: failures + 1, jitter: jitter, floor: retryAfter)
      state = .resting(
        until: uptime + min(delay, max(Self.longest, retryAfter ?? .zero)), failures: failures + 1, slot)
    }
  }

  /// How often it has failed in a row.
  private var failures: Int {
    guard case .resting(_, let failures, _) = state else { return 0 }
    return failures
  }

  /// The uptime before which a profile does not ask without a caller's wish.
  func end(for slot: SlotID) -> Duration {
    guard case .resting(let until, _, let last) = state, last != slot else { return .zero }
    return until
  }
}

/// The condition of a provider, as far as the answer to one call shows it; each one includes those before it.
package enum ProviderCondition: Int, Sendable, Comparable, CaseIterable {
  /// It was reached, and answered something.
  case reached
  /// It works: it has refused a request for a reason that lies in the request.
  case serving
  /// It has accepted a request of this client.
  case accepting

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ProviderCondition {
  /// The condition that the outcome of a call shows, nil being a success; nil where it shows nothing.
  package init?(_ failure: ProviderFailure?) {
    guard NetworkState.Event(failure) == .answered else { return nil }
    switch failure {
    case nil: self = .accepting
    // It has said what it wants of the next request.
    case .transient(_, _, .proofWanted?)?: self = .serving
    case .transient?, .outcomeUnknown?: self = .reached
    case .refused(let kind, _, _, _)? where kind.isRetryable: self = .reached
    case .rejected(let rejection)? where rejection.kind.isRetryable: self = .reached
    case .refused?, .misconfigured?, .rejected?, .rotated?, .sessionEnded?, .reauthenticationRequired?, .challenged?,
      .tokenRefused?, .credentialMissing?, .subjectMissing?, .unsupported?:
      self = .serving
    }
  }
}
