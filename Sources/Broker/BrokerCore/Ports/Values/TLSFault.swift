/// The reason why there is no trusted TLS connection to a provider: each has its own remedy.
package enum TLSFault: Sendable, Equatable, CaseIterable {
  /// No trusted authority vouches for its certificate.
  case untrusted
  /// Its certificate's time is over or has not begun.
  case expired
  /// Its certificate is another host's.
  case hostMismatch
  /// It does not offer a version that is allowed.
  case protocolVersion
  /// It does not speak TLS at this port.
  case plain
  /// The system's trusted authorities cannot be read.
  case systemAuthorities
  /// The profile's certificate authorities cannot be read.
  case profileAuthorities
  /// The certificate authorities of all profiles cannot be read.
  case networkAuthorities
  /// The certificate authorities of the broker's environment cannot be read.
  case environmentAuthorities
  /// Anything else.
  case other

  /// One plain sentence with the fault and its remedy, without a word of the provider.
  ///
  /// - Parameter address: the setting that says where the provider is.
  /// - Returns: a sentence.
  package func message(_ address: String = "the profile's address") -> String {
    switch self {
    case .untrusted:
      "The provider's certificate is signed by an untrusted authority; for a private authority, set network.caFile (for "
        + "all profiles) or tls.caFile (for this one)."
    case .expired:
      "The provider's certificate has expired or is not valid yet; check this machine's clock, then ask its operator."
    case .hostMismatch: "The provider's certificate is for another host; check the host in \(address)."
    case .protocolVersion: "The provider does not offer TLS 1.2 or later; ask its operator."
    case .plain:
      "The provider does not speak TLS at this port, which may be one for http://; check the port in \(address)."
    case .other: "The TLS handshake with the provider failed; check host and port in \(address), then ask its operator."
    default: authorities
    }
  }

  private var authorities: String {
    switch self {
    case .systemAuthorities: "The system's trusted authorities cannot be read; install ca-certificates."
    case .profileAuthorities:
      "The file that tls.caFile names cannot be read, or has no certificate; correct tls.caFile, or put the file there."
    case .networkAuthorities:
      "The provider's certificate is not trusted, and the file that network.caFile names cannot be read or has no "
        + "certificate; correct network.caFile, or put the file there."
    default:
      "The provider's certificate is not trusted, and nothing can be read at SSL_CERT_FILE or SSL_CERT_DIR of the "
        + "broker's environment; correct the variable, then run authbroker stop."
    }
  }
}
