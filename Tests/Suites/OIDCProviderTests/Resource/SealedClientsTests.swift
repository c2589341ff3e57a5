import BrokerCore
import BrokerProtocol
import LinuxSystem
import ProviderKit
import Sealing
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// The registered clients in their file: what comes back of them, and what does not.
@Suite(.standardTimeLimit) struct SealedClientsTests {
  private static let name = "clients"
  private static let password = "made-up-client-password"

  /// A file in a directory of its own, and the key that the vault gives; nil while it is locked.
  private final class Place: Sendable {
    let scratch = Scratch()
    let key: Mutex<SealingKey?>

    init() throws { key = Mutex(try SealedClientsTests.key(7)) }

    func with<R>(_ body: (SealedClients) async throws -> R) async throws -> R {
      let store = SealedClients(stateDirectory: scratch.path) { self.key.withLock { $0 } }
      let result: Result<R, any Error>
      do { result = .success(try await body(store)) } catch { result = .failure(error) }
      await store.shutDown()
      return try result.get()
    }

    var clients: [RegisteredClient] {
      get async throws { try await with { try await $0.clients() } }
    }

    func keep(_ clients: [RegisteredClient]) async throws { try await with { try await $0.keep(clients) } }
  }

  private static func key(_ byte: UInt8) throws -> SealingKey {
    try SealingKey(copying: [UInt8](repeating: byte, count: 32).span)
  }

  private static func client(_ id: String, at issuer: String = "https://as.example/t") throws -> RegisteredClient {
    RegisteredClient(
      issuer: issuer, id: id, authentication: .basic, secret: try secret(password),
      secretExpiresAt: Timestamp(milliseconds: 1_900_000_000_001), redirects: ["http://127.0.0.1:61000/callback"],
      registeredAt: Timestamp(milliseconds: 1_700_000_000_002))
  }

  private static let plain = RegisteredClient(
    issuer: "https://as.example", id: "a \"client\" \\ \u{1}\u{e4}", authentication: .none, secret: nil,
    secretExpiresAt: nil, redirects: [], registeredAt: Timestamp(milliseconds: 3))

  @Test func `without a file there is none, and none is made by looking`() async throws {
    let place = try Place()
    #expect(try await place.clients.isEmpty && place.scratch.names.isEmpty)
  }

