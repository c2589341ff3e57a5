import BrokerProtocol
import JSON
import SecretMemory

extension Samples {
  /// The params of a method, with every member set.
  typealias FullParams = (method: any BrokerMethod.Type, params: any JSONEncodable & Sendable)

  private static func full<Method: BrokerMethod>(_ method: Method.Type, _ params: Method.Params) -> FullParams {
    (method, params)
  }

  /// The params of every method that takes any, with every member set.
  static func params() throws -> [FullParams] {
    let secret = try Self.secret("x")
    let profile = ProfileParams(profile: .default)
    return [
      full(Initialize.self, .init(client: .init(name: "e", version: "1"), protocolVersion: "1")),
      full(
        GetAccessToken.self,
        .init(
          profile: .default, url: "https://a.example", minValidity: .zero, scopes: ["a"], audience: "a", timeout: .zero,
          waitForLogin: true, forceRefresh: true)),
      full(
        ReportRejected.self,
        .init(profile: .default, accessToken: secret, tokenID: "t", scopes: ["a"], audience: "a")),
      full(
        Login.self,
        .init(
          profile: .default, method: "password", email: "e", password: secret, phoneNumber: "p", refreshToken: secret,
          scopes: [], clientContext: "c")),
      full(Register.self, .init(profile: .default, email: "e", password: secret, name: "n", phoneNumber: "p")),
      full(VerifyOTP.self, .init(otpFlowID: "f", code: secret)),
      full(ResendOTP.self, .init(otpFlowID: "f", channel: .email)),
      full(VerifyBackupCode.self, .init(otpFlowID: "f", backupCode: secret)),
      full(VerifyEmail.self, .init(profile: .default, token: secret)),
      full(ForgotPassword.self, .init(profile: .default, email: "e")),
      full(ResetPassword.self, .init(profile: .default, token: secret, password: secret)),
      full(ChangePassword.self, .init(profile: .default, oldPassword: secret, newPassword: secret)),
      full(UpdateProfile.self, .init(profile: .default, changes: changes)),
      full(GenerateBackupCodes.self, .init(profile: .default, password: secret)),
      full(DeleteAccount.self, .init(profile: .default, password: secret)),
      full(AwaitLogin.self, .init(loginFlowID: "f", timeout: .zero)),
      full(CancelLogin.self, .init(otpFlowID: "f", loginFlowID: "f")),
      full(ListPendingLogins.self, .init(profile: .default)), full(GetIDToken.self, profile),
      full(GetSession.self, profile),
      full(CheckProvider.self, profile), full(CheckProviders.self, .init(profile: .default)),
      full(Reauthenticate.self, .init(profile: .default, password: secret)),
      full(Logout.self, .init(profile: .default)), full(Unsubscribe.self, .init(subscriptionID: "s")),
      full(Subscribe.self, .init(events: ["login"], profiles: [.default], since: 1)),
      full(ListTargets.self, .init(url: "https://example.com")),
      full(GetCurrentUser.self, .init(profile: .default)),
      full(Unlock.self, .init(passphrase: secret)),
      full(Rekey.self, .init(keySource: .command, passphrase: secret, newPassphrase: secret)),
      full(CheckVault.self, .init(isFull: true)),
      full(StopBroker.self, .init(discardsUnsaved: true, isImmediate: true)),
      full(
        TryProvider.self,
        .init(
          profile: .default, method: "password", email: "a@b", password: secret, phoneNumber: "p", refreshToken: secret,
          triesWrongPassword: true, replaysToken: true)),
      full(
        ContinueTrial.self,
        .init(trialID: "t", code: secret, backupCode: secret, resends: true, stops: true, timeout: .zero)),
    ] + ownersParams(secret)
  }

  /// The same of the methods of the embedded provider's owner.
  private static func ownersParams(_ secret: Secret) -> [FullParams] {
    [
      full(AddLocalUser.self, .init(email: "e", password: secret, name: "n", phoneNumber: "p")),
      full(SetLocalUserEnabled.self, .init(user: "u", isEnabled: true)), full(DeleteLocalUser.self, .init(user: "u")),
      full(ResetLocalUser.self, .init(user: "u", password: secret, removesSecondFactor: true)),
      full(ListLocalSessions.self, .init(user: "u")),
      full(RevokeLocalSessions.self, .init(user: "u", session: "s", all: true)),
      full(IntrospectLocalToken.self, .init(token: secret)), full(ListLocalAudit.self, .init(since: 1, limit: 2)),
    ]
  }
}
