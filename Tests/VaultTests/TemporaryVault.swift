import BrokerCore
import BrokerProtocol
import LinuxSystem
import SQLite
import Sealing
import SecretMemory
import TestSupport
import Vault

/// A vault and its key file in a directory of their own.
final class TemporaryVault {
  let scratch = Scratch()
  var directory: String { scratch.path }
  var path: String { scratch.file("vault.sqlite") }
  var keyPath: String { scratch.file("vault.key") }
  var files: [String] { scratch.names }

  init() throws { try Sealing.initialize() }

  func bytes(of name: String) throws -> [UInt8] { try scratch.bytes(of: name) }

  func write(_ bytes: [UInt8], to name: String) throws { try scratch.write(bytes, to: name) }

  func key() throws -> SealingKey { try KeyFile(path: keyPath).key(forVaultAt: path) }

  func open() async throws -> Vault { try await Vault.open(path: path, key: key()).vault }

  /// Runs statements on the closed vault, as somebody with the file could.
  func tamper(_ statements: StaticString...) throws {
    let connection = try SQLiteConnection(path: path, applicationID: 0x4142_5654)
    for statement in statements { try connection.execute(statement) }
    try connection.close()
  }
}

/// Records to store.
enum Sample {
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
