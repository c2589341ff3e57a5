import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TextCoding

/// The coding of tokens as members of the JSON object that is sealed.
///
/// They are in base64url in it, so that a token of any bytes comes back as it was, and none needs an escape that would
/// be copied on reading.
enum TokenCoding {
  /// A sealed record of this size is no record of ours; the database refuses it as well.
  static let limits = JSONLimits(depth: 16, byteCount: 4 << 20)

  /// The members that are written.
  static let members = [
    "accessToken", "accessTokenKind", "accessTokenExpiresAt", "refreshToken", "refreshTokenExpiresAt", "idToken",
    "scopes", "client", "proofKey",
  ]

  /// Room for the tokens, and 1 KiB for the names and times around them.
  static func capacity(for tokens: TokenSet) -> Int {
    let others = [tokens.refreshToken?.value, tokens.idToken, key(of: tokens)?.der].compactMap { $0 }
    let tokenCount = others.reduce(tokens.accessToken.value.byteCount) { $0 + $1.byteCount }
    let client = tokens.accessToken.client.map { [$0.issuer, $0.id, $0.resource] } ?? []
    let textCount = (tokens.scopes + client).reduce(0) { $0 + $1.utf8.count + 3 }
    // Base64 makes 4 bytes of 3, an escape 6 of 1.
    return 1024 + 2 * tokenCount + 6 * textCount
  }

  /// The key of the session: that of either token.
  private static func key(of tokens: TokenSet) -> ProofKey? { tokens.accessToken.key ?? tokens.refreshToken?.key }

  /// Writes the members.
  static func write(_ tokens: TokenSet, to writer: inout JSONWriter) {
    write("accessToken", tokens.accessToken.value, to: &writer)
    switch tokens.accessToken.kind {
    case .bearer: break
    case .subject: writer.member("accessTokenKind", subject)
    // An earlier version serves no token of a kind that it does not know.
    case .proven: writer.member("accessTokenKind", proven)
    }
    writer.member(ifPresent: "accessTokenExpiresAt", tokens.accessTokenExpiresAt?.stored)
    if let refreshToken = tokens.refreshToken { write("refreshToken", refreshToken.value, to: &writer) }
    writer.member(ifPresent: "refreshTokenExpiresAt", tokens.refreshTokenExpiresAt?.stored)
    if let idToken = tokens.idToken { write("idToken", idToken, to: &writer) }
    writer.member("scopes", tokens.scopes)
    if let key = key(of: tokens) { write("proofKey", key.der, to: &writer) }
    guard let client = tokens.accessToken.client else { return }
    writer.key("client")
    writer.object { writer in
      writer.member("issuer", client.issuer)
      writer.member("id", client.id)
      writer.member("resource", client.resource)
    }
  }

  private static func client(_ node: JSONNode) throws(JSONMismatch) -> TokenClient {
    TokenClient(
      issuer: try node.required("issuer").string(), id: try node.required("id").string(),
      resource: try node.required("resource").string())
  }

  /// Reads the members.
  ///
  /// - Parameters:
  ///   - root: the object.
  ///   - sealed: what the object was opened from, where the tokens are to rest in it.
  /// - Returns: the tokens.
  /// - Throws: `JSONMismatch`, `SealingError.malformed`, `.secretMemoryExhausted`.
  static func tokens(of root: JSONNode, _ sealed: SealedContents? = nil) throws -> TokenSet {
    let refreshToken = try root["refreshToken"].map { node in try token(node, sealed) }
    var tokens = TokenSet(
      accessToken: try token(root.required("accessToken"), sealed),
      accessTokenExpiresAt: try root.optional("accessTokenExpiresAt", time), refreshToken: refreshToken,
      refreshTokenExpiresAt: try root.optional("refreshTokenExpiresAt", time),
      scopes: try [String](from: root.required("scopes")),
      idToken: try root["idToken"].map { node in try token(node, sealed) })
    // One that is not shown by itself is never served as a bearer token, in whatever words that is written.
    if let kind = root["accessTokenKind"], (try? kind.string()) != proven {
      tokens.accessToken = BoundToken(tokens.accessToken.value, .subject)
    }
    if let key = try root["proofKey"].map({ node in ProofKey(der: try token(node, sealed)) }) {
      tokens.refreshToken = tokens.refreshToken?.bound(to: key)
      // A session that has just got its key may still have an access token from before.
      if root["accessTokenKind"] != nil { tokens.accessToken = tokens.accessToken.bound(to: key) }
    }
    guard let client = try root.optional("client", client) else { return tokens }
    return tokens.issued(to: client)
  }

  private static let subject = "subject"
  private static let proven = "dpop"

  /// A time, as a number of milliseconds.
  ///
  /// - Throws: `JSONMismatch`.
  static func time(_ node: JSONNode) throws(JSONMismatch) -> Timestamp {
    Timestamp(milliseconds: try node.integer())
  }

  /// A duration, as a number of milliseconds.
  ///
  /// - Throws: `JSONMismatch`.
  static func duration(_ node: JSONNode) throws(JSONMismatch) -> Duration { .milliseconds(try node.integer()) }

  private static func write(_ name: String, _ token: Secret, to writer: inout JSONWriter) {
    var text = token.withBytes { Base64.encode($0, as: .url) }
    writer.key(name)
    writer.string(utf8: text.span)
    wipe(&text)
  }

  private static func token(_ node: JSONNode, _ sealed: SealedContents?) throws -> Secret {
    if node.kind == .string, let token = sealed?.token(encodedAs: node.text.dropFirst().dropLast()) { return token }
    return try node.withStringBytes { text in
      Result { () throws(SealingError) -> Secret in try Secret.decodeBase64URL(text) }
    }.get()
  }
}

extension Timestamp {
  /// Milliseconds, as sealed records hold them.
  var stored: Int { Int(milliseconds) }
}
