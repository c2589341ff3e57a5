import BrokerProtocol
import JSON
import ProviderKit

/// A second factor of an account, as a login names it.
struct SecondFactor: Equatable {
  /// The way in which the code comes.
  enum Kind: Equatable {
    /// An app of the user's computes it (RFC 6238).
    case totp
    /// It is sent to a telephone; for that the service wants proof that a browser asks (reCAPTCHA).
    case sms
  }

  /// The factor's name.
  let id: String
  /// The way in which the code comes.
  let kind: Kind

  /// More than an account can have (five).
  static let most = 16
  /// The longest name: a UUID has 36 characters.
  private static let longestID = 256

  /// Reads a factor; nil for one of another kind.
  init?(_ node: JSONNode) {
    guard let id = node["mfaEnrollmentId"].flatMap({ try? $0.string() }), !id.isEmpty, id.utf8.count <= Self.longestID,
      id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.id = id
    if node["totpInfo"] != nil {
      kind = .totp
    } else if node["phoneInfo"] != nil {
      kind = .sms
    } else {
      return nil
    }
  }
}
