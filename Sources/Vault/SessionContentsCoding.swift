import BrokerCore
import BrokerProtocol
import JSONRPC
import Sealing
import SecretMemory

/// A record's contents as they are before sealing: one JSON object.
///
/// Tokens are in base64url in it, so that a token of any bytes comes back as it was, and none needs an escape that would
/// be copied on reading. Members of a living session that are not known were written by a newer version: they are carried
/// along, and written back as they were.
enum SessionContentsCoding {
  /// A sealed record of this size is no record of ours; the database refuses it as well.
  private static let limits = JSONLimits(depth: 16, byteCount: 4 << 20)

  /// The object; the caller wipes it.
  static func encode(_ contents: SessionRecord.Contents) -> [UInt8] {
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind.
    var buffer: [UInt8] = []
    buffer.reserveCapacity(capacity(for: contents))
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    writer.object { writer in
      switch contents {
      case .living(let session): write(session, to: &writer)
      case .ended(let reason, let time):
        writer.member("state", "ended")
        writer.member("reason", reason.rawValue)
        writer.member("at", time.stored)
      case .signedOut(let time):
        writer.member("state", "signedOut")
        writer.member("at", time.stored)
      }
    }
    return writer.bytes
  }

  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written, `SealingError.malformed`,
  ///   `.secretMemoryExhausted`.
  static func decode(_ plaintext: Secret) throws -> SessionRecord.Contents {
    var bytes = plaintext.withBytes { plaintext in plaintext.indices.map { plaintext[$0] } }
    defer { wipe(&bytes) }
    // The document shares the buffer, and is gone before it is wiped.
    return try contents(of: bytes)
  }

  private static func capacity(for contents: SessionRecord.Contents) -> Int {
    guard case .living(let session) = contents else { return 256 }
    let texts = session.tokens.scopes + [session.user?.id, session.user?.email, session.user?.name].compactMap { $0 }
    let otherTokens = [session.tokens.refreshToken, session.tokens.idToken].compactMap { $0 }
    let tokenCount = otherTokens.reduce(session.tokens.accessToken.byteCount) { $0 + $1.byteCount }
    let textCount = texts.reduce(session.user?.phoneNumberMasked?.utf8.count ?? 0) { $0 + $1.utf8.count + 3 }
    // Base64 makes 4 bytes of 3, an escape 6 of 1; 1 KiB is more than the names and times have together.
    return 1024 + 2 * tokenCount + 6 * textCount + (session.unknownMembers?.byteCount ?? 0)
  }

  private static func write(_ session: LivingSession, to writer: inout JSONWriter) {
    let tokens = session.tokens
    writer.member("state", "living")
    write("accessToken", tokens.accessToken, to: &writer)
    writer.member(ifPresent: "accessTokenExpiresAt", tokens.accessTokenExpiresAt?.stored)
    if let refreshToken = tokens.refreshToken { write("refreshToken", refreshToken, to: &writer) }
    writer.member(ifPresent: "refreshTokenExpiresAt", tokens.refreshTokenExpiresAt?.stored)
    if let idToken = tokens.idToken { write("idToken", idToken, to: &writer) }
    writer.member("scopes", tokens.scopes)
    writer.member(ifPresent: "user", session.user)
    writer.member("authTime", session.authTime.stored)
    writer.member("issuedAt", session.issuedAt.stored)
    writer.member(ifPresent: "lastRefreshAt", session.lastRefreshAt?.stored)
    writer.member("lastValidatedAt", session.lastValidatedAt.stored)
    writer.member(ifPresent: "rotatesRefreshToken", session.rotatesRefreshToken)
    writer.member(ifPresent: "lastUsedAt", session.lastUsedAt?.stored)
    session.unknownMembers?.withBytes { writer.raw($0) }
  }

  /// The members that this version writes for a living session.
  private static let knownMembers: Set<String> = [
    "state", "accessToken", "accessTokenExpiresAt", "refreshToken", "refreshTokenExpiresAt", "scopes", "user",
    "authTime", "issuedAt", "lastRefreshAt", "lastValidatedAt", "idToken", "rotatesRefreshToken", "lastUsedAt",
  ]

  /// The other members with the commas between them; nil where there are none.
  private static func unknownMembers(of root: JSONNode) throws -> Secret? {
    let members = try root.members().filter { name, _ in !knownMembers.contains(name) }
    guard !members.isEmpty else { return nil }
    var buffer: [UInt8] = []
    // Room for everything at once, as in `encode`.
    buffer.reserveCapacity(members.reduce(0) { $0 + 6 * $1.name.utf8.count + $1.value.text.count + 4 })
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    for (name, value) in members {
      writer.key(name)
      writer.raw(value.text)
    }
    return try Secret(wiping: &writer.bytes)
  }

  private static func write(_ name: String, _ token: Secret, to writer: inout JSONWriter) {
    var text = token.withBytes { Base64URL.encode($0) }
    writer.key(name)
    writer.string(utf8: text.span)
    wipe(&text)
  }

  private static func contents(of bytes: [UInt8]) throws -> SessionRecord.Contents {
    let root = try JSONDocument(parsing: bytes, limits: limits).root
    let state = try root.required("state")
    switch try state.string() {
    case "living": return .living(try session(of: root))
    case "ended":
      let reason = try root.required("reason")
      guard let known = SessionExpiredEvent.Reason(rawValue: try reason.string()) else {
        throw reason.mismatch("a known reason")
      }
      return .ended(known, at: try time(root.required("at")))
    case "signedOut": return .signedOut(at: try time(root.required("at")))
    default: throw state.mismatch("living, ended or signedOut")
    }
  }

  private static func session(of root: JSONNode) throws -> LivingSession {
    let refreshToken = try root["refreshToken"].map { node in try token(node) }
    let tokens = TokenSet(
      accessToken: try token(root.required("accessToken")),
      accessTokenExpiresAt: try root.optional("accessTokenExpiresAt", time), refreshToken: refreshToken,
      refreshTokenExpiresAt: try root.optional("refreshTokenExpiresAt", time),
      scopes: try [String](from: root.required("scopes")),
      idToken: try root["idToken"].map { node in try token(node) })
    var session = LivingSession(
      tokens: tokens, user: try root.optional("user", User.init(from:)), authTime: try time(root.required("authTime")),
      issuedAt: try time(root.required("issuedAt")), lastRefreshAt: try root.optional("lastRefreshAt", time),
      lastValidatedAt: try time(root.required("lastValidatedAt")))
    session.rotatesRefreshToken = try root["rotatesRefreshToken"].map { node throws(JSONMismatch) in try node.bool() }
    session.lastUsedAt = try root.optional("lastUsedAt", time)
    session.unknownMembers = try unknownMembers(of: root)
    return session
  }

  private static func time(_ node: JSONNode) throws(JSONMismatch) -> Timestamp {
    Timestamp(milliseconds: try node.integer())
  }

  private static func token(_ node: JSONNode) throws -> Secret {
    try node.withStringBytes { text in
      Result { () throws(SealingError) -> Secret in try Base64URL.decodeSecret(text) }
    }.get()
  }
}

extension Timestamp {
  /// Milliseconds, as the record holds them.
  fileprivate var stored: Int { Int(milliseconds) }
}
