public import JSONRPC

/// A one-time code that a login waits for.
public struct OTPChallenge: Sendable, Equatable {
  /// How the code reaches the user.
  public enum Method: String, Sendable, CaseIterable {
    /// A text message.
    case sms
    /// An e-mail.
    case email
    /// An authenticator application (RFC 6238).
    case totp
  }

  /// The broker's handle of the login; any client allowed on the profile may answer it.
  public var otpFlowID: String
  /// The profile that logs in.
  public var profile: ProfileName
  /// How the code reaches the user.
  public var method: Method
  /// Where the code went, masked.
  public var maskedDestination: String
  /// How many digits the code has.
  public var otpLength: Int
  /// When the code ends.
  public var expiresAt: Timestamp
  /// When another code may be asked for.
  public var nextResendAt: Timestamp
  /// How many more wrong codes are accepted.
  public var attemptsRemaining: Int
  /// Whether a backup code may stand in for the code.
  public var backupCodesAllowed: Bool

  /// A challenge with everything that a client may know of it.
  public init(
    otpFlowID: String, profile: ProfileName, method: Method, maskedDestination: String, otpLength: Int,
    expiresAt: Timestamp, nextResendAt: Timestamp, attemptsRemaining: Int, backupCodesAllowed: Bool
  ) {
    self.otpFlowID = otpFlowID
    self.profile = profile
    self.method = method
    self.maskedDestination = maskedDestination
    self.otpLength = otpLength
    self.expiresAt = expiresAt
    self.nextResendAt = nextResendAt
    self.attemptsRemaining = attemptsRemaining
    self.backupCodesAllowed = backupCodesAllowed
  }
}

extension OTPChallenge: JSONEncodable, JSONDecodable {
  /// Writes the challenge.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("otpFlowId", otpFlowID)
      writer.member("profile", profile)
      writer.member("method", method.rawValue)
      writer.member("maskedDestination", maskedDestination)
      writer.member("otpLength", otpLength)
      writer.member("expiresAt", expiresAt)
      writer.member("nextResendAt", nextResendAt)
      writer.member("attemptsRemaining", attemptsRemaining)
      writer.member("backupCodesAllowed", backupCodesAllowed)
    }
  }

  /// Reads a challenge.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let methodNode = try node.required("method")
    guard let method = Method(rawValue: try methodNode.string()) else { throw methodNode.mismatch("a known method") }
    self.init(
      otpFlowID: try node.required("otpFlowId").string(),
      profile: try ProfileName(from: try node.required("profile")),
      method: method,
      maskedDestination: try node.required("maskedDestination").string(),
      otpLength: try Int(from: try node.required("otpLength")),
      expiresAt: try Timestamp(from: try node.required("expiresAt")),
      nextResendAt: try Timestamp(from: try node.required("nextResendAt")),
      attemptsRemaining: try Int(from: try node.required("attemptsRemaining")),
      backupCodesAllowed: try node.required("backupCodesAllowed").bool())
  }
}
