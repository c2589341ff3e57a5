package import BrokerProtocol

extension ErrorKind {
  /// The kind of a status that is not final: it passes, or comes from a middlebox.
  ///
  /// - Parameters:
  ///   - status: the status (RFC 9110, section 15), which is not what was hoped for.
  ///   - form: what came with it.
  package init(passing status: Int, _ form: BodyForm) {
    switch status {
    case 407, 511: self = .networkUnavailable
    // Unregistered ones too: some proxies count on behind 511.
    case 408, 425, 429, 500...: self = .providerUnavailable
    case 200..<400: self = .invalidResponse
    case _ where form == .html: self = .invalidResponse
    case 403: self = .forbidden
    default: self = .providerRejected
    }
  }
}
