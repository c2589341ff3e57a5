import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLite
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport

/// A vault and its key file in a directory of their own, the anchor in another one.
final class TemporaryVault: Sendable {
  let scratch = Scratch()
  let elsewhere = Scratch()
  var directory: String { scratch.path }
  var path: String { scratch.file("vault.sqlite") }
  var keyPath: String { scratch.file("vault.key") }
  var anchorPath: String { elsewhere.file("vault.anchor") }
  /// The names of the vault's files, without the room that it keeps for itself.
  var files: [String] { scratch.names.filter { !$0.hasSuffix(".reserve") && !$0.hasSuffix(".ended") } }

  init() throws { try Sealing.initialize() }

  func bytes(of name: String) throws -> [UInt8] { try scratch.bytes(of: name) }

  func write(_ bytes: [UInt8], to name: String) throws { try scratch.write(bytes, to: name) }

  /// The key in the file, which is made first.
  func key() throws(KeySourceError) -> SealingKey {
    let file = KeyFile(path: keyPath)
    if let key = try file.readIfPresent() { return key }
    _ = try file.stageNext()
    try file.promoteNext()
    return try file.read()
  }

  /// The vault before there is a key.
  func locked(
    _ source: KeySourceName = .file, isAnchored: Bool = true, now: @escaping @Sendable () -> Int64 = { 1_000_000_000 },
    reached: @escaping @Sendable (VaultStep) -> Void = { _ in }
  ) async throws -> Vault {
    try await Vault.open(
      path: path, settings: KeySourceSettings(keyFilePath: keyPath), source: source,
      anchorPath: isAnchored ? anchorPath : nil, now: now, reached: reached)
  }

  /// The vault with its key file's key.
  func open(isAnchored: Bool = true, now: @escaping @Sendable () -> Int64 = { 1_000_000_000 }) async throws -> Vault {
    let vault = try await locked(isAnchored: isAnchored, now: now)
    try await vault.unlock(nil)
    return vault
  }

  /// Every file of the vault and its anchor as they are now, in directories of their own.
  func copy() throws -> TemporaryVault {
    let copy = try TemporaryVault()
    for name in scratch.names { try copy.write(bytes(of: name), to: name) }
    for name in elsewhere.names { try copy.elsewhere.write(elsewhere.bytes(of: name), to: name) }
    return copy
  }

  /// Makes the files and the anchor those of a copy.
  func restore(_ copy: TemporaryVault) throws {
    for name in scratch.names { try DirectoryEntry.remove(scratch.file(name)) }
    for name in copy.scratch.names { try write(copy.bytes(of: name), to: name) }
    for name in copy.elsewhere.names { try elsewhere.write(copy.elsewhere.bytes(of: name), to: name) }
  }

  /// Runs statements on the closed vault, as somebody with the file could.
  func tamper(_ statements: StaticString...) throws {
    try withConnection { connection in
      for statement in statements { try connection.execute(statement) }
    }
  }

  /// Lends the closed vault's database, as somebody with the file could have it.
  func withConnection<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
    let connection = try SQLiteConnection(path: path, applicationID: 0x4142_5654)
    let result = try body(connection)
    try connection.close()
    return result
  }
}

extension TemporaryVault {
  /// Puts the sessions of an earlier copy back that are missing here, and all buckets of the manifest if asked to.
  func takeRows(from old: TemporaryVault, withManifest: Bool) throws {
    try attaching(old) { connection in
      try connection.execute("INSERT OR IGNORE INTO session SELECT * FROM old.session")
      if withManifest { try connection.execute("REPLACE INTO manifest SELECT * FROM old.manifest") }
    }
  }

  /// Puts the refresh intents of an earlier copy back that are missing here.
  func takeIntents(from old: TemporaryVault) throws {
    try attaching(old) { try $0.execute("INSERT OR IGNORE INTO refresh_intent SELECT * FROM old.refresh_intent") }
  }

  private func attaching(_ old: TemporaryVault, _ body: (SQLiteConnection) throws -> Void) throws {
    try withConnection { connection in
      do {
        let attach = try connection.prepare("ATTACH ?1 AS old")
        try attach.bind(old.path, at: 1)
        try attach.run()
      }
      try body(connection)
      try connection.execute("DETACH old")
    }
  }
}

/// Records to store.
enum Sample {
  /// Members that this version does not know.
  static let laterMembers = #""later":{"deep":[1,"two\u0001",null]},"flag":true"#
  /// The names of the token `fake` in the vaults that are kept, by the numbers of their schemas.
  static let fixtureTokenIDs = [2: "_St_KQHTE5lxHE7p", 3: "w55bq9hKQjd9KRAc"]

  static func profile(_ name: String) throws -> ProfileName {
    guard let profile = ProfileName(name) else { throw Errno.invalid }
    return profile
  }

  static func living(_ name: String, generation: UInt64 = 1, token: String = "fake") throws -> SessionRecord {
    let tokens = TokenSet(
      accessToken: try Secret(utf8: token + "-access"), accessTokenExpiresAt: Timestamp(milliseconds: 1_900_000),
      refreshToken: try Secret(utf8: token + "-refresh"), refreshTokenExpiresAt: Timestamp(milliseconds: 2_900_000),
      scopes: ["openid", "a\"b\\c"])
    let session = LivingSession(
      tokens: tokens, user: User(id: "u\u{1}1", email: "ann@example.com", emailVerified: true, name: "Ann Ö"),
      authTime: Timestamp(milliseconds: 1), issuedAt: Timestamp(milliseconds: 2),
      lastRefreshAt: Timestamp(milliseconds: 3), lastValidatedAt: Timestamp(milliseconds: 4))
    return SessionRecord(
      profile: try profile(name), binding: ProviderBinding(type: "oidc", issuer: "https://id.example", clientID: "cli"),
      generation: generation, contents: .living(session))
  }

