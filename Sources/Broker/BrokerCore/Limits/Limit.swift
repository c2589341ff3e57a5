package import BrokerProtocol

/// One bound of what a message, a connection, an account, a provider, a profile, or all clients together may cost.
///
/// Each case has one row in ``rows``: its key in the configuration, range, default and error come from there and from
/// nowhere else. A new limit is a case here, a row there, its line in `Schemas/config.schema.json` and in the guide
/// (tests hold all of them equal), and a test of what happens past it.
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

  /// What a limit counts.
  package enum Unit: String, Sendable {
    /// Bytes.
    case bytes
    /// Things.
    case count
    /// A time; the key ends in `Seconds`, and fractions down to the millisecond are allowed.
    case seconds
    /// Calls in a minute.
    case perMinute
    /// Calls at once; one more may follow after each interval that the row names.
    case calls
  }

  /// What has a budget of its own.
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

  /// What happens past a limit.
  package enum Consequence: Sendable, Equatable {
    /// The request is refused with an error of this kind.
    case error(ErrorKind)
    /// The connection is closed.
    case closed
    /// The connection is closed, behind an error of this kind where the client can still read it.
    case closedWith(ErrorKind)
    /// Events are dropped, and `eventsLost` tells the subscriber.
    case eventsLost
    /// It is done later, after what others asked for.
    case waits

    /// The consequence in the words of the guide.
    package var words: String {
      switch self {
      case .error(let kind): "`\(kind.rawValue)`"
      case .closedWith(let kind): "`\(kind.rawValue)`, and the connection is closed"
      case .closed: "the connection is closed"
      case .eventsLost: "event `eventsLost`"
      case .waits: "it waits"
      }
    }
  }

  /// Everything that is said about one limit.
  package struct Row: Sendable {
    /// Which limit.
    package let limit: Limit
    /// The key in the section `limits` of the configuration, and the name in `getStatus`.
    package let name: String
    /// What it counts.
    package let unit: Unit
    /// What has this budget.
    package let scope: Scope
    /// What a configuration may say, in the unit.
    package let range: ClosedRange<Int>
    /// What holds where nothing is configured: in the unit, of a time in milliseconds.
    package let standard: Int
    /// What happens past it.
    package let consequence: Consequence
    /// What is bounded, as the schema and the guide say it.
    package let purpose: String
    /// How the default was chosen.
    package let reason: String

    init(
      _ limit: Limit, _ name: String, _ unit: Unit, _ scope: Scope, _ range: ClosedRange<Int>, standard: Int,
      past consequence: Consequence, _ purpose: String, because reason: String
    ) {
      self.limit = limit
      self.name = name
      self.unit = unit
      self.scope = scope
      self.range = range
      self.standard = standard
      self.consequence = consequence
      self.purpose = purpose
      self.reason = reason
    }
  }

  /// The limit's row.
  package var row: Row { Self.rows[rawValue] }
}
