package import BrokerProtocol

/// A limit on the cost of a message, a connection, an account, a provider, a profile, or all clients together.
///
/// Each case has one row in ``rows``: its name, range, number and error come from there and from nowhere else. A new
/// limit is a case here, a row there, its line in the guide, and a test of what happens past it; one that people need
/// to change is also in ``configurable`` and in `Schemas/config.schema.json`.
package enum Limit: Int, CaseIterable, Sendable {
  // A message.
  case messageBytes, nesting, members, elements, values, stringBytes, numberBytes, batchEntries, idBytes
  // A connection.
  case requestsInFlight, parameterBytes, subscriptions, turnBytes, turnMessages
  case incompleteMessage, outputBytes, stalledOutput, targets
  case connectionLogins, connectionMails, connectionSentCodes, connectionCodes, connectionMailTokens
  case connectionChanges, connectionReads, connectionProbes
  // An account at a provider.
  case accountLogins, accountMails, accountSentCodes, accountChanges, accountReads, accountWrongCodes
  // A provider.
  case providerLogins, providerMails, providerSentCodes, providerCodes, providerMailTokens
  case providerChanges, providerReads, providerProbes, providerWrongCodes
  // A profile.
  case loginsUnderWay
  // All clients together.
  case connections, turn, bufferedBytes, waitingRequests, allSubscriptions, keyAttempts, providerChecks, trials
  case consents, requestsSent

  /// The limits that a configuration may change.
  package static let configurable: Set<Limit> = [
    .messageBytes, .nesting, .batchEntries, .idBytes, .requestsInFlight, .subscriptions, .outputBytes, .stalledOutput,
    .targets, .connectionLogins, .accountLogins, .connections, .bufferedBytes,
  ]

  /// The constants that version 0.2 had a key for, which is obeyed until 0.3; a later constant has never had one.
  package static let outdated: Set<Limit> = [
    .members, .elements, .values, .stringBytes, .numberBytes, .parameterBytes, .turnBytes, .turnMessages,
    .incompleteMessage, .connectionMails, .connectionSentCodes, .connectionCodes, .connectionMailTokens,
    .connectionChanges, .connectionReads, .connectionProbes, .accountMails, .accountSentCodes, .accountChanges,
    .accountReads, .accountWrongCodes, .providerLogins, .providerMails, .providerSentCodes, .providerCodes,
    .providerMailTokens, .providerChanges, .providerReads, .providerProbes, .providerWrongCodes, .loginsUnderWay, .turn,
    .waitingRequests, .allSubscriptions, .keyAttempts, .providerChecks, .trials,
  ]

  /// The unit that has a budget of its own.
  package enum Scope: String, Sendable {
    /// Each message.
    case message
    /// Each connection.
    case connection
    /// Each account at a provider, over all connections.
    case account
    /// Each provider, over all connections and accounts.
    case provider
    /// Each profile.
    case profile
    /// All clients together.
    case broker
  }

  /// The properties of one limit.
  package struct Row: Sendable {
    /// The limit.
    package let limit: Limit
    /// The name in `getStatus`, and in the section `limits` of the configuration; its end tells the unit.
    package let name: String
    /// The unit that has this budget.
    package let scope: Scope
    /// The values that a configuration may set, in the unit.
    package let range: ClosedRange<Int>
    /// The default: in the unit; for a time in milliseconds.
    package let standard: Int
    /// The error for a request beyond it; nil where the request waits, events are dropped or the connection is closed
    /// instead.
    package let error: ErrorKind?
    /// Of calls at once, after how long one more may be made.
    package let interval: Duration?

    /// Whether it is a time.
    package var isTime: Bool { name.hasSuffix("Seconds") }

    /// A limit of bytes, of things, or of a time.
    init(
      _ limit: Limit, _ name: String, _ scope: Scope, _ range: ClosedRange<Int>, _ standard: Int, _ error: ErrorKind?
    ) {
      (self.limit, self.name, self.scope, self.range) = (limit, name, scope, range)
      (self.standard, self.error, interval) = (standard, error, nil)
    }

    /// A limit of calls: so many at once, and one more after each interval.
    init(_ limit: Limit, _ name: String, _ scope: Scope, _ standard: Int, every interval: Duration) {
      (self.limit, self.name, self.scope, range) = (limit, name, scope, 1...10_000)
      (self.standard, error, self.interval) = (standard, .rateLimited, interval)
    }
  }

  /// The limit's row.
  package var row: Row { Self.rows[rawValue] }
}
