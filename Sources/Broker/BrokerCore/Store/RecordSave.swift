import BrokerProtocol

/// A record on its way to the store, and what goes with it.
struct RecordSave: Sendable {
  /// The record.
  let record: SessionRecord
  /// What is told once it is durable.
  let events: [EventPayload]
  /// The revocations that are made durable with it.
  let revocations: [PendingRevocation.ID]
  /// Whether the record of a pending login goes with it.
  let closesLogin: Bool
}
