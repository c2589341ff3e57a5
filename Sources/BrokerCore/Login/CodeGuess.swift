package import SecretMemory

/// A code that was given for a pending login; those who give the same one share its answer.
package struct CodeGuess: Sendable, Equatable {
  /// Names the guess; never used twice in a process.
  package var number: UInt64
  /// The code.
  package var code: Secret
  /// Whether it is one of the account's backup codes.
  package var isBackupCode: Bool
  /// Everybody who waits for the answer, the first of them under the guess's own number.
  package var callers: [UInt64]

  /// A guess of one caller.
  package init(_ number: UInt64, _ code: Secret, isBackupCode: Bool = false) {
    self.number = number
    self.code = code
    self.isBackupCode = isBackupCode
    callers = [number]
  }

  /// Whether both say the same.
  func isSame(as other: CodeGuess) -> Bool { isBackupCode == other.isBackupCode && code == other.code }
}
