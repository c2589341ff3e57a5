import SecretMemory
import TextCoding

/// The address that an authenticator app reads from a QR code, with the secret of an enrolment in it.
///
/// Its form is that of Google Authenticator's wiki page "Key Uri Format", which every app follows; there is no RFC.
enum OTPAuthURI {
  /// The address for an enrolment.
  ///
  /// Algorithm, digits and period are written out, also where they are the usual ones: apps differ in their defaults.
  ///
  /// - Parameters:
  ///   - totp: with the secret of the enrolment.
  ///   - issuer: the name of the service, for people to read; colons are left out, since a colon ends it.
  ///   - account: whose codes these are, such as an e-mail address.
  /// - Returns: `otpauth://totp/Issuer:account?secret=…&issuer=Issuer&algorithm=SHA1&digits=6&period=30` in ASCII.
  /// - Throws: `SecretMemoryExhausted`.
  static func make(_ totp: TOTP, issuer: String, account: String) throws(SecretMemoryExhausted) -> Secret {
    let issuer = PercentEncoding.encoded(issuer.filter { $0 != ":" })
    let key = try Base32.encode(totp.secret)
    let before = "otpauth://totp/\(issuer):\(PercentEncoding.encoded(account))?secret=".utf8
    let after = "&issuer=\(issuer)&algorithm=SHA1&digits=\(totp.digits)&period=\(TOTP.period.components.seconds)".utf8
    return try Secret(byteCount: before.count + key.byteCount + after.count) { text in
      for (index, byte) in before.enumerated() { text[index] = byte }
      key.withBytes { key in
        for index in key.indices { text[before.count + index] = key[index] }
      }
      for (index, byte) in after.enumerated() { text[before.count + key.byteCount + index] = byte }
    }
  }
}
