import BrokerProtocol
import StateDirectory

/// Tells a person which code a login wants.
enum ChallengeNotice {
  /// Says it on standard error; of a code of the embedded provider also how it is shown.
  static func tell(_ challenge: OTPChallenge, isEmbedded: Bool, _ context: Context) {
    let isShown = isEmbedded && challenge.method != .totp
    context.tell(Message(text(challenge, isEmbedded: isEmbedded), next: isShown ? OutboxNotice.command : nil))
  }

  /// The destination of the code, its expiry and the time of the next resend, without a full stop; an authenticator's
  /// code is not sent.
  static func text(
    _ challenge: OTPChallenge, isEmbedded: Bool = false, now: Timestamp = LocalTime.now
  ) -> String {
    let code = "\(challenge.otpLength)-digit code"
    let carrier: String
    switch challenge.method {
    case .totp: return "enter the \(code) of your authenticator"
    case .sms: carrier = "SMS"
    case .email: carrier = "e-mail"
    }
    // Some providers do not say where they have sent it.
    let destination = PlainText.line(challenge.maskedDestination.utf8)
    let place = destination.isEmpty ? "" : " to \(destination)"
    let whereabouts =
      isEmbedded
      ? "a \(code) lies in the outbox, as an \(carrier)\(place), unless local.delivery sends it"
      : "sent a \(code)\(place) by \(carrier)"
    let expiry = "it expires \(LocalTime.relative(challenge.expiresAt, now: now))"
    return "\(whereabouts); \(expiry)\(cooldown(challenge, now))"
  }

  /// When another code may be sent; empty where it may be at once, or not before this one has expired.
  private static func cooldown(_ challenge: OTPChallenge, _ now: Timestamp) -> String {
    guard challenge.nextResendAt > now, challenge.nextResendAt < challenge.expiresAt else { return "" }
    return ", and another one can be sent \(LocalTime.relative(challenge.nextResendAt, now: now))"
  }
}
