#if !hasFeature(Embedded)
public import BrokerProtocol
public import SecretMemory

/// The methods about an account.
extension BrokerClient {
  /// Changes what the provider knows of the account.
  ///
  /// A second factor that must be proven first comes as an enrolment: show the URI of an application as a QR code, or say
  /// where the code was sent, and confirm it with
  /// ``confirm(_:code:)``.
  ///
  /// - Throws: `broker` with `reauthRequired` where an e-mail address, a phone number or a second factor changes and the
  ///   user has not proved lately who they are: ``reauthenticate(password:profile:)``.
  public func updateProfile(
    _ changes: ProfileChanges, profile: ProfileName? = nil
  ) async throws -> UpdateProfile.Result {
    try await call(UpdateProfile.self, .init(profile: try .meant(profile), changes: changes))
  }

  /// Confirms the enrolment of a second factor with its first code.
  public func confirm(_ enrolment: FactorEnrolment, code: Secret) async throws -> LoginResult {
    try await call(VerifyOTP.self, .init(otpFlowID: enrolment.otpFlowID, code: code))
  }

  /// Answers a challenge with a backup code instead of the one-time code.
  public func verifyBackupCode(
    _ challenge: OTPChallenge, code: Secret
  ) async throws -> VerifyBackupCode.Result {
    try await call(VerifyBackupCode.self, .init(otpFlowID: challenge.otpFlowID, backupCode: code))
  }

  /// Makes new backup codes; the earlier ones end, and these are told once.
  public func generateBackupCodes(
    password: Secret, profile: ProfileName? = nil
  ) async throws -> [Secret] {
    try await call(GenerateBackupCodes.self, .init(profile: try .meant(profile), password: password)).backupCodes
  }
}
#endif
