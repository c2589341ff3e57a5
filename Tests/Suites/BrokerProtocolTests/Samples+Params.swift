import BrokerProtocol
import JSONRPC
import SecretMemory

extension Samples {
  /// The params of every method, with every member set.
  static func params() throws -> [(method: String, params: any JSONEncodable & Sendable)] {
    let secret = try Self.secret("x")
    return [
      ("initialize", Initialize.Params(client: .init(name: "e", version: "1"), protocolVersion: "1")),
      (
        "getAccessToken",
        GetAccessToken.Params(
          profile: .default, minValidity: .zero, scopes: ["a"], audience: "a", timeout: .zero, waitForLogin: true,
          forceRefresh: true)
      ),
      (
        "reportRejected",
        ReportRejected.Params(
          profile: .default, accessToken: secret, tokenID: "t", scopes: ["a"], audience: "a")
      ),
      (
        "login",
        Login.Params(
          profile: .default, method: "password", email: "e", password: secret, phoneNumber: "p", refreshToken: secret,
          scopes: [])
      ),
      ("register", Register.Params(profile: .default, email: "e", password: secret, name: "n", phoneNumber: "p")),
      ("verifyOtp", VerifyOTP.Params(otpFlowID: "f", code: secret)), ("resendOtp", ResendOTP.Params(otpFlowID: "f")),
      ("verifyBackupCode", VerifyBackupCode.Params(otpFlowID: "f", backupCode: secret)),
      ("verifyEmail", VerifyEmail.Params(profile: .default, token: secret)),
      ("forgotPassword", ForgotPassword.Params(profile: .default, email: "e")),
      ("resetPassword", ResetPassword.Params(profile: .default, token: secret, password: secret)),
      ("changePassword", ChangePassword.Params(profile: .default, oldPassword: secret, newPassword: secret)),
      ("updateProfile", UpdateProfile.Params(profile: .default, changes: changes)),
      ("deleteAccount", DeleteAccount.Params(profile: .default, password: secret)),
      ("awaitLogin", AwaitLogin.Params(loginFlowID: "f", timeout: .zero)),
      ("cancelLogin", CancelLogin.Params(otpFlowID: "f", loginFlowID: "f")),
      ("listPendingLogins", ProfileParams(profile: .default)),
      ("reauthenticate", Reauthenticate.Params(profile: .default, password: secret)),
      ("logout", Logout.Params(profile: .default)), ("unsubscribe", Unsubscribe.Params(subscriptionID: "s")),
      ("subscribe", Subscribe.Params(events: ["login"], profiles: [.default], since: 1)),
      ("getIdToken", ProfileParams(profile: .default)), ("getSession", ProfileParams(profile: .default)),
      ("getCurrentUser", GetCurrentUser.Params(profile: .default)),
      ("ping", Empty()), ("rpc.discover", Empty()), ("shutdown", Empty()), ("listSessions", Empty()),
      ("getStatus", Empty()), ("reloadConfig", Empty()), ("stopBroker", Empty()), ("prove", Empty()), ("lock", Empty()),
      ("unlock", Unlock.Params(passphrase: secret)),
      ("rekey", Rekey.Params(keySource: .command, passphrase: secret, newPassphrase: secret)),
      ("checkVault", CheckVault.Params(isFull: true)), ("checkProviders", CheckProviders.Params(profile: .default)),
      ("checkProvider", ProfileParams(profile: .default)),
      (
        "tryProvider",
        TryProvider.Params(
          profile: .default, method: "password", email: "a@b", password: secret, refreshToken: secret,
          triesWrongPassword: true, replaysToken: true)
      ),
      (
        "continueTrial",
        ContinueTrial.Params(
          trialID: "t", code: secret, backupCode: secret, resends: true, stops: true, timeout: .zero)
      ),
    ]
  }
}
