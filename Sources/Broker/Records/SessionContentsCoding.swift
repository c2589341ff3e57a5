package import BrokerCore
import BrokerProtocol
import JSON
import Sealing
package import SecretMemory

/// The coding of a record's contents before they are sealed: one JSON object.
///
/// Tokens are in it as ``TokenCoding`` writes them. Unknown members of a living session were written by a newer
/// version: they are carried along, and written back as they were.
package enum SessionContentsCoding {
  /// The object; the caller wipes it.
  package static func encode(_ contents: SessionRecord.Contents) -> [UInt8] {
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
      case .reauthenticationRequired(let time):
        // An earlier version reads this as a session that was refused, which it was.
        writer.member("state", "ended")
        writer.member("reason", SessionExpiredEvent.Reason.refreshRejected.rawValue)
        writer.member("at", time.stored)
        writer.member("reauthenticationRequired", true)
      case .signedOut(let time):
        writer.member("state", "signedOut")
        writer.member("at", time.stored)
      }
    }
    return writer.bytes
  }

  /// Reads contents; their tokens rest in what they were opened from.
  ///
  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written, `SealingError.malformed`,
  ///   `.secretMemoryExhausted`.
  package static func decode(_ plaintext: Secret, _ sealed: SealedContents? = nil) throws -> SessionRecord.Contents {
    var bytes = plaintext.withBytes { Array(copying: $0) }
    defer { wipe(&bytes) }
    // The document shares the buffer, and is gone before it is wiped.
    return try contents(of: bytes, sealed)
  }

  private static func capacity(for contents: SessionRecord.Contents) -> Int {
    guard case .living(let session) = contents else { return 256 }
    let user = session.user
    let demanded = session.stepUp.map { $0.scopes + $0.acrValues } ?? []
    let texts = [user?.id, user?.email, user?.name, user?.twoFactor].compactMap { $0 } + demanded
    let fixed =
      (user?.phoneNumberMasked?.utf8.count ?? 0) + (user?.claims?.text.count ?? 0)
      + (session.clock?.boot?.utf8.count ?? 0)
    let textCount = texts.reduce(fixed) { $0 + $1.utf8.count + 3 }
    // An escape makes 6 bytes of 1; the members without a string have room beside the tokens.
    return TokenCoding.capacity(for: session.tokens) + 6 * textCount + (session.unknownMembers?.byteCount ?? 0)
  }

  private static func write(_ session: LivingSession, to writer: inout JSONWriter) {
    writer.member("state", "living")
    TokenCoding.write(session.tokens, to: &writer)
    writer.member(ifPresent: "user", session.user)
    writer.member("authTime", session.authTime.stored)
    writer.member("issuedAt", session.issuedAt.stored)
    writer.member(ifPresent: "lastRefreshAt", session.lastRefreshAt?.stored)
    writer.member("lastValidatedAt", session.lastValidatedAt.stored)
    writer.member(ifPresent: "rotatesRefreshToken", session.rotatesRefreshToken)
    if session.unrotatedReplies > 0 || session.rotatesRefreshToken == false {
      writer.member("unrotatedReplies", session.unrotatedReplies)
    }
    writer.member(ifPresent: "revocation", session.revocation?.rawValue)
    writer.member(ifPresent: "lastUsedAt", session.lastUsedAt?.stored)
    writer.member(ifPresent: "roughlyUsedAt", session.roughlyUsedAt?.stored)
    writer.member(ifPresent: "lastUsedUptime", session.lastUsedUptime.map { Int($0.milliseconds) })
    writer.member(ifPresent: "refreshTokenIssuedAt", session.refreshTokenIssuedAt?.stored)
    if session.isEndTold { writer.member("endTold", true) }
    if let clock = session.clock {
      writer.member(ifPresent: "boot", clock.boot)
      writer.member("bootedAt", clock.bootedAt.stored)
      writer.member(ifPresent: "providerAhead", clock.providerAhead.map { Int($0.milliseconds) })
    }
    if let stepUp = session.stepUp {
      writer.key("stepUp")
      writer.object { writer in
        writer.member("scopes", stepUp.scopes)
        writer.member("acrValues", stepUp.acrValues)
        writer.member(ifPresent: "maxAge", stepUp.maxAge)
        writer.member("wantsUser", stepUp.wantsUser)
      }
    }
    session.unknownMembers?.withBytes { writer.raw($0) }
  }

  private static func stepUp(_ node: JSONNode) throws(JSONMismatch) -> StepUp {
    StepUp(
      scopes: try [String](from: node.required("scopes")), acrValues: try [String](from: node.required("acrValues")),
      maxAge: try node.optional("maxAge", Int.init(from:)), wantsUser: try node.required("wantsUser").bool())
  }

  /// The members that this version writes for a living session.
  private static let knownMembers =
    ["state"] + TokenCoding.members + [
      "user", "authTime", "issuedAt", "lastRefreshAt", "lastValidatedAt", "rotatesRefreshToken", "unrotatedReplies",
      "revocation", "lastUsedAt", "roughlyUsedAt", "lastUsedUptime", "refreshTokenIssuedAt", "endTold", "boot",
      "bootedAt", "providerAhead", "stepUp",
    ]

  /// The other members with the commas between them; nil where there are none.
  private static func unknownMembers(of root: JSONNode) throws -> Secret? {
    // Most records have none, and then no name is copied.
    guard !root.hasOnlyMembers(named: knownMembers) else { return nil }
    let members = try root.members().filter { name, _ in !knownMembers.contains(name) }
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

  private static func contents(of bytes: [UInt8], _ sealed: SealedContents?) throws -> SessionRecord.Contents {
    let root = try JSONDocument(parsing: bytes, limits: TokenCoding.limits).root
    let state = try root.required("state")
    switch try state.string() {
    case "living": return .living(try session(of: root, sealed))
    case "ended":
      let reason = try root.required("reason")
      guard let known = SessionExpiredEvent.Reason(rawValue: try reason.string()) else {
        throw reason.mismatch("a known reason")
      }
      let at = try TokenCoding.time(root.required("at"))
      let wantsUser = try root["reauthenticationRequired"].map { node throws(JSONMismatch) in try node.bool() }
      return wantsUser == true ? .reauthenticationRequired(at: at) : .ended(known, at: at)
    case "signedOut": return .signedOut(at: try TokenCoding.time(root.required("at")))
    default: throw state.mismatch("living, ended or signedOut")
    }
  }

  private static func session(of root: JSONNode, _ sealed: SealedContents?) throws -> LivingSession {
    var session = LivingSession(
      tokens: try TokenCoding.tokens(of: root, sealed), user: try root.optional("user", User.init(from:)),
      authTime: try TokenCoding.time(root.required("authTime")),
      issuedAt: try TokenCoding.time(root.required("issuedAt")),
      lastRefreshAt: try root.optional("lastRefreshAt", TokenCoding.time),
      lastValidatedAt: try TokenCoding.time(root.required("lastValidatedAt")))
    session.rotatesRefreshToken = try root["rotatesRefreshToken"].map { node throws(JSONMismatch) in try node.bool() }
    if let count = try root.optional("unrotatedReplies", Int.init(from:)) {
      session.unrotatedReplies = count
    } else if session.rotatesRefreshToken == false {
      // An earlier version has learnt that from a single reply.
      session.rotatesRefreshToken = nil
      session.unrotatedReplies = 1
    }
    session.revocation = try root.optional("revocation", String.init(from:)).flatMap(RevocationHabit.init(rawValue:))
    session.lastUsedAt = try root.optional("lastUsedAt", TokenCoding.time)
    session.roughlyUsedAt = try root.optional("roughlyUsedAt", TokenCoding.time)
    session.lastUsedUptime = try root.optional("lastUsedUptime", TokenCoding.duration)
    session.refreshTokenIssuedAt = try root.optional("refreshTokenIssuedAt", TokenCoding.time)
    session.isEndTold = try root.optional("endTold", Bool.init(from:)) ?? false
    session.clock = try clock(of: root)
    session.stepUp = try root.optional("stepUp", stepUp)
    session.unknownMembers = try unknownMembers(of: root)
    return session.resting()
  }

  private static func clock(of root: JSONNode) throws -> IssueClock? {
    guard let bootedAt = try root.optional("bootedAt", TokenCoding.time) else { return nil }
    return IssueClock(
      boot: try root["boot"].map { node throws(JSONMismatch) in try node.string() }, bootedAt: bootedAt,
      providerAhead: try root.optional("providerAhead", TokenCoding.duration))
  }
}
