import BrokerProtocol
import StateDirectory

/// Tells a person which code a login wants.
enum ChallengeNotice {
  /// Says it on standard error, before the question.
  static func tell(_ challenge: OTPChallenge) { Output.message(text(challenge)) }

  /// Where the code comes from and how long it is good, without a full stop; an authenticator's code is not sent.
  static func text(_ challenge: OTPChallenge) -> String {
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
    return "sent a \(code)\(place) by \(carrier); it expires \(LocalTime.relative(challenge.expiresAt))"
  }
}
