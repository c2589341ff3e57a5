public import JSONRPC
public import SecretMemory

/// Tells that a server refused a token, and gives the one to use instead.
public enum ReportRejected: BrokerMethod {
  /// The name on the wire.
  public static let name = "reportRejected"

  /// What the answer carries.
  public typealias Result = AccessToken

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["profile", "accessToken", "tokenId", "status", "scopes", "audience"]

    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The refused token.
    public var accessToken: Secret?
    /// Or its keyed hash.
    public var tokenID: String?
    /// The HTTP status of the refusal: 401 or 403.
    public var status: Int
    /// What the token was asked for with, where that was said: see ``GetAccessToken/Params/scopes``.
    public var scopes: [String]?
    /// Whom it was asked for, where that was said: see ``GetAccessToken/Params/audience``.
    public var audience: String?

    /// Params with the members that a caller gives.
    public init(
      profile: ProfileName? = nil, accessToken: Secret? = nil, tokenID: String? = nil, status: Int = 401,
      scopes: [String]? = nil, audience: String? = nil
    ) {
      self.profile = profile
      self.accessToken = accessToken
      self.tokenID = tokenID
      self.status = status
      self.scopes = scopes
      self.audience = audience
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member(ifPresent: "profile", profile)
        writer.member(revealing: "accessToken", accessToken)
        writer.member(ifPresent: "tokenId", tokenID)
        writer.member("status", status)
        writer.member(ifPresent: "scopes", scopes)
        writer.member(ifPresent: "audience", audience)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      profile = try node.optional("profile", ProfileName.init(from:))
      accessToken = try node.optional("accessToken") { node throws(JSONMismatch) in try node.token() }
      tokenID = try node.optional("tokenId") { node throws(JSONMismatch) in try node.word() }
      status = try node.optional("status", Int.init(from:)) ?? 401
      scopes = try node.optional("scopes", [String].init(from:))
      audience = try node.optional("audience", String.init(from:))
    }
  }
}
