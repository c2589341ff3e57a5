package import BrokerCore
package import BrokerProtocol
import LinuxSystem

/// The registered clients of all profiles: each authorization server has one, whichever profile logs in there first.
///
/// Logins that need one at the same time share one registration. The clients are read from their store each time, so
/// that none is in memory while the vault is locked.
package actor RegisteredClients {
  /// Registers a client.
  package typealias Registration = @Sendable () async throws(ProviderFailure) -> RegisteredClient
  /// Whether an authorization server still knows a client.
  package typealias Check = @Sendable (RegisteredClient) async -> Bool

  /// How many clients of one issuer are kept: the newest for logins, earlier ones for the sessions that they have.
  private static let mostOfOneIssuer = 4
  /// How many are kept in all.
  private static let most = 256
  /// How long after a first refusal a client is asked about once more before it counts as forgotten.
  static let patience = Duration.seconds(60)

  /// A client's name.
  private struct Name: Hashable {
    let issuer: String
    let id: String
  }

  private let store: any RegisteredClientStore
  private let uptime: @Sendable () -> Duration
  private var flights: [String: Task<Result<RegisteredClient, ProviderFailure>, Never>] = [:]
  /// When each client that was refused was refused first.
  private var doubts: [Name: Duration] = [:]
  /// The change of the store under way, which the next one waits for.
  private var change: Task<Void, Never>?

  /// The clients of a store; `uptime` is the clock of the machine's start.
  package init(_ store: any RegisteredClientStore, uptime: @escaping @Sendable () -> Duration = { BootClock.now }) {
    self.store = store
    self.uptime = uptime
  }

  /// The client that a login at an issuer uses; nil where there is none yet.
  ///
  /// - Throws: as ``RegisteredClientStore/clients()``.
  package func client(at issuer: String, now: Timestamp) async throws(ProviderFailure) -> RegisteredClient? {
    try await store.clients().last { $0.issuer == issuer && $0.isUsable(at: now) }
  }

  /// The client of a session; nil where its record is lost.
  ///
  /// - Throws: as ``RegisteredClientStore/clients()``.
  package func client(_ id: String, at issuer: String) async throws(ProviderFailure) -> RegisteredClient? {
    try await store.clients().last { $0.issuer == issuer && $0.id == id }
  }

  /// The client for a login at an issuer, which is registered where there is none that the server knows.
  ///
  /// - Parameters:
  ///   - issuer: the authorization server.
  ///   - now: the present time.
  ///   - isKnown: asked about the client that is there.
  ///   - register: registers another one.
  /// - Returns: the client; the same to all who ask meanwhile.
  /// - Throws: what `register` throws; as ``RegisteredClientStore``.
  package func client(
    at issuer: String, now: Timestamp, isKnown: @escaping Check, register: @escaping Registration
  ) async throws(ProviderFailure) -> RegisteredClient {
    if let flight = flights[issuer] { return try await flight.value.get() }
    let flight = Task(executorPreference: TaskThread.shared) { [self] in
      let result: Result<RegisteredClient, ProviderFailure>
      do throws(ProviderFailure) {
        result = .success(try await found(at: issuer, now, isKnown, register))
      } catch { result = .failure(error) }
      // Here, not by those who wait: one that wakes up late would forget the flight that came after this one.
      await end(flightAt: issuer)
      return result
    }
    flights[issuer] = flight
    return try await flight.value.get()
  }

  private func end(flightAt issuer: String) { flights[issuer] = nil }

  private func found(
    at issuer: String, _ now: Timestamp, _ isKnown: Check, _ register: Registration
  ) async throws(ProviderFailure) -> RegisteredClient {
    if let client = try await client(at: issuer, now: now), await isKnown(client) { return client }
    let client = try await register()
    try await edit { clients in
      for index in clients.indices where clients[index].issuer == issuer { clients[index].isForgotten = true }
      clients.append(client)
    }
    return client
  }

  // MARK: Clients that a server has forgotten

  /// Notes that the server does not know a client.
  ///
  /// - Returns: how long to wait before it is asked once more; nil where it has said so again, or now counts as having
  ///   forgotten it.
  package func refuse(_ id: String, at issuer: String) async -> Duration? {
    let name = Name(issuer: issuer, id: id)
    let since = doubts[name] ?? uptime()
    doubts[name] = since
    let rest = Self.patience - (uptime() - since)
    guard rest <= .zero else { return rest }
    await forget(id, at: issuer)
    return nil
  }

  /// How long a client that was refused for the first time rests; nil for no time.
  package func rest(of id: String, at issuer: String) -> Duration? {
    guard let since = doubts[Name(issuer: issuer, id: id)] else { return nil }
    let rest = Self.patience - (uptime() - since)
    return rest > .zero ? rest : nil
  }

  /// Notes that the server knows a client.
  package func accept(_ id: String, at issuer: String) { doubts[Name(issuer: issuer, id: id)] = nil }

  /// Lets the next login register another client; the record stays, for the sessions that have it.
  package func forget(_ id: String, at issuer: String) async {
    // Where it cannot be noted now, the next login asks the server.
    try? await edit { clients in
      for index in clients.indices where clients[index].issuer == issuer && clients[index].id == id {
        clients[index].isForgotten = true
      }
    }
  }

  // MARK: The store

  /// Changes the clients, one change after the other.
  private func edit(_ body: @escaping @Sendable (inout [RegisteredClient]) -> Void) async throws(ProviderFailure) {
    let (previous, store) = (change, store)
    let task = Task(executorPreference: TaskThread.shared) { () -> Result<Void, ProviderFailure> in
      await previous?.value
      do throws(ProviderFailure) {
        let before = try await store.clients()
        var after = before
        body(&after)
        if after != before { try await store.keep(Self.bounded(after)) }
        return .success(())
      } catch { return .failure(error) }
    }
    change = Task(executorPreference: TaskThread.shared) { _ = await task.value }
    try await task.value.get()
  }

  /// The newest of each issuer, and of all.
  private static func bounded(_ clients: [RegisteredClient]) -> [RegisteredClient] {
    var kept: [RegisteredClient] = []
    for client in clients.reversed() where kept.count < most {
      if kept.count(where: { $0.issuer == client.issuer }) < mostOfOneIssuer { kept.append(client) }
    }
    return kept.reversed()
  }
}
