import BrokerCore
import BrokerProtocol
import JSON
import SQLite
import Sealing
import SecretMemory
import Synchronization
import TestSupport

@testable import LocalProvider

/// A provider on real files in a directory of its own, with a clock that stands still until it is set forward.
final class ProviderFixture: Sendable {
  final class ManualClock: Sendable {
    private let time = Mutex(Timestamp(milliseconds: 1_800_000_000_000))
    var now: Timestamp { time.withLock { $0 } }
    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
  }

  private let scratch = Scratch()
  var state: String { scratch.path }
  let clock = ManualClock()
  let provider: LocalProvider
  let configuration: LocalProviderConfiguration
  private let hashes: Counted
  /// How many password hashes were computed.
  var hashCount: Int { hashes.count }

  private final class Counted: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }
  /// What the vault would give.
  let held: HeldKey

  /// The provider of a fixture is shut down by `run`.
  init(_ adjust: (inout LocalProviderConfiguration) -> Void = { _ in }, work: PasswordHash.Parameters = .smallest) {
    var configuration = LocalProviderConfiguration()
    adjust(&configuration)
    self.configuration = configuration
    let counted = Counted()
    hashes = counted
    let held = HeldKey()
    self.held = held
    provider = LocalProvider(
      stateDirectory: scratch.path, configuration: configuration, passwordHash: work,
      sealingKey: { held.key }, clock: { [clock] in clock.now }, willHash: { counted.add() })
  }

  static func run(
    _ adjust: (inout LocalProviderConfiguration) -> Void = { _ in }, work: PasswordHash.Parameters = .smallest,
    _ body: (ProviderFixture) async throws -> Void
  ) async throws {
    try Sealing.initialize()
    let fixture = ProviderFixture(adjust, work: work)
    fixture.held.key = try SealingKey.random()
    do { try await body(fixture) } catch {
      await fixture.provider.shutDown()
      throw error
    }
    await fixture.provider.shutDown()
  }

  /// The same files under another provider, as after a restart.
  func successor(availableMemory: Int64? = nil) -> LocalProvider {
    LocalProvider(
      stateDirectory: state, configuration: configuration, passwordHash: .smallest,
      sealingKey: { [held] in held.key }, availableMemory: { availableMemory }, clock: { [clock] in clock.now })
  }

  var directory: String { state + "/local-provider" }
  var outbox: [String] { scratch.names(in: "local-provider/outbox") }

  /// The names below the state directory; none where there is no such directory.
  func names(in subdirectory: String = "") -> [String] { scratch.names(in: subdirectory) }

  /// The permissions of a file below the state directory.
  func mode(_ name: String) -> UInt32? { scratch.mode(name) }

  /// The bytes of a file of the provider.
  func contents(_ name: String) throws -> [UInt8] { try scratch.bytes(of: "local-provider/\(name)") }

  /// Writes a file of the provider as another program might.
  func overwrite(_ name: String, with text: String) throws { try scratch.write(text, to: "local-provider/\(name)") }

  func message() throws -> JSONNode {
    try JSONDocument(parsing: contents("outbox/\(outbox.last ?? "")")).root
  }

  /// What the messages in the outbox are about, in the order of writing.
  var subjects: [String] {
    get throws {
      try outbox.map { try JSONDocument(parsing: contents("outbox/\($0)")).root.required("subject").string() }
    }
  }

  /// The last message with a token.
  func tokenMessage() throws -> JSONNode {
    let messages = try outbox.map { try JSONDocument(parsing: contents("outbox/\($0)")).root }
    guard let message = messages.last(where: { $0["token"] != nil }) else { throw UnexpectedOutcome() }
    return message
  }

  func sentToken() throws -> Secret { try Secret(utf8: try tokenMessage().required("token").string()) }

  /// The code that was sent last.
  func sentCode() throws -> Secret {
    let messages = try outbox.map { try JSONDocument(parsing: contents("outbox/\($0)")).root }
    guard let message = messages.last(where: { $0["code"] != nil }) else { throw UnexpectedOutcome() }
    return try Secret(utf8: try message.required("code").string())
  }

  /// The code of the last message about something; nil where there is none.
  func code(of subject: String) throws -> Secret? {
    let messages = try outbox.map { try JSONDocument(parsing: contents("outbox/\($0)")).root }
    let message = try messages.last { try $0.required("subject").string() == subject }
    return try message.map { try Secret(utf8: try $0.required("code").string()) }
  }

  /// A code of the right form that was not sent.
  func wrongCode() throws -> Secret {
    let sent = try message().required("code").string()
    return try Secret(utf8: sent == "000000" ? "000001" : "000000")
  }

  static let password = "not a real password"

  func credentials(_ email: String = "a@example.com", password: String = ProviderFixture.password) throws -> Credentials
  {
    Credentials(email: email, password: try Secret(utf8: password))
  }

  /// A session of an account without a phone number.
  func session(_ email: String = "a@example.com") async throws -> ProviderSession {
    let registration = Registration(email: email, password: try Secret(utf8: Self.password), name: "Ada")
    return try await provider.register(registration).session
  }

  /// The challenge of a new account with a phone number.
  func challenge(
    _ email: String = "b@example.com", phone: String = "+49 (151) 123-4567"
  ) async throws -> ProviderChallenge {
    let registration = Registration(email: email, password: try Secret(utf8: Self.password), phoneNumber: phone)
    return try await provider.register(registration).challenge
  }

  /// A session of a new account whose phone number is proven, so that its logins ask for a code.
  func proven(
    _ email: String = "b@example.com", phone: String = "+49 (151) 123-4567"
  ) async throws -> ProviderSession {
    let challenge = try await challenge(email, phone: phone)
    return try await provider.verifyOTP(flow: challenge.flow, code: try sentCode())
  }

  /// Changes the database, for which the provider must let go of it.
  func change(_ sql: StaticString) async throws {
    await provider.shutDown()
    let connection = try SQLiteConnection(path: directory + "/db.sqlite", applicationID: 0x4142_4C50)
    try connection.execute(sql)
    try connection.close()
  }

  /// Reads a number in the database, for which the provider must let go of it.
  func number(_ sql: StaticString) async throws -> Int64 {
    await provider.shutDown()
    let connection = try SQLiteConnection(path: directory + "/db.sqlite", applicationID: 0x4142_4C50)
    let number: Int64
    do {
      let query = try connection.prepare(sql)
      number = try query.step() ? try query.int64(at: 0) : -1
    }
    try connection.close()
    return number
  }
}

