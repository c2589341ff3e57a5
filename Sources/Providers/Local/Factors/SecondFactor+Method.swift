import BrokerProtocol

extension SecondFactor {
  /// The way in which its code reaches the user; nil where none is asked for.
  var method: OTPChallenge.Method? {
    switch self {
    case .off: nil
    case .sms: .sms
    case .email: .email
    case .totp: .totp
    }
  }
}
