/// What not every provider can do; named as the methods that need it.
package enum ProviderAbility: String, Sendable, CaseIterable {
  case register, verifyEmail, forgotPassword, resetPassword, getCurrentUser, updateProfile, changePassword
  case deleteAccount, resendOtp, verifyBackupCode, generateBackupCodes, awaitLogin
}
