import BrokerCore
import BrokerProtocol
import SecretMemory

/// A login that waits for the code of an app, as the provider's handle says it: the factor's name, a space, the credential.
struct PendingSecondFactor {
  /// The service's credential for the first factor.
  let credential: Secret
  /// The second factor's name.
  let factor: String

  /// A code of an app has six digits (RFC 6238, section 5.3).
  private static let length = 6
  /// How long such a login is kept: the services do not say how long they do, and a code lives for half a minute.
  private static let lifetime = Duration.seconds(300)
  /// As many wrong codes as anywhere else; the services count for themselves.
  private static let attempts = 5

  /// A login.
  init(credential: Secret, factor: String) {
    self.credential = credential
    self.factor = factor
  }

  /// Reads a handle; nil for what is none.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for the credential: the handle is as good as before.
  init?(_ flow: Secret) throws(SecretMemoryExhausted) {
    var bytes: [UInt8] = flow.withBytes { span in span.indices.map { span[$0] } }
    defer { wipe(&bytes) }
    guard let space = bytes.firstIndex(of: 0x20), space > 0, space + 1 < bytes.count else { return nil }
    var rest = Array(bytes[(space + 1)...])
    self.init(credential: try Secret(wiping: &rest), factor: String(decoding: bytes[..<space], as: UTF8.self))
  }

  /// The challenge that it is.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for its handle.
  func challenge(at now: Timestamp) throws(SecretMemoryExhausted) -> ProviderChallenge {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(factor.utf8.count + 1 + credential.byteCount)
    bytes += factor.utf8
    bytes.append(0x20)
    credential.withBytes { span in
      for index in span.indices { bytes.append(span[index]) }
    }
    let flow = try Secret(wiping: &bytes)
    return ProviderChallenge(
      flow: flow, method: .totp, maskedDestination: "", otpLength: Self.length, expiresAt: now + Self.lifetime,
      nextResendAt: now + Self.lifetime, attemptsRemaining: Self.attempts)
  }
}
