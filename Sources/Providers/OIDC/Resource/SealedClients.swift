package import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
package import ProviderKit
package import Sealing
import SecretMemory

/// The clients that the broker has registered, in a file of the state directory, sealed with a key that the vault gives.
///
/// A file that does not open is one of another vault: its clients are registered again at the next login. It works on a
/// thread of its own, as it waits for the disk.
package actor SealedClients: RegisteredClientStore {
  private static let name = "clients"
  /// As long as the clients of hundreds of servers are.
  private static let longest = 4 << 20
  private static let limits = JSONLimits(depth: 8, byteCount: longest)

  private nonisolated let worker = WorkerThread(name: "clients")
  private let stateDirectory: String
  private let sealingKey: @Sendable () -> SealingKey?

  /// The clients of a state directory; `sealingKey` is asked each time, and gives nil while the vault is locked.
  package init(stateDirectory: String, sealingKey: @escaping @Sendable () -> SealingKey?) {
    self.stateDirectory = stateDirectory
    self.sealingKey = sealingKey
  }

  /// The executor that the actor runs on.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  private var path: String { "\(stateDirectory)/\(Self.name)" }

  private var place: AssociatedData {
    var place = AssociatedData()
    place.append("registered-clients")
    return place
  }

  package func clients() throws(ProviderFailure) -> [RegisteredClient] {
    guard let key = sealingKey() else { throw .transient(.vaultLocked) }
    let box: [UInt8]
    do throws(Errno) {
      box = try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]).contents(limit: Self.longest)
    } catch {
      guard error == .noEntry else { throw .transient(.storeFailed) }
      return []
    }
    let plaintext: Secret
    do throws(SealingError) { plaintext = try SealedBox.open(box.span, context: place, key: key) } catch {
      guard error == .secretMemoryExhausted else { return [] }
      throw .transient(.overloaded)
    }
    var bytes = plaintext.withBytes { span in span.indices.map { span[$0] } }
    defer { wipe(&bytes) }
    do throws(SecretMemoryExhausted) { return try Self.decode(bytes) } catch { throw .transient(.overloaded) }
  }

  package func keep(_ clients: [RegisteredClient]) throws(ProviderFailure) {
    guard let key = sealingKey() else { throw .transient(.vaultLocked) }
    var bytes = Self.encode(clients)
    defer { wipe(&bytes) }
    let box = SealedBox.seal(bytes.span, context: place, key: key)
    do throws(Errno) {
      try PendingFile(path, box.span).put(replacing: true)
    } catch { throw .transient(.storeFailed) }
  }

  // MARK: The form

  private static func encode(_ clients: [RegisteredClient]) -> [UInt8] {
    var buffer: [UInt8] = []
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind.
    buffer.reserveCapacity(clients.reduce(64) { $0 + capacity(for: $1) })
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    writer.object { writer in
      writer.key("clients")
      writer.array { writer in for client in clients { write(client, to: &writer) } }
    }
    return writer.bytes
  }

  private static func capacity(for client: RegisteredClient) -> Int {
    let texts = [client.issuer, client.id] + client.redirects
    // An escape makes 6 bytes of 1.
    return 512 + 6 * (texts.reduce(client.secret?.byteCount ?? 0) { $0 + $1.utf8.count + 3 })
  }

  private static func write(_ client: RegisteredClient, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("issuer", client.issuer)
      writer.member("id", client.id)
      writer.member("authentication", client.authentication.rawValue)
      if let secret = client.secret { writer.member(revealing: "secret", secret) }
      writer.member(ifPresent: "secretExpiresAt", client.secretExpiresAt.map { Int($0.milliseconds) })
      writer.member("redirects", client.redirects)
      writer.member("registeredAt", Int(client.registeredAt.milliseconds))
      writer.member("isForgotten", client.isForgotten)
    }
  }

  private static func decode(_ bytes: [UInt8]) throws(SecretMemoryExhausted) -> [RegisteredClient] {
    guard let root = try? JSONDocument(parsing: bytes, limits: limits).root,
      let elements = try? root["clients"]?.elements()
    else { return [] }
    var clients: [RegisteredClient] = []
    for element in elements {
      if let client = try client(element) { clients.append(client) }
    }
    return clients
  }

  /// Reads a client; nil for one in a form of another version.
  private static func client(_ node: JSONNode) throws(SecretMemoryExhausted) -> RegisteredClient? {
    func text(_ name: String) -> String? { node[name].flatMap { try? $0.string() } }
    func time(_ name: String) -> Timestamp? {
      node[name].flatMap { try? $0.integer() }.map { Timestamp(milliseconds: $0) }
    }
    guard let issuer = text("issuer"), let id = text("id"),
      let authentication = text("authentication").flatMap(RegisteredClient.Authentication.init(rawValue:)),
      let registeredAt = time("registeredAt")
    else { return nil }
    var client = RegisteredClient(
      issuer: issuer, id: id, authentication: authentication, secret: try node["secret"]?.foundSecret(),
      secretExpiresAt: time("secretExpiresAt"),
      redirects: (try? node["redirects"]?.elements())?.compactMap { try? $0.string() } ?? [],
      registeredAt: registeredAt)
    client.isForgotten = node["isForgotten"]?.kind == .true
    return client
  }

  /// Ends the thread, after the earlier calls: the caller's thread is not blocked until then.
  package nonisolated func shutDown() async {
    await finish()
    worker.stop()
  }

  /// Runs behind everything that was asked before.
  private func finish() {}
}
