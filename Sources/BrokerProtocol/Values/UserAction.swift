public import JSONRPC

/// What a user has to do somewhere else before a login can go on.
///
/// None of it is a secret of the session: the address and the code are worth something only to whoever logs in with them.
public struct UserAction: Sendable, Equatable {
  /// Where it is done.
  public enum Kind: String, Sendable, CaseIterable {
    /// At any device, with a code (RFC 8628).
    case deviceCode
    /// In a browser on this computer (RFC 8252).
    case browser
  }

  /// The broker's handle of the login; any client allowed on the profile may wait for it or cancel it.
  public var loginFlowID: String
  /// The profile that logs in.
  public var profile: ProfileName
  /// Where it is done.
  public var kind: Kind
  /// The address to open.
  public var verificationURI: String
  /// The address with the code in it already, for a QR code (RFC 8628, section 3.3.1).
  public var verificationURIComplete: String?
  /// The code to type in.
  public var userCode: String?
  /// When the login ends if nothing is done.
  public var expiresAt: Timestamp
  /// How often the broker asks the provider; nil where it is told.
  public var interval: Duration?

  /// An action with everything that a client may know of it.
  public init(
    loginFlowID: String, profile: ProfileName, kind: Kind, verificationURI: String,
    verificationURIComplete: String? = nil, userCode: String? = nil, expiresAt: Timestamp, interval: Duration? = nil
  ) {
    self.loginFlowID = loginFlowID
    self.profile = profile
    self.kind = kind
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.userCode = userCode
    self.expiresAt = expiresAt
    self.interval = interval
  }
}

extension UserAction: JSONEncodable, JSONDecodable {
  /// Writes the action.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("loginFlowId", loginFlowID)
      writer.member("profile", profile)
      writer.member("kind", kind.rawValue)
      writer.member("verificationUri", verificationURI)
      writer.member(ifPresent: "verificationUriComplete", verificationURIComplete)
      writer.member(ifPresent: "userCode", userCode)
      writer.member("expiresAt", expiresAt)
      writer.seconds("intervalSeconds", interval)
    }
  }

  /// Reads an action.
  public init(from node: JSONNode) throws(JSONMismatch) {
    let kindNode = try node.required("kind")
    guard let kind = Kind(rawValue: try kindNode.string()) else { throw kindNode.mismatch("deviceCode or browser") }
    self.init(
      loginFlowID: try node.required("loginFlowId").string(),
      profile: try ProfileName(from: try node.required("profile")),
      kind: kind,
      verificationURI: try node.required("verificationUri").string(),
      verificationURIComplete: try node.optional("verificationUriComplete", String.init(from:)),
      userCode: try node.optional("userCode", String.init(from:)),
      expiresAt: try Timestamp(from: try node.required("expiresAt")),
      interval: try node.optional("intervalSeconds") { node throws(JSONMismatch) in try node.seconds() })
  }
}
