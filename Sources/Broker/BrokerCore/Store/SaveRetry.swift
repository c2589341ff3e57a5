import BrokerProtocol

/// A record that could not be saved, and is tried again.
struct SaveRetry {
  /// The record.
  let record: SessionRecord
  /// What is told once it is durable.
  let events: [EventPayload]
  /// How often it failed.
  let failures: Int
  /// The next try; nil while one is under way.
  var timer: TimerCancellation?
}
