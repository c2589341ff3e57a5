import HTTP

extension DeliveryFailure {
  /// The failure of a message that a server did not take.
  ///
  /// - Parameters:
  ///   - failure: why.
  ///   - place: the server, without anything secret.
  init(_ failure: HTTPFailure, at place: String) {
    let text = "\(place): \(failure)"
    switch failure {
    case .mailRefused(let refusal): self = refusal.isPassing ? .unreachable(text) : .refused(text)
    case .invalidURL, .invalidField, .requestTooLarge, .libraryMissing, .tlsFailed, .pinMismatch: self = .refused(text)
    case .secretMemoryExhausted, .setUpFailed, .overloaded, .closed, .nameNotResolved, .connectFailed, .proxyFailed,
      .timedOut, .connectionLost, .responseTooLarge, .malformedResponse, .cancelled:
      self = .unreachable(text)
    }
  }
}
