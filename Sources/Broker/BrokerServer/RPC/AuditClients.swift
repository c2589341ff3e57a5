import BrokerCore
import BrokerProtocol
import LinuxSystem

/// A connection as the audit names it.
struct AuditedConnection {
  /// Its client.
  let client: AuditedClient
  /// The number under which the cache of answers counts what that is given.
  let number: Int
}

/// The clients of the audit, and the processes that have connected lately: one that connects again and again is asked for
/// once.
struct AuditClients {
  /// The most processes that are held at a time: each takes a descriptor.
  private static let mostHeld = 16

  /// A process that is known, for as long as it lives.
  private struct Held {
    let handle: ProcessHandle
    let entrance: Entrance
    let user: UInt32?
    let audited: AuditedConnection
  }

  /// Whether there is an audit.
  var isOn = false
  /// The number of the first client that is known: what has a lower one is looked up again.
  private(set) var first = 0
  private var numbers: [AuditedClient: Int] = [:]
  private var held: [Int32: Held] = [:]

  /// The client of a process that has come by the same way before, has said no more of itself, and lives.
  func known(_ process: Int32, _ entrance: Entrance, _ user: UInt32?) -> AuditedConnection? {
    guard let held = held[process], held.user == user, held.entrance == entrance, held.handle.exists else { return nil }
    return held.audited
  }

  /// Remembers a process.
  mutating func hold(
    _ handle: ProcessHandle, _ entrance: Entrance, _ user: UInt32?, as audited: AuditedConnection
  ) {
    if held.count >= Self.mostHeld { held = [:] }
    held[handle.pid] = Held(handle: handle, entrance: entrance, user: user, audited: audited)
  }

  /// A client with its number in the cache.
  mutating func audited(_ client: AuditedClient, _ cache: AnswerCache) -> AuditedConnection {
    if let number = numbers[client] { return AuditedConnection(client: client, number: number) }
    if numbers.count >= AnswerCache.mostClients {
      (numbers, held) = ([:], [:])
    }
    let number = cache.addClient()
    if numbers.isEmpty { first = number }
    numbers[client] = number
    return AuditedConnection(client: client, number: number)
  }
}
