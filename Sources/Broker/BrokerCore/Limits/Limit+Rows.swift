import BrokerProtocol

/// The table of limits. Of each range the lower end leaves the protocol usable, and the upper end keeps one peer from using up
/// the machine.
extension Limit {
  /// The row of every limit, in the order of the cases.
  package static let rows: [Row] = messageRows + connectionRows + accountRows + providerRows + sharedRows

  /// The limits of one message.
  private static let messageRows = [
    // A thousand times the usual message; the least still holds each request that carries no token.
    Row(.messageBytes, "maxMessageBytes", .message, 1024...67_108_864, 1_048_576, .messageTooLarge),
    // The protocol itself needs five levels.
    Row(.nesting, "maxNesting", .message, 8...512, 64, .parseError),
    // The largest request has a dozen.
    Row(.members, "maxMembers", .message, 16...65536, 256, .messageTooLarge),
    // The longest list is that of a token's scopes, of which 128 are allowed.
    Row(.elements, "maxElements", .message, 16...65536, 1024, .messageTooLarge),
    // A batch of 64 requests with 50 members each; they are read in less than a millisecond.
    Row(.values, "maxValues", .message, 256...1_048_576, 8192, .messageTooLarge),
    // The largest body of `sendRequest` as base64; the longest access tokens have 64 KiB.
    Row(.stringBytes, "maxStringBytes", .message, 1024...67_108_864, 720_896, .messageTooLarge),
    // The longest number that a program writes has 24.
    Row(.numberBytes, "maxNumberBytes", .message, 24...1024, 64, .parseError),
    // As many as may be in flight.
    Row(.batchEntries, "maxBatchEntries", .message, 1...4096, 64, .invalidRequest),
    // A UUID in quotes has 38 bytes.
    Row(.idBytes, "maxIdBytes", .message, 38...4096, 128, .invalidRequest),
  ]

  /// The limits of one connection.
  private static let connectionRows = [
    // Each keeps its id and its place in a queue; no known client has more than ten.
    Row(.requestsInFlight, "maxRequestsInFlight", .connection, 1...4096, 64, nil),
    // Eight of the longest refresh tokens; usual requests have some hundred bytes.
    Row(.parameterBytes, "maxWaitingParameterBytes", .connection, 16384...67_108_864, 524_288, .overloaded),
    // One subscription with a filter serves most clients.
    Row(.subscriptions, "maxSubscriptionsPerConnection", .connection, 1...1024, 32, .overloaded),
    // One call of read(2) is amortised, and no other client notices.
    Row(.turnBytes, "maxTurnBytes", .connection, 4096...1_048_576, 65536, nil),
    // As many as may be in flight.
    Row(.turnMessages, "maxTurnMessages", .connection, 1...65536, 64, nil),
    // A message is written in one go; a program that is paged in again takes seconds.
    Row(.incompleteMessage, "incompleteMessageSeconds", .connection, 1...3600, 30_000, .deadlineExceeded),
    // Ten thousand events; the least is the size of a pipe.
    Row(.outputBytes, "maxOutputBufferBytes", .connection, 65536...268_435_456, 4_194_304, nil),
    // A program that is paged in again takes seconds.
    Row(.stalledOutput, "stalledOutputSeconds", .connection, 1...3600, 30_000, nil),
    // As many as a session keeps tokens for; a program calls a handful of services.
    Row(.targets, "maxTargetsPerMinute", .connection, 1...1024, 16, .rateLimited),
    // A person who mistypes needs a handful; one in ten seconds is 8,640 passwords for an account in a day.
    Row(.connectionLogins, "maxLoginsPerConnection", .connection, 60, every: .seconds(1)),
    // One person wants two or three, and each costs money or patience.
    Row(.connectionMails, "maxMailsPerConnection", .connection, 10, every: .seconds(60)),
    // Ten at once are more than a person reads.
    Row(.connectionSentCodes, "maxSentCodesPerConnection", .connection, 20, every: .seconds(60)),
    // No person types faster; wrong codes have limits of their own.
    Row(.connectionCodes, "maxCodesPerConnection", .connection, 30, every: .seconds(2)),
    // 128 bits are not guessed, but a provider may make shorter ones.
    Row(.connectionMailTokens, "maxMailTokensPerConnection", .connection, 10, every: .seconds(10)),
    // Each may check a password; a person makes a few in a row.
    Row(.connectionChanges, "maxChangesPerConnection", .connection, 20, every: .seconds(3)),
    // What the broker knows already is answered from memory.
    Row(.connectionReads, "maxReadsPerConnection", .connection, 60, every: .seconds(1)),
    // A person who repeats a check needs one in some seconds.
    Row(.connectionProbes, "maxProbesPerConnection", .connection, 20, every: .seconds(3)),
  ]

