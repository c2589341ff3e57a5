import BrokerProtocol
import ClientSocket

/// The exit status of the command, for scripts.
enum ExitCode: Int32 {
  /// Done.
  case success = 0
  /// Anything that has no code of its own.
  case failure = 1
  /// The command line is not valid.
  case usage = 2
  /// The user must log in, or answer a challenge.
  case loginRequired = 3
  /// The credentials or the code are wrong.
  case wrongCredentials = 4
  /// The provider or the network cannot be had at the moment, or the chosen time is over.
  case providerUnavailable = 5
  /// This is not allowed.
  case accessDenied = 6
  /// The vault is locked or damaged.
  case vault = 7
  /// There is no broker to talk to.
  case brokerUnreachable = 8
  /// The program that was to be run cannot be executed (sh(1)).
  case programNotExecutable = 126
  /// There is no program of the name that was to be run (sh(1)).
  case programNotFound = 127

  /// The stable name of a failure that the command itself has found: that of the broker's errors which end with the same
  /// code, where they have one in common.
  var kind: String {
    switch self {
    case .success, .failure: "failure"
    case .usage: "usage"
    case .loginRequired: ErrorKind.loginRequired.rawValue
    case .wrongCredentials: ErrorKind.invalidCredentials.rawValue
    case .providerUnavailable: ErrorKind.providerUnavailable.rawValue
    case .accessDenied: ErrorKind.accessDenied.rawValue
    case .vault: ErrorKind.vaultLocked.rawValue
    case .brokerUnreachable: "brokerUnreachable"
    case .programNotExecutable: "programNotExecutable"
    case .programNotFound: "programNotFound"
    }
  }

  /// The code for an error of the broker: a provider that refuses what is configured is no outage, which waiting would end, and
  /// a credential that the configuration names is no word of a command line.
  init(_ error: BrokerError) {
    let isFault = [.providerRejected, .missingCredential].contains(error.kind) && error.nextAction == .fixConfig
    self = isFault ? .failure : ExitCode(error.kind)
  }

  /// The code for a kind of errors of the broker.
  init(_ kind: ErrorKind) {
    switch kind {
    // A login that is not there any more is no wrong code: another one must be begun.
    case .loginRequired, .sessionExpired, .challengePending, .reauthRequired, .flowNotFound: self = .loginRequired
    case .invalidCredentials, .otpInvalid, .otpExpired, .backupCodeInvalid, .tooManyAttempts, .accountLocked,
      .emailUnverified, .wrongPassphrase:
      self = .wrongCredentials
    case .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .providerRejected, .invalidResponse,
      .tlsFailed, .tlsPinMismatch, .deadlineExceeded, .refreshOutcomeUnknown:
      self = .providerUnavailable
    case .accessDenied, .consentDenied, .forbidden, .insufficientScope: self = .accessDenied
    case .vaultLocked, .vaultTampered, .storeFailed, .keySourceUnavailable: self = .vault
    case .shuttingDown: self = .brokerUnreachable
    case .parseError, .invalidRequest, .messageTooLarge, .methodNotFound, .invalidParams, .missingCredential,
      .unknownProfile:
      self = .usage
    case .internal, .cancelled, .resendTooSoon, .emailTaken, .validationFailed, .captchaRequired,
      .unsupportedByProvider, .overloaded, .configInvalid, .versionUnsupported, .unknownTarget:
      self = .failure
    }
  }

  /// The code for a broker that could not be reached or started.
  init(_ error: ConnectError) {
    switch error {
    case .otherConfiguration, .otherState, .stateDirectory, .startLock, .unknownServerUser: self = .failure
    case .startRefused(let code, _):
      switch code {
      case "keySourceUnavailable", "vaultTampered", "storeFailed": self = .vault
      case "configInvalid", "pathRefused": self = .failure
      default: self = .brokerUnreachable
      }
    case .notRunning, .unreachable, .foreignPeer, .startIsStuck, .ownerDoesNotAnswer, .log, .noDaemon, .startFailed,
      .startWasSilent:
      self = .brokerUnreachable
    }
  }

  /// The code for where a session stands.
  init(_ state: Session.State) {
    switch state {
    case .authenticated, .refreshing, .offline: self = .success
    case .signedOut, .challengePending, .expired: self = .loginRequired
    case .locked: self = .vault
    }
  }
}
