package import HTTP

extension HTTPFailure {
  /// One sentence for whoever looks why a provider cannot be reached: what is wrong, and what to do about it.
  ///
  /// - Parameter address: the setting that says where the provider is.
  /// - Returns: a sentence without anything of the provider.
  package func advice(_ address: String) -> String {
    switch self {
    case .nameNotResolved: "Its name does not resolve; look at the network and at the host in \(address)."
    case .connectFailed: "Nobody answers at its address; look at the network, and at host and port in \(address)."
    case .proxyFailed: "The proxy cannot be used; look at network.proxy in the configuration, and at https_proxy."
    case .tlsFailed(let reason): reason.advice(address)
    case .pinMismatch:
      "Its key is none of tls.pins; ask whoever runs it for the new pins, and enter no password anywhere until then."
    case .timedOut(false): "No connection was made in time; look at the network, and at host and port in \(address)."
    case .timedOut(true): "It took the request and did not answer in time; try again, or ask whoever runs it."
    case .connectionLost:
      "It ended the connection without an answer; look at host and port in \(address), or try again."
    case .responseTooLarge, .malformedResponse:
      "What answers there is no HTTP server that fits; look at \(address), and whether the network wants a login first."
    default: ownAdvice
    }
  }

  /// What has nothing to do with the provider.
  private var ownAdvice: String {
    switch self {
    case .libraryMissing: "libcurl 7.87 or later is not installed; on Debian run: apt-get install libcurl4"
    case .overloaded, .secretMemoryExhausted: "The broker has too much to do to ask it; try again."
    case .closed, .cancelled: "The broker is shutting down; try again."
    default: "The broker could not ask it; its log says why."
    }
  }
}

extension HTTPFailure.TLSReason {
  /// The same, for a connection that cannot be trusted.
  fileprivate func advice(_ address: String) -> String {
    switch self {
    case .untrusted:
      "Its certificate is from nobody who is trusted; if it has an authority of its own, name that in tls.caFile."
    case .expired:
      "Its certificate's time is over, or has not begun; look at this machine's clock, then ask who runs it."
    case .hostMismatch: "Its certificate is for another host; look at the host in \(address)."
    case .protocolVersion: "It does not offer TLS 1.2 or later; look at the port in \(address), then ask who runs it."
    case .caFile: "The file of trusted authorities cannot be read; look at tls.caFile, or install ca-certificates."
    case .other: "The TLS handshake failed; look at host and port in \(address), then ask who runs it."
    }
  }
}