  /// How often a provider may be called about one account, for the reasons of a connection.
  private static let accountRows = [
    Row(.accountLogins, "maxLoginsPerAccount", .account, 30, every: .seconds(10)),
    Row(.accountMails, "maxMailsPerAccount", .account, 5, every: .seconds(300)),
    Row(.accountSentCodes, "maxSentCodesPerAccount", .account, 10, every: .seconds(300)),
    Row(.accountChanges, "maxChangesPerAccount", .account, 20, every: .seconds(10)),
    Row(.accountReads, "maxReadsPerAccount", .account, 60, every: .seconds(1)),
    // A hard stop, which ends by itself as the guesses become a day old: with six digits a chance of 1 in 40,000.
    Row(.accountWrongCodes, "maxWrongCodesPerAccount", .account, 1...250, 25, .tooManyAttempts),
  ]

  /// How often a provider may be called: by a few clients at once; one that connects again and again gains nothing.
  private static let providerRows = [
    Row(.providerLogins, "maxLoginsPerProvider", .provider, 120, every: .seconds(1)),
    Row(.providerMails, "maxMailsPerProvider", .provider, 30, every: .seconds(20)),
    Row(.providerSentCodes, "maxSentCodesPerProvider", .provider, 40, every: .seconds(30)),
    Row(.providerCodes, "maxCodesPerProvider", .provider, 60, every: .seconds(1)),
    Row(.providerMailTokens, "maxMailTokensPerProvider", .provider, 20, every: .seconds(10)),
    Row(.providerChanges, "maxChangesPerProvider", .provider, 60, every: .seconds(1)),
    Row(.providerReads, "maxReadsPerProvider", .provider, 240, every: .milliseconds(250)),
    Row(.providerProbes, "maxProbesPerProvider", .provider, 60, every: .seconds(1)),
    // A client that names one account in several ways gains little.
    Row(.providerWrongCodes, "maxWrongCodesPerProvider", .provider, 1...10_000, 100, .tooManyAttempts),
  ]

  /// The limits of one profile, and of all clients together.
  private static let sharedRows = [
    // Each may cost the provider a slow hash; one that does not answer uses up its own profile's only.
    Row(.loginsUnderWay, "maxLoginsUnderWayPerProfile", .profile, 1...1024, 16, .overloaded),
    // More than a user has processes.
    Row(.connections, "maxConnections", .broker, 1...100_000, 10_000, nil),
    // So the others wait for one message of theirs; a few milliseconds would save little.
    Row(.turn, "turnSeconds", .broker, 0...1, 0, nil),
    // Thirty-two of the largest messages at once; the memory of the process stays below 64 MiB more.
    Row(.bufferedBytes, "maxBufferedBytes", .broker, 1_048_576...17_179_869_184, 33_554_432, .overloaded),
    // As many as 256 connections may have; each costs about a kilobyte, so sixteen megabytes in all.
    Row(.waitingRequests, "maxWaitingRequests", .broker, 64...1_048_576, 16384, .overloaded),
    // Each costs some hundred bytes and a copy of every event; a desktop has some dozens.
    Row(.allSubscriptions, "maxSubscriptions", .broker, 32...1_048_576, 16384, .overloaded),
    // At the longest delay after wrong passphrases, the last of them has its turn within eleven minutes.
    Row(.keyAttempts, "maxWaitingKeyAttempts", .broker, 1...1024, 64, .overloaded),
    // One is for a person who looks, the others for programs that look at the same time.
    Row(.providerChecks, "maxProviderChecks", .broker, 1...64, 4, .overloaded),
    Row(.trials, "maxProviderTrials", .broker, 1...64, 4, .overloaded),
    // More than a person answers in the time of one; the clients of each socket have half of them at most.
    Row(.consents, "maxConsentQuestions", .broker, 1...1024, 64, .consentDenied),
    // The largest bodies of all of them, both ways, are 64 MiB.
    Row(.requestsSent, "maxRequestsSent", .broker, 1...1024, 64, .overloaded),
  ]
}
