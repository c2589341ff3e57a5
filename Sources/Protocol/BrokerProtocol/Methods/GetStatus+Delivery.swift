public import JSON

extension GetStatus {
  /// The counts of one channel for messages since the start: nothing of a message, a recipient or a code.
  public struct Delivery: ObjectCodable, Equatable {
    /// The way, as `local.delivery.channel` in the configuration.
    public var channel: String
    /// Messages that were sent.
    public var sent: Int
    /// Messages that were given up.
    public var failed: Int
    /// Messages that are being sent.
    public var underWay: Int
    /// Why the last try failed; absent where it succeeded.
    ///
    /// No message, recipient or code is in it.
    public var lastFailure: String?
    /// When that was.
    public var lastFailureAt: Timestamp?

    public init(
      channel: String, sent: Int, failed: Int, underWay: Int, lastFailure: String? = nil,
      lastFailureAt: Timestamp? = nil
    ) {
      self.channel = channel
      self.sent = sent
      self.failed = failed
      self.underWay = underWay
      self.lastFailure = lastFailure
      self.lastFailureAt = lastFailureAt
    }

    public static let blank = Delivery(channel: "", sent: 0, failed: 0, underWay: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("channel", &channel)
      try coder.required("sent", &sent, .count)
      try coder.required("failed", &failed, .count)
      try coder.required("underWay", &underWay, .count)
      try coder.optional("lastFailure", &lastFailure)
      try coder.optional("lastFailureAt", &lastFailureAt)
    }
  }
}
