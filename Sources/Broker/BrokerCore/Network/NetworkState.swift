import BrokerProtocol

/// Whether one provider can be reached, by the outcomes of its calls.
///
/// Each provider is somewhere else, so each has its own state. Nothing is sent to find it out: the calls that are made
/// anyway show it.
package enum NetworkState: Sendable, Equatable {
  /// No call has shown anything yet, or the last one was answered. Left by a call that did not get through.
  case up
  /// The last call did not get through. Left by a call that was answered.
  case down

  /// The outcome of a call.
  package enum Event: Sendable, Equatable, CaseIterable {
    /// There was a reply, whatever it said.
    case answered
    /// The provider was not reached.
    case notReached
    /// It tells nothing of the network: the call was never made, or the reply was only awaited too long.
    case unclear
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Tell that the provider is out of reach.
    case tellDown
    /// Tell that it is within reach again.
    case tellUp
    /// Let the profiles of other providers try once that could not reach theirs.
    case letOthersTry
  }

  /// Handles an event, and returns the actions in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch (self, event) {
    case (.up, .notReached):
      self = .down
      return [.tellDown]
    case (.down, .answered):
      self = .up
      return [.tellUp, .letOthersTry]
    case (.up, .answered), (.down, .notReached), (_, .unclear): return []
    }
  }
}

extension NetworkState.Event {
  /// The event for the outcome of a call; nil is a success.
  package init(_ failure: ProviderFailure?) {
    switch failure {
    case .transient(let kind, _, _)?: self = Self.of(kind, wasSent: false)
    case .outcomeUnknown(let kind, _)?: self = Self.of(kind, wasSent: true)
    // A port or a secret that is not available is this machine's own: no provider was asked.
    case .unsupported?, .credentialMissing?, .subjectMissing?, .misconfigured(.redirectPort)?,
      .misconfigured(.embeddedFiles)?, .misconfigured(.resource)?, .misconfigured(.movedResource)?:
      self = .unclear
    case nil, .refused?, .misconfigured?, .rejected?, .rotated?, .sessionEnded?, .reauthenticationRequired?,
      .challenged?, .tokenRefused?:
      self = .answered
    }
  }

  /// The event for a timeout: before anything was sent no server was reached; afterwards it is a slow provider.
  private static func of(_ kind: ErrorKind, wasSent: Bool) -> Self {
    switch kind {
    case .networkUnavailable: .notReached
    case .timeout: wasSent ? .unclear : .notReached
    // A middlebox may speak another TLS: that is no provider, and no dead network.
    case .tlsFailed, .tlsPinMismatch: .unclear
    case .cancelled, .overloaded, .shuttingDown, .`internal`: .unclear
    default: .answered
    }
  }
}
