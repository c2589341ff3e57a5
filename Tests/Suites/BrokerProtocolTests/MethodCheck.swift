import BrokerProtocol
import JSONRPC

/// One method with its types erased, so that tables can hold them all.
struct MethodCheck: Sendable {
  let name: String
  /// Decodes params and encodes them again.
  let roundTripParams: @Sendable (JSONNode) throws -> JSONDocument
  /// Decodes a result and encodes it again.
  let roundTripResult: @Sendable (JSONNode) throws -> JSONDocument

  init<Method: BrokerMethod>(_ method: Method.Type) {
    name = method.name
    roundTripParams = { node in try Method.Params(from: node).encoded() }
    roundTripResult = { node in try Method.Result(from: node).encoded() }
  }

  /// All methods of this version, in the order in which they are documented.
  static let all: [MethodCheck] = [
    MethodCheck(Initialize.self), MethodCheck(Ping.self), MethodCheck(Discover.self), MethodCheck(Shutdown.self),
    MethodCheck(Register.self), MethodCheck(Login.self), MethodCheck(VerifyOTP.self), MethodCheck(ResendOTP.self),
    MethodCheck(GetAccessToken.self), MethodCheck(ReportRejected.self), MethodCheck(GetIDToken.self),
    MethodCheck(GetSession.self),
    MethodCheck(ListSessions.self), MethodCheck(GetCurrentUser.self),
    MethodCheck(VerifyBackupCode.self), MethodCheck(VerifyEmail.self), MethodCheck(ForgotPassword.self),
    MethodCheck(ResetPassword.self), MethodCheck(UpdateProfile.self), MethodCheck(ChangePassword.self),
    MethodCheck(DeleteAccount.self), MethodCheck(AwaitLogin.self), MethodCheck(CancelLogin.self),
    MethodCheck(ListPendingLogins.self), MethodCheck(Reauthenticate.self), MethodCheck(Logout.self),
    MethodCheck(Subscribe.self), MethodCheck(Unsubscribe.self), MethodCheck(GetStatus.self),
    MethodCheck(Prove.self), MethodCheck(ReloadConfiguration.self), MethodCheck(Lock.self), MethodCheck(Unlock.self),
    MethodCheck(Rekey.self),
    MethodCheck(CheckVault.self), MethodCheck(CheckProviders.self), MethodCheck(CheckProvider.self),
    MethodCheck(TryProvider.self), MethodCheck(ContinueTrial.self), MethodCheck(StopBroker.self),
  ]
}

extension JSONEncodable {
  /// The value as it stands on the wire.
  func encoded() throws(JSONError) -> JSONDocument {
    var writer = JSONWriter()
    encode(to: &writer)
    return try JSONDocument(parsing: writer.bytes)
  }
}

extension JSONDocument {
  /// Parses the UTF-8 of a text.
  init(_ text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}
