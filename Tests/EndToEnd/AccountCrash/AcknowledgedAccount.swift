import JSON
import TestSupport

/// One account, as far as its client was told of it, and what may therefore be found after a kill.
struct AcknowledgedAccount {
  let email: String
  /// Where its codes go; nil for one without a second factor.
  let phoneNumber: String?
  /// Whether a code has come back from the number, so that logins ask for one; nil where that answer was cut off.
  private(set) var isProven: Bool? = false
  /// Whether it is there for sure; else its registration was cut off.
  var exists = false
  /// Whether anything was asked about it since it was last examined.
  var isTouched = false
  /// One of these is right: the one that was acknowledged last, then the one that a change was to set which was cut off.
  private(set) var passwords: [String]
  /// Backup codes that work.
  private(set) var backupCodes: [String] = []
  /// Backup codes that were used, or replaced by others.
  private var spentCodes: [String] = []

  init(email: String, phoneNumber: String?, password: String) {
    self.email = email
    self.phoneNumber = phoneNumber
    passwords = [password]
  }

  /// The password, where no change is in doubt.
  var password: String { passwords[0] }

  /// The members of a request that log in to it.
  var credentials: String { credentials(password) }

  private func credentials(_ password: String) -> String { #""email":"\#(email)","password":"\#(password)""# }

  // MARK: What was acknowledged, and what was cut off

  /// A code was given, or an answer to one was cut off: a code that is right proves the number.
  mutating func notePhone(isProven: Bool?) {
    guard phoneNumber != nil, self.isProven != true else { return }
    self.isProven = isProven
  }

  mutating func setPassword(_ password: String) { passwords = [password] }

  /// A change of the password was cut off.
  mutating func doubtPassword(_ password: String) { passwords.append(password) }

  /// New backup codes end the ones before.
  mutating func replaceBackupCodes(_ codes: [String]) {
    spentCodes += backupCodes
    backupCodes = codes
  }

  mutating func spend(_ code: String) {
    doubtBackupCode(code)
    spentCodes.append(code)
  }

  /// The use of a backup code was cut off.
  mutating func doubtBackupCode(_ code: String) { backupCodes.removeAll { $0 == code } }

  /// The replacement of the backup codes was cut off.
  mutating func doubtBackupCodes() { backupCodes = [] }

  // MARK: What is found

  /// Logs in with what was acknowledged; a used backup code is refused on the way.
  ///
  /// A completed login clears the count of wrong passwords and codes, of which there are two at most, so that none has to wait.
  mutating func examine(_ wire: SocketWire, outbox: String, _ random: inout SeededGenerator) throws {
    isTouched = false
    let result = try logIn(wire)
    let isAsked = try result.required("status").string() != "authenticated"
    try expect(isProven == nil || isProven == isAsked, isAsked ? "asked for a code" : "asked for no code")
    guard isAsked, let phoneNumber else { return notePhone(isProven: false) }
    let flow = try result.required("challenge").required("otpFlowId").string()
    if let code = spentCodes.randomElement(using: &random) {
      let kind = try wire.refusal("verifyBackupCode", Self.answer(flow, "backupCode", code))
      try expect(kind == "backupCodeInvalid", "took a backup code that was used")
    }
    if random.next() % 2 == 0, let code = backupCodes.last {
      _ = try wire.call("verifyBackupCode", Self.answer(flow, "backupCode", code))
      notePhone(isProven: true)
      spend(code)
    } else {
      let code = try Outbox.newest("code", to: phoneNumber, in: outbox)
      notePhone(isProven: true)
      _ = try wire.call("verifyOtp", Self.answer(flow, "code", code))
    }
  }

  /// Logs in with each password that may be right, until one is.
  private mutating func logIn(_ wire: SocketWire) throws -> JSONNode {
    for password in passwords {
      let params = #"{"profile":"\#(AccountCrashStage.examiner)",\#(credentials(password))}"#
      let answer = try wire.ask(#"{"jsonrpc":"2.0","id":1,"method":"login","params":\#(params)}"#)
      if let result = answer["result"] {
        passwords = [password]
        return result
      }
      let kind = try answer.required("error").required("data").required("kind").string()
      try expect(kind == "invalidCredentials", "refused a login with \(kind)")
    }
    throw TestFailure("\(email) has none of \(passwords.count) possible passwords")
  }

  private func expect(_ condition: Bool, _ complaint: String) throws {
    guard condition else { throw TestFailure("\(email) \(complaint)") }
  }

  /// The parameters that answer a challenge.
  static func answer(_ flow: String, _ name: String, _ code: String) -> String {
    #"{"otpFlowId":"\#(flow)","\#(name)":"\#(code)"}"#
  }
}
