import BrokerCore
package import HTTP

extension HTTPFailure {
  /// One sentence on why a provider cannot be reached: the fault and its remedy.
  ///
  /// - Parameter address: the setting that says where the provider is.
  /// - Returns: a sentence without anything of the provider.
  package func advice(_ address: String) -> String {
    if let fault = TLSFault(self) { return fault.message(address) }
    return switch self {
    case .nameNotResolved: "Its name does not resolve; check the network and the host in \(address)."
    case .connectFailed: "Nothing answers at its address; check the network, then host and port in \(address)."
    case .proxyFailed: "The proxy cannot be used; check network.proxy in the configuration, then https_proxy."
    case .pinMismatch:
      "Its key matches none of tls.pins; ask its operator for the new pins, and enter no password until then."
    case .timedOut(false): "The connection timed out; check the network, then host and port in \(address)."
    case .timedOut(true): "It did not answer the request in time; try again, or ask its operator."
    case .connectionLost:
      "It closed the connection without an answer; check host and port in \(address), or try again."
    case .responseTooLarge, .malformedResponse:
      "The answer there is not valid HTTP; check \(address), and whether the network requires a login."
    default: ownAdvice
    }
  }

  /// The advice for a failure that has nothing to do with the provider.
  private var ownAdvice: String {
    switch self {
    case .libraryMissing: "libcurl 7.87 or later is not installed; on Debian run: apt-get install libcurl4"
    case .overloaded, .secretMemoryExhausted: "The broker has too many requests under way to ask it; try again."
    case .closed, .cancelled: "The broker is shutting down; try again."
    default: "The broker could not ask it; its log says why."
    }
  }
}
