import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import SecretMemory

/// The challenge of a reply.
extension ReplyReader {
  /// The defaults where a backend gives no value: those of the embedded provider.
  private enum Standard {
    static let length = 6
    static let lifetime = Duration.seconds(300)
    static let cooldown = Duration.seconds(30)
    static let attempts = 5
  }

  /// The plausible values: a code has 1 to 32 characters and lives for a day at most, no user waits longer than an hour
  /// for another message, and no user may guess more than a hundred times.
  private enum Believable {
    static let length = 1...32
    static let seconds = 1...86_400
    static let cooldown = Duration.seconds(3600)
    static let attempts = 0...100
  }

  /// The longest handle: as long as a backend's signed one can be.
  private static let longestFlow = 4096

  /// Whether the reply asks for a one-time code.
  var asksForCode: Bool { flag(.requires2FA) == true || (!mentionsAccessToken && value(.otpFlowId) != nil) }

  /// The challenge that the reply describes.
  ///
  /// - Parameter allowsBackupCodes: whether the backend has an endpoint for backup codes.
  /// - Returns: nil where it has no usable handle.
  /// - Throws: `SecretMemoryExhausted` where there is no room for the handle.
  func challenge(allowsBackupCodes: Bool) throws(SecretMemoryExhausted) -> ProviderChallenge? {
    guard let flow = try flow() else { return nil }
    let sentAt = moments.sentAt
    let challenge = ProviderChallenge(
      flow: flow, method: .sms, maskedDestination: "", otpLength: Standard.length,
      expiresAt: sentAt + Standard.lifetime, nextResendAt: sentAt + Standard.cooldown,
      attemptsRemaining: Standard.attempts, backupCodesAllowed: allowsBackupCodes)
    return try renewing(challenge)
  }

  /// The handle of the login, where the reply has one.
  private func flow() throws(SecretMemoryExhausted) -> Secret? {
    guard let node = value(.otpFlowId) else { return nil }
    return try Self.identifier(node, longest: Self.longestFlow)
  }

  /// A challenge with everything that the reply says of another code that was sent.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for its handle.
  func renewing(_ former: ProviderChallenge) throws(SecretMemoryExhausted) -> ProviderChallenge {
    var challenge = former
    let sentAt = moments.sentAt
    if let flow = try flow() { challenge.flow = flow }
    if let destination = value(.maskedDestination).flatMap({ try? $0.string() }) {
      challenge.maskedDestination = MaskedDestination(destination).text
    }
    challenge.method = method(challenge)
    challenge.otpLength = count(.otpLength, in: Believable.length) ?? challenge.otpLength
    challenge.attemptsRemaining = count(.attemptsRemaining, in: Believable.attempts) ?? challenge.attemptsRemaining
    challenge.backupCodesAllowed = challenge.backupCodesAllowed && flag(.backupCodesAllowed) != false
    if let seconds = count(.otpExpiresIn, in: Believable.seconds) { challenge.expiresAt = sentAt + .seconds(seconds) }
    if let next = moment(.nextResendAt), next - sentAt <= Believable.cooldown { challenge.nextResendAt = next }
    return challenge
  }

  /// The challenge after a code was sent again: its lifetime and cooldown begin again.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for its handle.
  func restarting(_ former: ProviderChallenge) throws(SecretMemoryExhausted) -> ProviderChallenge {
    var challenge = former
    challenge.expiresAt = max(former.expiresAt, moments.sentAt + Standard.lifetime)
    challenge.nextResendAt = moments.sentAt + Standard.cooldown
    return try renewing(challenge)
  }

  /// The way in which the code travels: as the reply says, else as the destination looks.
  private func method(_ challenge: ProviderChallenge) -> OTPChallenge.Method {
    if let said = value(.otpMethod).flatMap({ try? $0.string() }),
      let method = OTPChallenge.Method(rawValue: said.lowercased())
    {
      return method
    }
    return challenge.maskedDestination.contains("@") ? .email : challenge.method
  }
}
