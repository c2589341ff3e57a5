import BrokerProtocol
import Sealing
import SecretMemory

/// One-time codes of an authenticator app: a function of a shared secret and the time (RFC 6238).
struct TOTP {
  /// How long a code is shown (RFC 6238, section 5.2); many authenticator apps ignore any other value.
  static let period = Duration.seconds(30)
  /// How many steps a clock may be wrong, and a person slow, either way (RFC 6238, section 5.2).
  static let toleratedSteps: Int64 = 1
  /// How many digits a code may have (RFC 4226, section 5.3).
  static let digitCounts = 6...8
  /// How many digits a code has of an app that this provider has enrolled; many apps show no other number.
  static let standardDigits = 6
  /// How long a new secret is: the recommendation of RFC 4226, section 4, requirement 6.
  static let secretByteCount = 20

  /// The secret that the app and the provider share.
  let secret: Secret
  /// How many digits its codes have.
  let digits: Int

  /// The codes of a secret.
  ///
  /// - Parameters:
  ///   - secret: of any length.
  ///   - digits: in ``digitCounts``.
  init(secret: Secret, digits: Int = Self.standardDigits) {
    precondition(Self.digitCounts.contains(digits), "a code has 6 to 8 digits")
    self.secret = secret
    self.digits = digits
  }

  /// Draws the secret of a new enrolment.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  static func randomSecret() throws(SealingError) -> Secret { try RandomBytes.secret(count: secretByteCount) }

  /// The number of the time step that a moment lies in, counted from 1970 (RFC 6238, section 4.2).
  static func step(at time: Timestamp) -> Int64 {
    let length = period.components.seconds * 1000
    let (quotient, remainder) = time.milliseconds.quotientAndRemainder(dividingBy: length)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The step whose code this is: the present one or a neighbour, and later than the last that was accepted.
  ///
  /// The caller stores the step before anything comes of the code, and so no code is accepted twice (RFC 6238,
  /// section 5.2). Each candidate is computed and compared in constant time, whichever matches.
  ///
  /// - Parameters:
  ///   - code: without blanks and dashes.
  ///   - now: the provider's clock.
  ///   - lastStep: what was returned for the last code that was accepted; nil: none was.
  /// - Returns: the step; nil where the code is wrong, too old, too new or used up.
  /// - Throws: `SecretMemoryExhausted`.
  func acceptedStep(
    of code: Secret, at now: Timestamp, after lastStep: Int64?
  ) throws(SecretMemoryExhausted) -> Int64? {
    let present = Self.step(at: now)
    var accepted: Int64?
    for step in (present - Self.toleratedSteps)...(present + Self.toleratedSteps) {
      let isNew = lastStep.map { step > $0 } ?? true
      if try self.code(atStep: step) == code, isNew { accepted = step }
    }
    return accepted
  }

  /// The code of a time step: HOTP (RFC 4226, section 5.3) with the step as its counter.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func code(atStep step: Int64) throws(SecretMemoryExhausted) -> Secret {
    let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> Int64(56 - 8 * $0)) }
    var digest = HMACSHA1.code(of: counter.span, key: secret)
    defer { wipe(&digest) }
    let offset = Int(digest[digest.count - 1] & 0xF)
    var number = digest[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    return try Secret(byteCount: digits) { text in
      for position in text.indices.reversed() {
        text[position] = UInt8(ascii: "0") + UInt8(number % 10)
        number /= 10
      }
    }
  }
}