extension LocalProvider {
  /// The names of what the audit tells, in its order.
  func auditEvents() throws(ProviderFailure) -> [String] {
    try perform { database, _ in try database.audit.records(after: 0).map(\.event) }
  }

  /// Whether the audit is as it was written.
  func isAuditIntact() async throws -> Bool { try await verifyAudit() }

  /// What the access tokens are verified with that are issued now.
  func publicKey() throws(ProviderFailure) -> Ed25519PublicKey {
    try perform { database, _ in try database.signingKeys.current().publicKey }
  }
}

/// The key that a vault would give; nil while it is locked.
final class HeldKey: Sendable {
  private let held = Mutex<SealingKey?>(nil)
  var key: SealingKey? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}

struct UnexpectedOutcome: Error {}

extension LoginOutcome {
  var session: ProviderSession {
    get throws {
      guard case .authenticated(let session) = self else { throw UnexpectedOutcome() }
      return session
    }
  }

  var challenge: ProviderChallenge {
    get throws {
      guard case .otpRequired(let challenge) = self else { throw UnexpectedOutcome() }
      return challenge
    }
  }
}

/// The failure of a call; nil where it succeeded.
func failure<R>(_ body: () async throws(ProviderFailure) -> R) async -> ProviderFailure? {
  do throws(ProviderFailure) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}

extension PasswordHash.Parameters {
  /// The smallest work that Argon2id allows.
  static let smallest = PasswordHash.Parameters(passes: 1, memoryKiB: 8)
}