  @Test func `clients come back as they were, in order, and nothing of them can be read in the file`() async throws {
    let place = try Place()
    var forgotten = try Self.client("old")
    forgotten.isForgotten = true
    let all = [forgotten, try Self.client("new"), Self.plain]
    try await place.keep(all)
    #expect(try await place.clients == all)
    #expect(place.scratch.names == [Self.name] && place.scratch.mode(Self.name) == 0o600)
    let text = String(decoding: try place.scratch.bytes(of: Self.name), as: UTF8.self)
    for word in [Self.password, "as.example", "new"] { #expect(!text.contains(word)) }
  }

  @Test func `what is kept takes the place of all that was there`() async throws {
    let place = try Place()
    try await place.keep([try Self.client("old"), try Self.client("older")])
    try await place.keep([Self.plain])
    #expect(try await place.clients == [Self.plain])
    try await place.keep([])
    #expect(try await place.clients.isEmpty)
  }

  @Test func `a client is of its issuer alone, and the one that was registered last is used`() async throws {
    let place = try Place()
    try await place.keep([
      try Self.client("other", at: "https://as.example"), try Self.client("old"), try Self.client("new"),
    ])
    try await place.with { store in
      let clients = RegisteredClients(store)
      let now = Timestamp(milliseconds: 1_800_000_000_000)
      func used(_ issuer: String) async throws -> String? { try await clients.client(at: issuer, now: now)?.id }
      let found = (try await used("https://as.example/t"), try await used("https://as.example"))
      #expect(found.0 == "new" && found.1 == "other")
      #expect(try await used("https://as.example/") == nil)
      #expect(try await clients.client("old", at: "https://as.example") == nil)
      // A session keeps the client that it is of.
      #expect(try await clients.client("old", at: "https://as.example/t")?.id == "old")
      let late = Timestamp(milliseconds: 1_900_000_000_002)
      #expect(try await clients.client(at: "https://as.example/t", now: late) == nil, "its password has expired")
    }
  }

  @Test func `a damaged file has none, and the next registration is kept in its place`() async throws {
    let place = try Place()
    try await place.keep([try Self.client("old")])
    let whole = try place.scratch.bytes(of: Self.name)
    var damages: [[UInt8]] = [
      [], [0], Array(whole.dropLast()), whole + [0], [UInt8](repeating: 0xFF, count: whole.count),
    ]
    for index in stride(from: 0, to: whole.count, by: 7) {
      var changed = whole
      changed[index] ^= 1
      damages.append(changed)
    }
    let all = damages
    try await place.with { store in
      for damage in all {
        try place.scratch.write(damage, to: Self.name)
        #expect(try await store.clients().isEmpty)
      }
      try await store.keep([Self.plain])
      #expect(try await store.clients() == [Self.plain])
    }
  }

  @Test func `a file of another vault has none, and opens again with its own key`() async throws {
    let place = try Place()
    try await place.keep([Self.plain])
    let own = place.key.withLock { $0 }
    let other = try Self.key(8)
    place.key.withLock { $0 = other }
    #expect(try await place.clients.isEmpty)
    place.key.withLock { $0 = own }
    #expect(try await place.clients == [Self.plain])
  }

  @Test func `a sealed file of another kind, and a client in a form of later, are none`() async throws {
    let place = try Place()
    let key = try #require(place.key.withLock { $0 })
    func seal(_ text: String, as kind: String) throws {
      var context = AssociatedData()
      context.append(kind)
      try place.scratch.write(SealedBox.seal(Array(text.utf8).span, context: context, key: key), to: Self.name)
    }
    let known = #"{"issuer":"https://a","id":"b","authentication":"none","registeredAt":1}"#
    try seal(#"{"clients":[\#(known)]}"#, as: "sessions")
    #expect(try await place.clients.isEmpty)
    let later = known.replacing(#""none""#, with: #""private_key_jwt""#)
    try seal(#"{"clients":[\#(later),\#(known),{},7],"more":true}"#, as: "registered-clients")
    #expect(try await place.clients.map(\.id) == ["b"])
    for text in ["", "[]", "{}", #"{"clients":1}"#] {
      try seal(text, as: "registered-clients")
      #expect(try await place.clients.isEmpty, "\(text)")
    }
  }

  @Test func `while the vault is locked they are neither read nor written, which passes`() async throws {
    let place = try Place()
    try await place.keep([Self.plain])
    let before = try place.scratch.bytes(of: Self.name)
    let key = place.key.withLock { $0 }
    place.key.withLock { $0 = nil }
    try await place.with { store in
      let refusals = [
        await failure { () throws(ProviderFailure) in try await store.clients() },
        await failure { () throws(ProviderFailure) in try await store.keep([]) },
      ]
      #expect(refusals == [.transient(.vaultLocked), .transient(.vaultLocked)])
    }
    #expect(try place.scratch.bytes(of: Self.name) == before)
    place.key.withLock { $0 = key }
    #expect(try await place.clients == [Self.plain])
  }

  @Test(arguments: Obstacle.own) func `what is no file is never waited for`(_ obstacle: Obstacle) async throws {
    let place = try Place()
    try await place.keep([Self.plain])
    try obstacle.put(at: place.scratch.file(Self.name))
    try await place.with { store in
      let read = await failure { () throws(ProviderFailure) in try await store.clients() }
      #expect(read == nil || read == .transient(.storeFailed))
      let refusal = await failure { () throws(ProviderFailure) in try await store.keep([Self.plain]) }
      #expect(refusal == (obstacle == .directory ? .transient(.storeFailed) : nil))
      guard refusal == nil else { return }
      let kept = try await store.clients()
      #expect(kept == [Self.plain])
    }
  }

  @Test(.enabled(if: SmallFileSystem.canMount, "no file system can be mounted"))
  func `a full disk leaves what was there, and passes`() async throws {
    let place = try Place()
    let disk = try SmallFileSystem(over: place.scratch, byteCount: 64 << 10)
    try await place.keep([Self.plain])
    try disk.fill()
    let many = try (0..<40).map { try Self.client("client-\($0)") }
    try await place.with { store in
      let refusal = await failure { () throws(ProviderFailure) in try await store.keep(many) }
      #expect(refusal == .transient(.storeFailed))
      #expect(try await store.clients() == [Self.plain])
      #expect(place.scratch.names == [Self.name, "filler"], "nothing is left behind")
      try disk.free()
      try await store.keep(many)
      #expect(try await store.clients() == many)
    }
  }
}
