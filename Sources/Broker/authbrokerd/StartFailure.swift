import BrokerProtocol
import ConfigurationFile
import JSON
import LinuxSystem
import StateDirectory

/// Why the daemon could not start, and how the process ends.
struct StartFailure: Error {
  /// The stable name of the reason, for the starter of the daemon.
  enum Kind: String {
    /// The state directory has an owner already.
    case owned
    /// The configuration is not valid.
    case configInvalid
    /// The vault's key cannot be read.
    case keySourceUnavailable
    /// The vault's content has been modified.
    case vaultTampered
    /// The file system refuses something of the vault.
    case storeFailed
    /// The state directory, its lock or the socket cannot be used.
    case pathRefused
    /// Anything else.
    case failed
  }

  /// The kind of reason.
  let kind: Kind
  /// The reason and the next step, on one line in lower case and without a full stop.
  let message: String
  /// The mistakes of a configuration that was read and refused; nil for any other reason.
  private(set) var mistakes: ConfigurationError?

  /// A failure.
  init(kind: Kind, message: String) {
    self.kind = kind
    // It may name keys of a file.
    self.message = PlainText.line(message.utf8)
  }

  /// A configuration has mistakes: the message has the first one, and how many more there are.
  init(_ error: ConfigurationError) {
    self.init(kind: .configInvalid, message: error.description)
    mistakes = error
  }

  /// The machine gives no thread for work that has to be done.
  init(noThread error: Errno) {
    self.init(
      kind: .failed,
      message: "no thread can be started: \(error); raise the limit of processes (ulimit -u, or TasksMax of the unit)")
  }

  /// The failure as a line of JSON: an error of the protocol, or one of this kind, whose code is the exit code.
  var object: String {
    var writer = JSONWriter()
    writer.object { writer in
      if let kind = ErrorKind(rawValue: kind.rawValue) {
        return writer.member("error", BrokerError(kind, message))
      }
      writer.key("error")
      writer.object { writer in
        writer.member("code", Int(exitCode))
        writer.member("message", message)
        writer.key("data")
        writer.object { writer in
          writer.member("kind", kind == .failed ? "failure" : kind.rawValue)
          writer.member("nextAction", NextAction.none.rawValue)
          writer.member("retryable", false)
        }
      }
    }
    return String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n"
  }

  /// The exit code of the contract: 7 for the vault, 1 for anything else.
  var exitCode: Int32 {
    switch kind {
    case .keySourceUnavailable, .vaultTampered, .storeFailed: 7
    case .owned, .configInvalid, .pathRefused, .failed: 1
    }
  }
}
