import BrokerCore
import BrokerProtocol
import LinuxSystem
import SQLite

/// Messages to accounts: the one way out for codes, tokens and notices.
extension LocalProvider {
  /// A message with its number, which is durable when the transaction is that has given it.
  struct NumberedMessage {
    /// The message.
    let message: OutboundMessage
    /// Names the message and its file.
    let number: Int64
    /// The messages in whose place it comes.
    let replaced: [Int64]
  }

  /// A message that no file was written for: it goes by a channel.
  struct Dispatch {
    /// The message.
    let message: OutboundMessage
    /// Names the message.
    let number: Int64
    /// The channel that sends it.
    let channel: any MessageChannel
  }

  /// Sends a message in place of the last one of its purpose, without waiting for its delivery.
  ///
  /// It begins a transaction of its own.
  ///
  /// - Parameters:
  ///   - content: what it says.
  ///   - account: who gets it.
  ///   - method: how.
  ///   - purpose: what it is for.
  ///   - expiresAt: when it is of no more use.
  ///   - database: the provider's tables.
  ///   - now: when it is sent.
  /// - Throws: `.refused` with `validationFailed` where the account has no such address; what the database and the file
  ///   system say.
  func send(
    _ content: MessageContent, to account: Account, by method: OTPChallenge.Method, purpose: MessagePurpose,
    expiresAt: Timestamp, _ database: LocalDatabase, at now: Timestamp
  ) throws {
    let numbered = try database.connection.transaction {
      try number(content, to: account, by: method, purpose: purpose, expiresAt: expiresAt, database, at: now)
    }
    try post(numbered, database)
  }

  /// Sends a message that has its number, durably, without waiting for its delivery.
  ///
  /// - Throws: `Errno`, `SQLiteError`.
  func post(_ numbered: NumberedMessage, _ database: LocalDatabase) throws {
    guard let dispatch = try release(numbered, database) else { return }
    delivery.post(dispatch.message, number: dispatch.number, by: dispatch.channel)
  }

  /// How long a message to an account has to wait; nil where it may be sent now.
  ///
  /// - Throws: `SQLiteError`.
  func messageWait(
    _ purpose: MessagePurpose, to account: Account, by method: OTPChallenge.Method, _ database: LocalDatabase,
    at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    let message = CountedMessage(purpose, to: account.id, account.destination(method), database.fingerprint)
    return try database.sentCodes.wait(for: message, configuration.messageLimits, at: now)
  }

  /// Refuses a message to an account, or to an address, that was sent as many as it may be.
  ///
  /// - Throws: `ProviderFailure.refused` with `rateLimited` and the time to wait; `SQLiteError`.
  func requireRoom(
    for purpose: MessagePurpose, to account: Account, by method: OTPChallenge.Method, _ database: LocalDatabase,
    at now: Timestamp
  ) throws {
    guard let wait = try messageWait(purpose, to: account, by: method, database, at: now) else { return }
    throw ProviderFailure.refused(.rateLimited, retryAfter: wait)
  }

  /// Counts a message for ``MessageLimits`` and gives it its number; part of a transaction, after which `release` or `post`
  /// sends it.
  ///
  /// What it replaces expires, since its code is worth nothing any more; its file goes after the transaction. A notice
  /// replaces no other.
  ///
  /// - Throws: as ``send(_:to:by:purpose:expiresAt:_:at:)``.
  func number(
    _ content: MessageContent, to account: Account, by method: OTPChallenge.Method, purpose: MessagePurpose,
    expiresAt: Timestamp, _ database: LocalDatabase, at now: Timestamp
  ) throws -> NumberedMessage {
    guard let destination = account.destination(method) else {
      throw ProviderFailure.refused(.validationFailed, fields: ["phoneNumber"])
    }
    let counted = CountedMessage(purpose, to: account.id, destination, database.fingerprint)
    try database.sentCodes.record(counted, at: now)
    let replaced = purpose == .notice ? [] : try database.messages.numbers(account: account.id, purpose)
    try database.messages.expire(replaced)
    let number = try database.messages.insert(account: account.id, purpose, expiresAt: expiresAt)
    let message = try OutboundMessage(
      content, to: destination.address, by: method, at: now, wording: configuration.wording,
      domain: configuration.otp.domain)
    return NumberedMessage(message: message, number: number, replaced: replaced)
  }

  /// Withdraws what a message replaces, with its file, and writes the message's own where it goes by no channel.
  ///
  /// The rows of both are removed when they have expired: a file that a process which is killed here leaves goes with them.
  ///
  /// - Returns: what is still to be given to its channel; nil for a message in the outbox.
  /// - Throws: `Errno`, `SQLiteError`.
  func release(_ numbered: NumberedMessage, _ database: LocalDatabase) throws -> Dispatch? {
    delivery.withdraw(numbered.replaced)
    defer { removeMessagesAtExpiry() }
    for number in numbered.replaced { try database.files.outbox.remove(number) }
    let (message, number) = (numbered.message, numbered.number)
    guard let channel = delivery.channel(for: message.method) else {
      try database.files.outbox.write(message, number: number)
      return nil
    }
    return Dispatch(message: message, number: number, channel: channel)
  }

  /// Gives a message to its channel, and waits for the end of the first try, or a few seconds; later ones go on without
  /// the caller.
  ///
  /// - Returns: why the first try has failed; nil where it has not, as far as is known.
  func deliver(_ dispatch: Dispatch?) async -> DeliveryFailure? {
    guard let dispatch else { return nil }
    return await delivery.send(dispatch.message, number: dispatch.number, by: dispatch.channel).failure
  }

  /// Removes messages of one purpose that are worthless by now: a failure changes no answer, and is made up for when they
  /// expire.
  func removeMessages(of account: String, _ purpose: MessagePurpose, _ database: LocalDatabase) {
    guard let numbers = try? database.messages.numbers(account: account, purpose) else { return }
    delivery.withdraw(numbers)
    try? database.removeMessages(numbers)
  }

  /// Removes each message when its code expires, also where no call comes.
  func removeMessagesAtExpiry() {
    guard !isSweeping else { return }
    isSweeping = true
    sweep()
  }

  private func sweep() {
    guard isSweeping else { return }
    guard let rest = removeExpiredMessages() else {
      isSweeping = false
      return
    }
    // Without a thread the next call of the provider begins again.
    isSweeping = worker.schedule(after: rest) { [weak self] in self?.assumeIsolated { $0.sweep() } }
  }
}
