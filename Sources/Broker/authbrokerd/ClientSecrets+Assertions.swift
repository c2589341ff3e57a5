import BrokerCore
import ConfigurationFile
import LinuxSystem
import ProviderKit
import Records
import SecretMemory

/// Assertions about the client, and the keys that it signs its own with.
extension ClientSecrets {
  /// The most bytes of a private key in PEM: more than the longest RSA key has, with certificates before it.
  private static let longestKey = 65536

  /// Reads an assertion, which is the first line of its source.
  func assertion(_ source: SecretReference) -> Result<Secret, ProviderFailure> {
    let subject = "The client's assertion" + Self.place(of: source)
    return result(subject) {
      switch source {
      case .file(let path): try SecretLine.first(of: try AssertionFile(path).read())
      case .command(let command):
        try SecretLine.first(of: try output(of: command, limit: AssertionFile.byteLimit))
      default: try find(source).get()
      }
    }
  }

  /// Reads a private key, which is all that is in its source.
  func key(_ source: SecretReference) -> Result<Secret, ProviderFailure> {
    let subject = "The client's private key" + Self.place(of: source)
    return result(subject) {
      switch source {
      case .file(let path): try contents(of: path, limit: Self.longestKey)
      case .command(let command): try output(of: command, limit: Self.longestKey)
      case .environment(let name):
        // A variable that is not there is told as for every secret.
        try environment[name].map { try Secret(utf8: $0) } ?? find(source).get()
      case .assertion, .key: try find(source).get()
      }
    }
  }

  private func result(_ subject: String, _ read: () throws -> Secret) -> Result<Secret, ProviderFailure> {
    do { return .success(try read()) } catch {
      if let failure = error as? ProviderFailure { return .failure(failure) }
      guard let reason = Self.reason(error) else { return .failure(Self.failure(error)) }
      return .failure(.credentialMissing(MissingCredential(subject, reason)))
    }
  }

  /// The place of a secret, as a message names it.
  private static func place(of source: SecretReference) -> String {
    switch source {
    case .file(let path): " in the file \(path)"
    case .environment(let name): " in the variable \(name)"
    case .command(let command): " of the command \(command.first ?? "")"
    case .assertion(let inner), .key(let inner): place(of: inner)
    }
  }

  /// Why there is none, as the end of a sentence; nil where the machine had no room.
  private static func reason(_ error: any Error) -> String? {
    switch error {
    case AssertionFile.Refusal.failed(let error) where error.isShortage: nil
    case let refusal as AssertionFile.Refusal: refusal.description
    case SecretLine.Refusal.empty: "it is empty"
    case SecretLine.Refusal.controlCharacter: "its first line has a control character"
    case let refusal as TrustedFile.Refusal: clause(refusal.description)
    case KeySourceError.credential(let refusal): reason(refusal)
    case KeySourceError.command(let failure): reason(failure)
    default: nil
    }
  }

  private static func reason(_ refusal: CredentialFile.Refusal) -> String? {
    switch refusal {
    case .failed(_, let error) where error.isShortage: nil
    case .noDirectory, .missing: "there is no such file"
    case .notAFile: "it is not a regular file"
    case .foreignOwner(_, let owner): "it belongs to user \(owner)"
    case .openToOthers(let path, _): "it is open to others; run: chmod 600 \(ShellWord.quoted(path))"
    case .empty: "it is empty"
    case .tooLong: "it has more than \(longestKey) bytes"
    case .failed(_, let error): "it cannot be read (\(error))"
    }
  }

  private static func reason(_ failure: KeyCommand.Failure) -> String? {
    switch failure {
    case .notStarted(_, let error) where error.isShortage: nil
    case .notConfigured, .notFound: "there is no such program"
    case .notStarted(_, let error): "it cannot be run (\(error))"
    case .failed(_, let status): "it exited with status \(status); run it by hand to see why"
    case .timedOut(_, let limit): "it did not exit within \(limit)"
    case .empty: "it printed nothing"
    case .tooLong: "it printed more than \(AssertionFile.byteLimit) bytes"
    }
  }

  /// A sentence without its full stop, as the end of another one.
  private static func clause(_ sentence: String) -> String {
    sentence.last == "." ? String(sentence.dropLast()) : sentence
  }
}
