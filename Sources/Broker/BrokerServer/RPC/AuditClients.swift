import BrokerCore
import BrokerProtocol

/// A connection as the audit names it.
struct AuditedConnection {
  /// Its client.
  let client: AuditedClient
  /// The number under which the cache of answers counts what that is given.
  let number: Int
}

/// The clients of the audit, each with a number.
struct AuditClients {
  /// Whether there is an audit.
  var isOn = false
  /// The number of the first client that is known: what has a lower one is looked up again.
  private(set) var first = 0
  private var numbers: [AuditedClient: Int] = [:]

  /// A client with its number in the cache.
  mutating func audited(_ client: AuditedClient, _ cache: AnswerCache) -> AuditedConnection {
    if let number = numbers[client] { return AuditedConnection(client: client, number: number) }
    if numbers.count >= AnswerCache.mostClients { numbers = [:] }
    let number = cache.addClient()
    if numbers.isEmpty { first = number }
    numbers[client] = number
    return AuditedConnection(client: client, number: number)
  }
}
