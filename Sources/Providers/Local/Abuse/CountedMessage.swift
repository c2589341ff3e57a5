import BrokerProtocol

/// A message as it counts for ``MessageLimits``.
struct CountedMessage {
  /// Who gets it.
  var account: String
  /// The fingerprint of where it goes; nil where that address was verified, so that it counts for the account alone.
  var destination: [UInt8]?
  /// What it is counted with.
  var share: MessageLimits.Share

  /// A message of a purpose to an account; `destination` is nil where nothing can be sent.
  init(_ purpose: MessagePurpose, to account: String, _ destination: MessageDestination?, _ fingerprint: Fingerprint) {
    self.account = account
    self.destination = destination.flatMap { $0.isVerified ? nil : fingerprint.of($0.address, .destination) }
    share = purpose.share
  }
}
