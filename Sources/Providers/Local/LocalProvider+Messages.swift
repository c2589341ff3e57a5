import BrokerCore
import BrokerProtocol
import LinuxSystem
import SQLite

/// Messages to users.
extension LocalProvider {
  /// Sends a message to an account in place of the earlier ones of its purpose.
  ///
  /// It counts for ``MessageLimits``, but for a notice: what was done is told however much was sent before.
  ///
  /// - Throws: what the database and the outbox say.
  func send(
    _ content: MessageContent, to account: Account, by method: OTPChallenge.Method, purpose: MessagePurpose,
    expiresAt: Timestamp, _ database: LocalDatabase, at now: Timestamp
  ) throws {
    let recipient = method == .sms ? account.phone?.text : account.email
    guard let recipient else { throw ProviderFailure.refused(.providerRejected) }
    let replaced = purpose == .notice ? [] : try database.messages.numbers(account: account.id, purpose)
    let number = try database.connection.transaction {
      if purpose != .notice { try database.sentCodes.record(account.id, at: now) }
      return try database.messages.insert(account: account.id, purpose, expiresAt: expiresAt)
    }
    delivery.withdraw(replaced)
    try database.removeMessages(replaced)
    let message = try OutboundMessage(content, to: recipient, by: method, at: now)
    removeMessagesAtExpiry()
    if let channel = delivery.channel(for: method) {
      delivery.post(message, number: number, by: channel)
    } else {
      try database.files.outbox.write(message, number: number)
    }
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

  /// Removes an account's messages of a purpose that are worthless by now: a failure changes no answer, and is made up for
  /// when they expire.
  func removeMessages(of account: String, _ purpose: MessagePurpose, _ database: LocalDatabase) {
    guard let numbers = try? database.messages.numbers(account: account, purpose) else { return }
    delivery.withdraw(numbers)
    try? database.removeMessages(numbers)
  }
}
