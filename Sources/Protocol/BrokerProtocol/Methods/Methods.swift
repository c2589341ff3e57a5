// Embedded Swift has no existential metatypes; the client program, which alone is compiled so, calls methods by their types.
#if !hasFeature(Embedded)
/// The methods of this version.
public enum Methods {
  /// Every method, in the order in which `initialize` and the OpenRPC document list them.
  public static let all: [any BrokerMethod.Type] = [
    Initialize.self, Ping.self, Discover.self, Shutdown.self,
    GetAccessToken.self, ReportRejected.self, GetIDToken.self,
    Login.self, VerifyOTP.self, ResendOTP.self, Register.self, VerifyBackupCode.self, VerifyEmail.self,
    ForgotPassword.self, ResetPassword.self, ChangePassword.self, UpdateProfile.self, GenerateBackupCodes.self,
    DeleteAccount.self,
    AwaitLogin.self, CancelLogin.self, ListPendingLogins.self, Reauthenticate.self, Logout.self,
    GetCurrentUser.self, GetSession.self, ListSessions.self, ListTargets.self, Subscribe.self, Unsubscribe.self,
    GetStatus.self, Prove.self, ReloadConfiguration.self, Lock.self, Unlock.self, Rekey.self, CheckVault.self,
    CheckProviders.self, CheckProvider.self, TryProvider.self, ContinueTrial.self, StopBroker.self,
    ListLocalUsers.self, AddLocalUser.self, SetLocalUserEnabled.self, ResetLocalUser.self, DeleteLocalUser.self,
    ListLocalSessions.self, RevokeLocalSessions.self,
    ListLocalMessages.self, GetLocalKeySet.self, RotateLocalSigningKey.self, IntrospectLocalToken.self,
    ListLocalAudit.self,
  ]
}
#endif
