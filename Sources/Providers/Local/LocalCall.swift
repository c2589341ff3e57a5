package import BrokerCore
import BrokerProtocol

/// A finished call of the embedded provider, for the log: no word of an account.
package struct LocalCall: Sendable {
  /// The purpose of the call, in a word of the program.
  package let purpose: String
  /// Why it failed; nil where it did not.
  package let failure: ProviderFailure?
  /// From the beginning of its work to the end.
  package let duration: Duration

  /// Whether it deserves a warning: the machine or the files could not do it.
  ///
  /// A refusal is none: the client gets it as an error of its own. Nor is that the vault is locked.
  package var isTrouble: Bool {
    switch failure {
    case .misconfigured, .outcomeUnknown: true
    case .transient(let kind, _, _): kind != .vaultLocked
    case .refused, .rejected, .rotated, .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused,
      .credentialMissing, .subjectMissing, .unsupported, nil:
      false
    }
  }
}
