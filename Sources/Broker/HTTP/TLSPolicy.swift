import LinuxSystem

/// The certificate authorities that a server's certificate must come from.
///
/// There is no value that switches the check off.
package struct TLSPolicy: Sendable, Equatable {
  /// The file that Debian's `ca-certificates` keeps.
  ///
  /// The file is read once and kept by libcurl; the directory beside it is never used: looking a certificate up there
  /// costs 20 times as much. Where there are ``AddedAuthorities``, the text of all of them is read for each connection.
  package static let systemCAFile = "/etc/ssl/certs/ca-certificates.crt"

  /// PEM certificates of the trusted authorities; nil for the system's and the client's ``AddedAuthorities``.
  package var caFile: String?
  /// The keys that the server may have, beyond having a valid certificate.
  package var pins: PinSet?

  /// A policy; the standard one is the system's authorities and no pins.
  package init(caFile: String? = nil, pins: PinSet? = nil) {
    self.caFile = caFile
    self.pins = pins
  }

  /// The file that libcurl is to read; one without a certificate in place of one that another user can change, and so
  /// choose whom the broker trusts.
  var trustedFile: String {
    guard let caFile else { return Self.systemCAFile }
    return (try? TrustedFile.check(caFile)) == nil ? "/dev/null" : caFile
  }
}
