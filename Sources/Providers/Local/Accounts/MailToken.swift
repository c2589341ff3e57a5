import BrokerProtocol

/// A token that was sent by e-mail: a caller that has it reads the mail of that address.
struct MailToken {
  /// The purpose of a token; the names are part of the database's format.
  enum Purpose: String {
    /// It stands in for a forgotten password.
    case reset
    /// It shows that an address is its owner's.
    case verify
    /// It makes the address that it was sent to the account's.
    case change

    /// The purpose of its message.
    var message: MessagePurpose {
      switch self {
      case .reset: .reset
      case .verify: .verify
      case .change: .change
      }
    }

    /// How long a token is good for: long enough to find the mail, and for a verification to come back to it a day later.
    var lifetime: Duration {
      switch self {
      case .reset: .seconds(1800)
      case .verify, .change: .seconds(86_400)
      }
    }
  }

  /// The account.
  var account: String
  /// The purpose.
  var purpose: Purpose
  /// The address that it was sent to: it says nothing of another one.
  var email: String
  /// When it expires.
  var expiresAt: Timestamp
}
