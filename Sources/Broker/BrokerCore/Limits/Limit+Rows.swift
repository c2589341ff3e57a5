import BrokerProtocol

/// The table of limits.
///
/// Of each range the lower end leaves the protocol usable, and the upper end keeps one peer from using up the machine.
extension Limit {
  /// The row of every limit, in the order of the cases.
  package static let rows: [Row] =
    (messageRows + connectionRows + CallRates.rows + wrongCodeRows + profileRows + brokerRows)
    .sorted { $0.limit.rawValue < $1.limit.rawValue }

  /// What one message may cost.
  private static let messageRows = [
    Row(
      .messageBytes, "maxMessageBytes", .bytes, .message, 1024...67_108_864, standard: 1_048_576,
      past: .error(.messageTooLarge), "Bytes of a message.",
      because: "A thousand times the usual message; the least still holds each request that carries no token."),
    Row(
      .nesting, "maxNesting", .count, .message, 8...512, standard: 64, past: .error(.parseError),
      "Depth of nested arrays and objects in a message.",
      because: "The protocol itself needs five levels."),
    Row(
      .members, "maxMembers", .count, .message, 16...65536, standard: 256, past: .error(.messageTooLarge),
      "Members of an object in a message.", because: "The largest request has a dozen."),
    Row(
      .elements, "maxElements", .count, .message, 16...65536, standard: 1024, past: .error(.messageTooLarge),
      "Elements of an array in a message.",
      because: "The longest list is that of a token's scopes, of which 128 are allowed."),
    Row(
      .values, "maxValues", .count, .message, 256...1_048_576, standard: 8192, past: .error(.messageTooLarge),
      "Values of a message in all, member names included.",
      because: "A batch of 64 requests with 50 members each; they are read in less than a millisecond."),
    Row(
      .stringBytes, "maxStringBytes", .bytes, .message, 1024...67_108_864, standard: 65536,
      past: .error(.messageTooLarge), "Bytes of a string in a message, as it stands there, without its quotes.",
      because: "The longest access tokens; those of most providers have 2 KiB."),
    Row(
      .numberBytes, "maxNumberBytes", .bytes, .message, 24...1024, standard: 64, past: .error(.parseError),
      "Bytes of a number in a message.", because: "The longest number that a program writes has 24."),
    Row(
      .batchEntries, "maxBatchEntries", .count, .message, 1...4096, standard: 64, past: .error(.invalidRequest),
      "Entries of a batch; each counts as in flight.", because: "As many as may be in flight."),
    Row(
      .idBytes, "maxIdBytes", .bytes, .message, 38...4096, standard: 128, past: .error(.invalidRequest),
      "Bytes of a request's id, quotes included.", because: "A UUID in quotes has 38 bytes."),
  ]

  /// What one connection may hold.
  private static let connectionRows = [
    Row(
      .requestsInFlight, "maxRequestsInFlight", .count, .connection, 1...4096, standard: 64, past: .waits,
      "Requests of one connection that wait for their answer; the next ones are read when one is answered.",
      because: "Each keeps its id and its place in a queue; no known client has more than ten."),
    Row(
      .parameterBytes, "maxWaitingParameterBytes", .bytes, .connection, 16384...67_108_864, standard: 524_288,
      past: .error(.overloaded),
      "Bytes of parameters of one connection's waiting requests together; a request that waits alone may have more.",
      because: "Eight of the longest refresh tokens; usual requests have some hundred bytes."),
    Row(
      .subscriptions, "maxSubscriptionsPerConnection", .count, .connection, 1...1024, standard: 32,
      past: .error(.overloaded), "Subscriptions of one connection.",
      because: "One subscription with a filter serves most clients."),
    Row(
      .turnBytes, "maxTurnBytes", .bytes, .connection, 4096...1_048_576, standard: 65536, past: .waits,
      "Bytes that are read from one connection before the others get their turn.",
      because: "One call of read(2) is amortised, and no other client notices."),
    Row(
      .turnMessages, "maxTurnMessages", .count, .connection, 1...65536, standard: 64, past: .waits,
      "Messages of one connection that are handled before the others get their turn.",
      because: "As many as may be in flight."),
    Row(
      .incompleteMessage, "incompleteMessageSeconds", .seconds, .connection, 1...3600, standard: 30_000,
      past: .closedWith(.deadlineExceeded),
      "How long a message may take from its first byte to its last; a connection may be silent between messages for ever.",
      because: "A message is written in one go; a program that is paged in again takes seconds."),
    Row(
      .outputBytes, "maxOutputBufferBytes", .bytes, .connection, 65536...268_435_456, standard: 4_194_304,
      past: .eventsLost, "Bytes kept for a connection that does not read; past that its events are dropped.",
      because: "Ten thousand events; the least is the size of a pipe."),
    Row(
      .stalledOutput, "stalledOutputSeconds", .seconds, .connection, 1...3600, standard: 30_000, past: .closed,
      "How long a connection with a full buffer may read nothing before it is closed.",
      because: "A program that is paged in again takes seconds."),
    Row(
      .targets, "maxTargetsPerMinute", .perMinute, .connection, 1...1024, standard: 16, past: .error(.rateLimited),
      "Targets (scopes and audience) that one connection asks tokens for in a minute.",
      because: "As many as a session keeps tokens for; a program calls a handful of services."),
  ]

