public import JSONRPC
public import SecretMemory

/// Answers a challenge with one of the backup codes instead of the one-time code.
public enum VerifyBackupCode: BrokerMethod {
  /// The name on the wire.
  public static let name = "verifyBackupCode"

  /// What a request carries.
  public struct Params: MethodParams, Equatable {
    /// The names of all parameters.
    public static let memberNames = ["otpFlowId", "backupCode"]

    /// The challenge's handle.
    public var otpFlowID: String
    /// The backup code; each works once.
    public var backupCode: Secret

    /// Params with the members that a caller gives.
    public init(otpFlowID: String, backupCode: Secret) {
      self.otpFlowID = otpFlowID
      self.backupCode = backupCode
    }

    /// Writes the members that are set.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("otpFlowId", otpFlowID)
        writer.member(revealing: "backupCode", backupCode)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      otpFlowID = try node.required("otpFlowId").word()
      backupCode = try node.required("backupCode").secret()
    }
  }

  /// What the answer carries.
  public struct Result: JSONEncodable, JSONDecodable, Sendable, Equatable {
    /// How far the login came.
    public var login: LoginResult
    /// How many backup codes are left, where the provider says so.
    public var backupCodesRemaining: Int?

    /// A result with its members.
    public init(login: LoginResult, backupCodesRemaining: Int?) {
      self.login = login
      self.backupCodesRemaining = backupCodesRemaining
    }

    /// Writes the login's members, and the rest beside them.
    public func encode(to writer: inout JSONWriter) {
      writer.object { writer in
        login.encodeMembers(to: &writer)
        writer.member(ifPresent: "backupCodesRemaining", backupCodesRemaining)
      }
    }

    /// Reads the members.
    public init(from node: JSONNode) throws(JSONMismatch) {
      login = try LoginResult(from: node)
      backupCodesRemaining = try node.optional("backupCodesRemaining", Int.init(from:))
    }
  }
}
