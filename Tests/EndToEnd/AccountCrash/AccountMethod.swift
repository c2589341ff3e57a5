/// What a client asks for while brokers are killed; its name on the wire.
enum AccountMethod: String, CaseIterable {
  case register, login, verifyOtp, verifyBackupCode, changePassword, forgotPassword, resetPassword
  case getAccessToken, generateBackupCodes

  /// What a client does with a session, in proportion; the rest follows from it.
  static let deck: [AccountMethod] = [
    .register, .login, .login, .getAccessToken, .getAccessToken, .changePassword, .changePassword, .forgotPassword,
    .generateBackupCodes,
  ]
}