  static func intent(_ name: String, generation: UInt64) throws -> RefreshIntent {
    RefreshIntent(profile: try profile(name), generation: generation, startedAt: Timestamp(milliseconds: 5))
  }

  static func challenge(_ name: String, flow: String = "fake-flow") throws -> OTPChallenge {
    OTPChallenge(
      otpFlowID: "handle-\(flow)", profile: try profile(name), method: .sms, maskedDestination: "+49 *** 42",
      otpLength: 6, expiresAt: Timestamp(milliseconds: 900_000), nextResendAt: Timestamp(milliseconds: 30_000),
      attemptsRemaining: 5, backupCodesAllowed: true)
  }

  static func login(_ name: String, flow: String = "fake-flow") throws -> PendingLoginRecord {
    PendingLoginRecord(
      binding: ProviderBinding(type: "rest", issuer: "https://api.example"),
      login: PendingLogin(challenge: try challenge(name, flow: flow), flow: try Secret(utf8: flow)))
  }

  /// Logins with every member that can rest.
  static func fullLogins(_ name: String) throws -> [PendingLoginRecord] {
    let binding = ProviderBinding(type: "oidc", issuer: "https://id.example", clientID: "cli")
    let flow = try Secret(utf8: "fake-flow\u{1}\"")
    let user = ExpectedUser(id: "u\"1", email: "a@b.example")
    let device = UserAction(
      loginFlowID: "handle", profile: try profile(name), kind: .deviceCode, verificationURI: "https://id.example/\"d",
      verificationURIComplete: "https://id.example/d?c=A-B", userCode: "A-B",
      expiresAt: Timestamp(milliseconds: 900_000), interval: .milliseconds(5500), clientContext: "")
    let browser = UserAction(
      loginFlowID: "handle", profile: try profile(name), kind: .browser,
      verificationURI: "https://id.example/" + String(repeating: "ü", count: 5000),
      expiresAt: Timestamp(milliseconds: 900_000))
    var challenge = try Self.challenge(name)
    challenge.clientContext = String(repeating: "ü\"\n", count: 1000)
    let code = PendingLogin(
      step: .code(challenge), flow: flow, method: .deviceCode, wrongCodes: 4, expectedUser: user)
    return [
      PendingLoginRecord(binding: binding, login: code),
      PendingLoginRecord(
        binding: binding,
        login: PendingLogin(step: .action(device), flow: flow, method: .deviceCode, expectedUser: user)),
      PendingLoginRecord(binding: binding, login: PendingLogin(step: .action(browser), flow: flow, method: .browser)),
    ]
  }

  static func revocation(_ name: String, _ number: UInt64, token: String = "fake-old") throws -> PendingRevocation {
    let tokens = TokenSet(
      accessToken: try Secret(utf8: token + "-access"), accessTokenExpiresAt: Timestamp(milliseconds: 1_900_000),
      refreshToken: try Secret(utf8: token + "-refresh"), refreshTokenExpiresAt: Timestamp(milliseconds: 2_900_000),
      scopes: ["openid", "a\"b\\c"], idToken: try Secret(utf8: token + "-id"))
    return PendingRevocation(
      id: PendingRevocation.ID(profile: try profile(name), number: number),
      binding: ProviderBinding(type: "oidc", issuer: "https://id.example", clientID: "cli"), tokens: tokens,
      everywhere: number.isMultiple(of: 2), startedAt: Timestamp(milliseconds: 6))
  }

  static func event(_ sequence: UInt64, at time: Int64 = 1_000) throws -> BrokerEvent {
    BrokerEvent(
      sequence: sequence, profile: try profile("a"), time: Timestamp(milliseconds: time),
      payload: .login(LoginEvent(userID: "u1", method: "password")))
  }

  static func all() throws -> [SessionRecord] {
    let binding = ProviderBinding(type: "local")
    let bare = LivingSession(
      tokens: TokenSet(
        accessToken: try Secret(copying: ([0, 255, 10, 34] as [UInt8]).span), accessTokenExpiresAt: nil,
        refreshToken: nil),
      user: nil, authTime: Timestamp(milliseconds: 1), issuedAt: Timestamp(milliseconds: 2),
      lastValidatedAt: Timestamp(milliseconds: 3))
    let time = Timestamp(milliseconds: 7)
    return [
      SessionRecord(profile: try profile("bare"), binding: binding, generation: 1, contents: .living(bare)),
      SessionRecord(
        profile: try profile("ended"), binding: binding, generation: 9,
        contents: .ended(.refreshTokenExpired, at: time)),
      try living("living"),
      SessionRecord(profile: try profile("out"), binding: binding, generation: 2, contents: .signedOut(at: time)),
    ]
  }
}

extension SessionRecord {
  /// The session with tokens that it holds.
  var living: LivingSession? {
    guard case .living(let session) = contents else { return nil }
    return session
  }
}
