package import BrokerCore
package import BrokerProtocol
package import HTTP

/// The failure of a provider call that got no response.
extension ProviderFailure {
  /// Whether the request may have been acted on decides: if not, nothing has happened.
  package init(_ failure: HTTPFailure) {
    let kind = ErrorKind(failure)
    let cause = TLSFault(failure).map { PassingCause.tls($0) }
    self = failure.requestMayHaveArrived ? .outcomeUnknown(kind) : .transient(kind, cause: cause)
  }
}

extension TLSFault {
  /// The fault of a connection's security; nil where something else has failed.
  package init?(_ failure: HTTPFailure) {
    guard case .tlsFailed(let reason) = failure else { return nil }
    switch reason {
    case .untrusted: self = .untrusted
    case .expired: self = .expired
    case .hostMismatch: self = .hostMismatch
    case .protocolVersion: self = .protocolVersion
    case .plain: self = .plain
    case .caFile(.system): self = .systemAuthorities
    case .caFile(.profile): self = .profileAuthorities
    case .caFile(.network): self = .networkAuthorities
    case .caFile(.environmentFile), .caFile(.environmentDirectory): self = .environmentAuthorities
    case .other: self = .other
    }
  }
}

extension ErrorKind {
  /// The error that a client sees.
  package init(_ failure: HTTPFailure) {
    switch failure {
    case .nameNotResolved, .connectFailed, .proxyFailed, .connectionLost: self = .networkUnavailable
    case .timedOut: self = .timeout
    case .tlsFailed: self = .tlsFailed
    case .pinMismatch: self = .tlsPinMismatch
    case .responseTooLarge, .malformedResponse: self = .invalidResponse
    case .mailRefused: self = .providerRejected
    case .overloaded, .secretMemoryExhausted: self = .overloaded
    case .closed: self = .shuttingDown
    case .cancelled: self = .cancelled
    case .invalidURL, .invalidField, .requestTooLarge, .libraryMissing, .setUpFailed: self = .internal
    }
  }
}
