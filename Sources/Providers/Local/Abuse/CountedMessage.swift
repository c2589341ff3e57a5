import BrokerProtocol

/// A message as it counts for ``MessageLimits``.
struct CountedMessage {
  /// The account that gets it.
  var account: String
  /// The fingerprint of where it goes; nil where it counts for the account alone.
  var destination: [UInt8]?
  /// The group that it counts in.
  var share: MessageLimits.Share

  /// A message of a purpose to an account; `destination` is nil where nothing can be sent.
  ///
  /// Messages to a verified address count for the account alone. So do notices and tokens for forgotten passwords: what
  /// was sent to others keeps none of them from its owner.
  init(_ purpose: MessagePurpose, to account: String, _ destination: MessageDestination?, _ fingerprint: Fingerprint) {
    let isShared = purpose.share == .other && destination?.isVerified == false
    self.account = account
    self.destination = isShared ? destination.map { fingerprint.of($0.address, .destination) } : nil
    share = purpose.share
  }
}
