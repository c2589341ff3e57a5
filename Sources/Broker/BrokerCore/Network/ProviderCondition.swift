import BrokerProtocol

/// How well a provider is, as far as the answer to one call shows; each condition includes those before it.
package enum ProviderCondition: Int, Sendable, Comparable, CaseIterable {
  /// It was reached, and answered something.
  case reached
  /// It does its work: it has refused a request for a reason that lies in the request.
  case serving
  /// It has accepted a request of this client.
  case accepting

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ProviderCondition {
  /// What a call shows by its failure, nil being a success; nil where it shows nothing.
  package init?(_ failure: ProviderFailure?) {
    guard NetworkState.Event(failure) == .answered else { return nil }
    switch failure {
    case nil: self = .accepting
    case .transient?, .outcomeUnknown?: self = .reached
    case .refused(let kind, _, _, _)? where kind.isRetryable: self = .reached
    case .rejected(let rejection)? where rejection.kind.isRetryable: self = .reached
    case .refused?, .misconfigured?, .rejected?, .rotated?, .sessionEnded?, .reauthenticationRequired?, .challenged?,
      .tokenRefused?, .unsupported?:
      self = .serving
    }
  }
}
