import BrokerCore
import BrokerProtocol
import Logging

/// Decides which failed calls are logged, so that the `correlationId` of an error leads to a line there.
///
/// A value: it writes nothing and reads no clock. Only what a person does is logged: programs ask for tokens all the time,
/// and what is wrong with those shows in events. What a line says is the broker's own; of the caller's words there is
/// none but a profile's name.
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

  /// No user mistypes more often in a minute: a program that fails in a loop must not push everything else out of a log
  /// that is bounded.
  static let linesPerMinute = 60
  private static let minute = Duration.seconds(60)

  /// The methods by which a person logs in, proves who they are, or changes what that takes.
  private static let methods: Set<String> = [
    Login.name, VerifyOTP.name, ResendOTP.name, VerifyBackupCode.name, AwaitLogin.name, CancelLogin.name, Register.name,
    VerifyEmail.name, ForgotPassword.name, ResetPassword.name, ChangePassword.name, UpdateProfile.name,
    GenerateBackupCodes.name, DeleteAccount.name, Reauthenticate.name, Logout.name, Unlock.name, Rekey.name, Prove.name,
    AddLocalUser.name, SetLocalUserEnabled.name, ResetLocalUser.name, DeleteLocalUser.name, RevokeLocalSessions.name,
    RotateLocalSigningKey.name,
  ]

  private var minuteEnd = Duration.zero
  private var lines = 0
  private var omitted = 0

  /// Whether a failure of a method is a user's failed attempt.
  ///
  /// That a credential is missing is how a client learns what to ask for, the end of its patience or of the broker
  /// leaves the login as it is, and an internal error has a line of its own. By an error with a proof a client learns what
  /// it must prove; that it cannot is its failed attempt.
  static func concerns(_ method: String, _ error: BrokerError) -> Bool {
    let isQuestion = error.proof != nil && method != Prove.name
    return methods.contains(method) && !isQuestion
      && ![.missingCredential, .deadlineExceeded, .shuttingDown, .internal].contains(error.kind)
  }

  /// Counts a failed call.
  ///
  /// - Parameter now: the uptime.
  /// - Returns: what is to be written.
  mutating func count(at now: Duration) -> Verdict {
    if now >= minuteEnd {
      minuteEnd = now + Self.minute
      lines = 0
    }
    lines += 1
    guard lines > Self.linesPerMinute else {
      defer { omitted = 0 }
      return .log(omitted: omitted)
    }
    omitted += 1
    return omitted == 1 ? .beginOmitting : .omit
  }
}
