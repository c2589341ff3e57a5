import BrokerCore
import BrokerProtocol
import Logging

/// Decides which failed calls are logged, so that the `correlationId` of an error leads to a line there.
///
/// A value: it writes nothing and reads no clock. What a person does has more lines than what programs ask for all the time,
/// so that these push nothing of the former out. What a line says is the broker's own; of the caller's words there is none
/// but a profile's name, and what errors name of a request.
struct FailureLog {
  /// What becomes of one failed call.
  enum Verdict: Equatable {
    /// It is logged, after the number of calls that were omitted before it.
    case log(omitted: Int)
    /// It is the first one of many that is not logged.
    case beginOmitting
    /// It is not logged.
    case omit
  }

  /// What is counted together.
  private struct Budget {
    let linesPerMinute: Int
    var minuteEnd = Duration.zero
    var lines = 0
    var omitted = 0
  }

  /// No user mistypes more often in a minute: a program that fails in a loop must not push everything else out of a log
  /// that is bounded.
  static let linesPerMinute = 60
  /// As many different refusals as a person looks at: programs repeat the same one.
  static let linesOfProgramsPerMinute = 20
  private static let minute = Duration.seconds(60)

  /// The methods by which a person logs in, proves who they are, or changes what that takes.
  private static let methods: Set<String> = [
    Login.name, VerifyOTP.name, ResendOTP.name, VerifyBackupCode.name, AwaitLogin.name, CancelLogin.name, Register.name,
    VerifyEmail.name, ForgotPassword.name, ResetPassword.name, ChangePassword.name, UpdateProfile.name,
    GenerateBackupCodes.name, DeleteAccount.name, Reauthenticate.name, Logout.name, Unlock.name, Rekey.name, Prove.name,
    AddLocalUser.name, SetLocalUserEnabled.name, ResetLocalUser.name, DeleteLocalUser.name, RevokeLocalSessions.name,
    RotateLocalSigningKey.name,
  ]

  private var persons = Budget(linesPerMinute: linesPerMinute)
  private var programs = Budget(linesPerMinute: linesOfProgramsPerMinute)

  /// Whether a failure is one that its user may look for in the log.
  ///
  /// That a credential is missing is how a client learns what to ask for, the end of its patience or of the broker
  /// leaves everything as it is, who cancels a call knows of it, and an internal error has a line of its own. By an
  /// error with a proof a client learns what it must prove, also where it asks for that by `prove`; that it cannot is
  /// its failed attempt.
  static func concerns(_ method: String, _ error: BrokerError) -> Bool {
    let isQuestion = error.proof != nil && (method != Prove.name || error.admitsProof)
    return !isQuestion
      && ![.missingCredential, .cancelled, .deadlineExceeded, .shuttingDown, .internal].contains(error.kind)
  }

  /// Whether a method is one that a person's doing leads to.
  static func isPersons(_ method: String) -> Bool { methods.contains(method) }

  /// Counts a failed call of a method.
  ///
  /// - Parameters:
  ///   - method: its name.
  ///   - now: the uptime.
  /// - Returns: what is to be written.
  mutating func count(_ method: String, at now: Duration) -> Verdict {
    Self.isPersons(method) ? Self.count(&persons, now) : Self.count(&programs, now)
  }

  private static func count(_ budget: inout Budget, _ now: Duration) -> Verdict {
    if now >= budget.minuteEnd {
      budget.minuteEnd = now + minute
      budget.lines = 0
    }
    budget.lines += 1
    guard budget.lines > budget.linesPerMinute else {
      defer { budget.omitted = 0 }
      return .log(omitted: budget.omitted)
    }
    budget.omitted += 1
    return budget.omitted == 1 ? .beginOmitting : .omit
  }
}
