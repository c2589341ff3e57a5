import BrokerProtocol
import ProviderKit

/// The meanings of backends' error names, however they spell them.
enum RefusalCode {
  /// The longest name that is examined.
  private static let longest = 256

  /// The meaning of a name; nil where it has no usual one.
  ///
  /// `invalid_credentials`, `InvalidCredentials` and `https://api.example.com/problems/invalid-credentials` are the
  /// same name.
  static func kind(_ name: String) -> ErrorKind? {
    guard name.utf8.count <= longest else { return nil }
    let word = name.split(whereSeparator: { "/:#".contains($0) }).last ?? ""
    return kinds[RefusalWords.letters(String(word))]
  }

  /// Whether a name means that the client itself was refused (RFC 6749, section 5.2), which no login can fix.
  static func isClientError(_ name: String) -> Bool { kind(name) == .providerRejected }

  /// Whether a name says that a refresh token is good no more (RFC 6749, section 5.2), however it is spelt.
  static func isGrantError(_ name: String) -> Bool {
    ["invalidgrant", "badrefreshtoken", "invalidrefreshtoken", "refreshtokeninvalid", "tokennotvalid"].contains(
      RefusalWords.letters(name))
  }

  private static let kinds: [String: ErrorKind] = {
    let names: [ErrorKind: [String]] = [
      .invalidCredentials: [
        "invalidcredentials", "badcredentials", "wrongcredentials", "invalidpassword", "wrongpassword",
        "incorrectpassword", "invalidlogin", "invalidlogincredentials", "authenticationfailed", "loginfailed",
        "usernotfound", "emailnotfound", "invalidgrant",
      ],
      .loginRequired: ["invalidtoken", "tokenexpired", "expiredtoken", "loginrequired"],
      .otpInvalid: ["otpinvalid", "invalidotp", "invalidcode", "wrongcode", "codeinvalid", "incorrectcode"],
      .otpExpired: ["otpexpired", "expiredotp", "codeexpired", "expiredcode"],
      .flowNotFound: ["flownotfound", "invalidflow", "unknownflow", "flowexpired", "sessionnotfound"],
      .backupCodeInvalid: ["backupcodeinvalid", "invalidbackupcode", "backupcodeused", "invalidrecoverycode"],
      .resendTooSoon: ["resendtoosoon", "toosoon", "resendcooldown"],
      .tooManyAttempts: ["toomanyattempts", "attemptsexceeded", "maxattemptsexceeded"],
      .accountLocked: [
        "accountlocked", "userlocked", "locked", "accountdisabled", "userdisabled", "accountsuspended",
        "passwordexpired",
      ],
      .emailUnverified: ["emailunverified", "emailnotverified", "unverifiedemail", "emailverificationrequired"],
      .emailTaken: [
        "emailtaken", "emailexists", "emailalreadyexists", "emailinuse", "emailalreadyinuse", "userexists",
        "useralreadyexists", "accountexists",
      ],
      .validationFailed: [
        "validationfailed", "validationerror", "invalidinput", "weakpassword", "passwordtooweak", "passwordtooshort",
      ],
      .captchaRequired: [
        "captcharequired", "captchaneeded", "recaptcharequired", "captcha", "captchafailed", "captchainvalid",
      ],
      .providerUnavailable: [
        "temporarilyunavailable", "serviceunavailable", "servererror", "internalservererror", "internalerror",
        "serverbusy", "maintenance", "maintenancemode", "databaseunavailable",
      ],
      .rateLimited: ["ratelimited", "ratelimitexceeded", "toomanyrequests"],
      .insufficientScope: ["insufficientscope"],
      .providerRejected: ["invalidclient", "unauthorizedclient"],
    ]
    return Dictionary(uniqueKeysWithValues: names.flatMap { kind, names in names.map { ($0, kind) } })
  }()
}
