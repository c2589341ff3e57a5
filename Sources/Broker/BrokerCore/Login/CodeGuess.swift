package import SecretMemory

/// A code that was given for a pending login; callers who give the same one share its answer.
package struct CodeGuess: Sendable, Equatable {
  /// Names the guess: the caller that gave it first.
  package let id: CallerID
  /// The code.
  package let code: Secret
  /// Whether it is one of the account's backup codes.
  package let isBackupCode: Bool
  /// The callers that wait for the answer.
  package internal(set) var callers: [CallerID]

  /// A guess of one caller.
  package init(_ caller: CallerID, _ code: Secret, isBackupCode: Bool = false) {
    id = caller
    self.code = code
    self.isBackupCode = isBackupCode
    callers = [caller]
  }

  /// Whether both say the same.
  func isSame(as other: CodeGuess) -> Bool { isBackupCode == other.isBackupCode && code == other.code }
}