  /// How often codes may be guessed: a hard stop, which ends by itself as the guesses become a day old.
  private static let wrongCodeRows = [
    Row(
      .accountWrongCodes, "maxWrongCodesPerAccount", .count, .account, 1...250, standard: 25,
      past: .error(.tooManyAttempts), "Wrong codes for one account in a day, over all its logins.",
      because: "With six digits a chance of 1 in 40,000."),
    Row(
      .providerWrongCodes, "maxWrongCodesPerProvider", .count, .provider, 1...10_000, standard: 100,
      past: .error(.tooManyAttempts), "Wrong codes for all accounts of one provider in a day.",
      because: "A client that names one account in several ways gains little."),
  ]

  /// What one profile may have under way.
  private static let profileRows = [
    Row(
      .loginsUnderWay, "maxLoginsUnderWayPerProfile", .count, .profile, 1...1024, standard: 16,
      past: .error(.overloaded), "Logins of one profile that its provider has not answered yet.",
      because: "Each may cost the provider a slow hash; one that does not answer uses up its own profile's only.")
  ]

  /// What all clients together may hold.
  private static let brokerRows = [
    Row(
      .connections, "maxConnections", .count, .broker, 1...100_000, standard: 10_000, past: .waits,
      "Open connections; the descriptor limit may allow fewer.", because: "More than a user has processes."),
    Row(
      .turn, "turnSeconds", .seconds, .broker, 0...1, standard: 0, past: .waits,
      "Time for connections that have much to read, before the others get their turn again; at 0 it is one message.",
      because: "So the others wait for one message of theirs; a few milliseconds would save little."),
    Row(
      .bufferedBytes, "maxBufferedBytes", .bytes, .broker, 1_048_576...17_179_869_184, standard: 33_554_432,
      past: .closedWith(.overloaded),
      "Bytes of unfinished messages, waiting requests and unread answers of all connections together; the connection that holds most is closed.",
      because: "Thirty-two of the largest messages at once; the memory of the process stays below 64 MiB more."),
    Row(
      .waitingRequests, "maxWaitingRequests", .count, .broker, 64...1_048_576, standard: 16384,
      past: .error(.overloaded),
      "Requests of all connections together that wait for their answer; past it each connection has an equal share.",
      because: "As many as 256 connections may have; each costs about a kilobyte, so sixteen megabytes in all."),
    Row(
      .allSubscriptions, "maxSubscriptions", .count, .broker, 32...1_048_576, standard: 16384,
      past: .error(.overloaded),
      "Subscriptions of all connections together; the first one of a connection is always accepted.",
      because: "Each costs some hundred bytes and a copy of every event; a desktop has some dozens."),
    Row(
      .keyAttempts, "maxWaitingKeyAttempts", .count, .broker, 1...1024, standard: 64, past: .error(.overloaded),
      "Requests for the vault's key (`unlock`, `rekey`) that wait for their turn, one for each connection.",
      because: "At the longest delay after wrong passphrases, the last of them has its turn within eleven minutes."),
    Row(
      .providerChecks, "maxProviderChecks", .count, .broker, 1...64, standard: 4, past: .error(.overloaded),
      "Checks of providers under way (`checkProvider`, `checkProviders`).",
      because: "One is for a person who looks, the others for programs that look at the same time."),
    Row(
      .trials, "maxProviderTrials", .count, .broker, 1...64, standard: 4, past: .error(.overloaded),
      "Trials of providers under way (`tryProvider`).",
      because: "One is for a person who looks, the others for programs."),
  ]
}
