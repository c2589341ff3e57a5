import BrokerProtocol

/// A login that waits for its one-time code.
struct OTPFlow {
  /// The fingerprint of its handle, which only the caller has.
  var handle: [UInt8]
  /// The account that logs in.
  var account: String
  /// The requested scopes, joined by spaces.
  var scopes: String
  /// The way in which the code reaches the user.
  var method: OTPChallenge.Method
  /// The fingerprint of the code, bound to the handle; empty where an authenticator app makes the codes.
  var code: [UInt8] = []
  /// How many digits the code has.
  var codeLength = 0
  /// Codes that were compared, over all codes that were sent, backup codes included.
  var attempts = 0
  /// Codes that were sent.
  var sends = 1
  /// When the code expires.
  var expiresAt: Timestamp
  /// When another code may be asked for.
  var resendAt: Timestamp
}
