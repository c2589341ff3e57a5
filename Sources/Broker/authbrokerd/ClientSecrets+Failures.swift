import BrokerCore
import BrokerProtocol
import ConfigurationFile
import LinuxSystem
import ProviderKit
import Records

/// The failures for secrets that could not be read.
extension ClientSecrets {
  /// A variable that the broker does not have, or an empty one.
  struct MissingVariable: Error {}

  /// The failure for what a source of a secret has thrown.
  ///
  /// Where the machine had no room for it, or a password manager took too long, it can be asked for again; otherwise
  /// someone has to fix the configuration, or what it names.
  static func failure(_ error: any Error, _ reference: SecretReference) -> ProviderFailure {
    guard let reason = reason(error, byteLimit(of: reference.part)) else { return .transient(.overloaded) }
    let isPassword = reference.part == .line
    let credential = MissingCredential(
      reference.name, reason, kind: isPassword ? .configInvalid : .missingCredential)
    if isPassword, case KeySourceError.command(.timedOut) = error {
      return .transient(.timeout, cause: .credential(credential))
    }
    return .credentialMissing(credential)
  }

  /// Why there is none, as the end of a sentence; nil where the machine had no room.
  private static func reason(_ error: any Error, _ limit: Int) -> String? {
    switch error {
    case AssertionFile.Refusal.failed(let error) where error.isShortage: nil
    case TrustedFile.Refusal.failed(_, let error) where error.isShortage: nil
    case let refusal as AssertionFile.Refusal: refusal.description
    case let refusal as TrustedFile.Refusal:
      refusal.isMissing ? "there is no such file" : clause(refusal.description)
    case SecretLine.Refusal.empty: "it is empty"
    case SecretLine.Refusal.controlCharacter: "its first line has a control character"
    case is MissingVariable:
      "the broker was started without the variable; check that it is set here, and run authbroker stop: the next command "
        + "starts a broker with it"
    case KeySourceError.credential(let refusal): reason(refusal, limit)
    case KeySourceError.command(let failure): reason(failure, limit)
    default: nil
    }
  }

  private static func reason(_ refusal: CredentialFile.Refusal, _ limit: Int) -> String? {
    switch refusal {
    case .failed(_, let error) where error.isShortage: nil
    case .noDirectory, .missing: "there is no such file"
    case .notAFile: "it is not a regular file"
    case .foreignOwner(_, let owner): "it belongs to user \(owner)"
    case .openToOthers(let path, _): "it is open to others; run: chmod 600 \(ShellWord.quoted(path))"
    case .empty: "it is empty"
    case .tooLong: "it has more than \(limit) bytes"
    case .failed(_, let error): "it cannot be read (\(error))"
    }
  }

  private static func reason(_ failure: KeyCommand.Failure, _ limit: Int) -> String? {
    switch failure {
    case .notStarted(_, let error) where error.isShortage: nil
    case .notConfigured, .notFound: "there is no such program"
    case .notStarted(_, let error): "it cannot be run (\(error))"
    case .failed(_, let status): "it exited with status \(status); run it by hand to see why"
    case .timedOut(_, let limit): "it did not exit within \(limit)"
    case .empty: "it printed nothing"
    case .tooLong: "it printed more than \(limit) bytes"
    }
  }

  /// A sentence without its full stop, as the end of another one.
  private static func clause(_ sentence: String) -> String {
    sentence.last == "." ? String(sentence.dropLast()) : sentence
  }
}
