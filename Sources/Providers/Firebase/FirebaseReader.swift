import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import SecretMemory

/// Finds things in the object of one reply; whatever is in it, reading it gives a value or nothing.
struct FirebaseReader {
  /// The reply's object.
  let root: JSONNode
  /// When it came.
  let moments: ReplyMoments

  /// The longest name of an account (Identity Toolkit: 128 characters), with room to spare.
  private static let longestUserID = 256

  private static let refreshTokens = ["refreshToken", "refresh_token"]

  /// Whether there is anything that may be meant as a refresh token, usable or not.
  private var hasRefreshToken: Bool { first(Self.refreshTokens) != nil }

  /// The tokens; the services spell their names differently (`idToken` at a login, `id_token` at a refresh).
  ///
  /// The ID token is what other services are called with, so it is the access token as well.
  ///
  /// - Returns: nil for a reply without usable tokens; a refresh token that is there must be one.
  /// - Throws: `SecretMemoryExhausted` where there is no room for them: the reply is as good as before.
  func tokens() throws(SecretMemoryExhausted) -> TokenSet? {
    guard let idToken = try token(["idToken", "id_token"]), hasBearerType else { return nil }
    let refreshToken = try token(Self.refreshTokens)
    guard refreshToken != nil || !hasRefreshToken else { return nil }
    // Where nothing is said (after a second factor), the ID token itself says when it ends.
    let end = TokenLifetime.accessTokenExpiry(of: idToken, expiresIn: said(["expiresIn", "expires_in"]), moments)
    return TokenSet(
      accessToken: idToken, accessTokenExpiresAt: end ?? moments.sentAt + TokenLifetime.standard,
      refreshToken: refreshToken, idToken: idToken, clockSkew: moments.clockSkew)
  }

  /// The account that a refresh is of.
  func refreshedUserID() -> String? { FirebaseReader.user(root, id: "user_id")?.id }

  /// The account that a login is of.
  func signedInUser() -> User? { FirebaseReader.user(root, id: "localId") }

  /// The only account that a look-up finds.
  func foundUser() -> User? {
    guard let accounts = try? root["users"]?.elements(), let account = accounts.first else { return nil }
    return FirebaseReader.user(account, id: "localId")
  }

  /// The address of the account that a look-up finds.
  func foundEmail() -> String? {
    guard let accounts = try? root["users"]?.elements(), let account = accounts.first else { return nil }
    return account["email"].flatMap { try? $0.string() }
  }

  /// The credential of a login that waits for a second factor, and the factors.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func secondFactors() throws(SecretMemoryExhausted) -> (credential: Secret, factors: [SecondFactor])? {
    guard let credential = try token(["mfaPendingCredential"]) else { return nil }
    let nodes = (try? root["mfaInfo"]?.elements()) ?? []
    return (credential, nodes.prefix(SecondFactor.most).compactMap { SecondFactor($0) })
  }

  private static func user(_ node: JSONNode, id: String) -> User? {
    guard let id = node[id].flatMap({ try? $0.string() }), !id.isEmpty, id.utf8.count <= longestUserID,
      SanitizedText(id).isUnchanged
    else { return nil }
    let phone = text(node, "phoneNumber").map { MaskedDestination($0).text }
    return User(
      id: id, email: text(node, "email"), emailVerified: node["emailVerified"].flatMap { try? $0.bool() },
      name: text(node, "displayName"), phoneNumberMasked: phone.flatMap { $0.isEmpty ? nil : $0 },
      claims: customClaims(node))
  }

  /// The custom claims: an object as a text in the reply.
  private static func customClaims(_ node: JSONNode) -> RawJSON? {
    guard let text = try? node["customAttributes"]?.string(),
      let document = try? JSONDocument(parsing: Array(text.utf8))
    else { return nil }
    return UserClaims.claims(of: document.root)
  }

  private static func text(_ node: JSONNode, _ name: String) -> String? {
    node[name].flatMap { try? $0.string() }.flatMap { SanitizedText($0).orNil }
  }

  private func first(_ names: [String]) -> JSONNode? {
    names.lazy.compactMap { root[$0] }.first { !$0.isNull }
  }

  /// The first member present; an explicit `null` counts as present.
  private func said(_ names: [String]) -> JSONNode? {
    names.lazy.compactMap { root[$0] }.first
  }

  /// A string that can stand in a header field.
  private func token(_ names: [String]) throws(SecretMemoryExhausted) -> Secret? {
    guard let token = try first(names)?.foundSecret(), token.byteCount > 0 else { return nil }
    let isClean = token.withBytes { bytes in bytes.indices.allSatisfy { (0x21...0x7E).contains(bytes[$0]) } }
    return isClean ? token : nil
  }

  private var hasBearerType: Bool {
    guard let type = first(["token_type", "tokenType"]) else { return true }
    return (try? type.string())?.lowercased() == "bearer"
  }
}
