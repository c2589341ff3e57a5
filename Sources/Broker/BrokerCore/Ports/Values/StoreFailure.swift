package import BrokerProtocol

/// Why the store could not do its work.
package enum StoreFailure: Error, Sendable, Equatable {
  /// The file system refused; `context` names the operation, never a value.
  case failed(context: String)
  /// What is there is not what was written.
  case tampered(profile: ProfileName?)
  /// A record with the same or a newer generation is there: the write came too late.
  case superseded
  /// The key is not there.
  case locked
}
