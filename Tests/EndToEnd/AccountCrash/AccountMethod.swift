/// What a client asks for while brokers are killed; its name on the wire.
enum AccountMethod: String, CaseIterable {
  case register, login, verifyOtp, verifyBackupCode, changePassword, forgotPassword, resetPassword
  case getAccessToken, generateBackupCodes

  /// What a client does first with a session, the last one first: backup codes, and a login that takes one.
  static let firstDeck: [AccountMethod] = [.login, .generateBackupCodes]
  /// What it does then, in proportion and in any order; all else follows from it.
  static let deck: [AccountMethod] = [
    .register, .login, .login, .login, .login, .getAccessToken, .getAccessToken, .getAccessToken, .changePassword,
    .changePassword, .changePassword, .forgotPassword, .forgotPassword, .generateBackupCodes, .generateBackupCodes,
    .generateBackupCodes,
  ]
}
