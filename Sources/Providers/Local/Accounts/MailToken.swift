import BrokerProtocol

/// What is known of a token that was sent by e-mail: a caller that has it reads the mail of that address.
struct MailToken {
  /// What a token is good for; the names are part of the database's format.
  enum Purpose: String {
    /// It stands in for a forgotten password.
    case reset
    /// It shows that an address is its owner's.
    case verify
    /// It makes the address that it was sent to the account's.
    case change

    /// What its message is for.
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

  /// Whose it is.
  var account: String
  /// What it is good for.
  var purpose: Purpose
  /// The address that it was sent to: it says nothing of another one.
  var email: String
  /// When it expires.
  var expiresAt: Timestamp
}
