import BrokerProtocol
import JSON
import ProviderKit

/// Reads the user from an ID token or a userinfo response (OpenID Connect Core, section 5.1).
struct UserReader {
  /// The provider's deviations.
  let quirks: OIDCQuirks

  /// The longest name of an account: the specification's (OpenID Connect Core, section 2).
  private static let longestID = 255

  /// The account; nil where its name at the provider is missing or cannot be shown as it is.
  func user(_ root: JSONNode) -> User? {
    guard let id = root[quirks.userIDMember].flatMap(Self.id) else { return nil }
    let isVerified = root["email_verified"].flatMap { node in
      (try? node.bool()) ?? (try? node.string()).map { $0 == "true" }
    }
    let names = ["name", "preferred_username", "nickname", "login"]
    return User(
      id: id, email: text("email", root), emailVerified: isVerified,
      name: names.lazy.compactMap { text($0, root) }.first,
      phoneNumberMasked: text("phone_number", root).map { MaskedDestination($0).text },
      claims: UserClaims.claims(of: root, besides: [quirks.userIDMember]))
  }

  private func text(_ name: String, _ root: JSONNode) -> String? {
    root[name].flatMap { try? $0.string() }.flatMap { SanitizedText($0).orNil }
  }

  /// The provider's name for the account: it must need no sanitising, since a changed one could be another user's.
  private static func id(_ node: JSONNode) -> String? {
    if node.kind == .integer { return String(decoding: node.text, as: UTF8.self) }
    guard let text = try? node.string(), (1...longestID).contains(text.utf8.count), SanitizedText(text).isUnchanged
    else { return nil }
    return text
  }
}
