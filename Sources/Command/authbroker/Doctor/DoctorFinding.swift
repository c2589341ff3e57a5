import BrokerProtocol
import JSON

/// The result of one check.
struct DoctorFinding: Equatable, Sendable {
  /// The severity of a finding.
  enum Status: String, Sendable, CaseIterable {
    /// As it should be.
    case ok
    /// Worth knowing; nothing has to be done.
    case note
    /// Weaker or stranger than it should be; everything works.
    case warning
    /// Something does not work, or is open to others.
    case error
  }

  /// A stable name for programs, such as `files.state`.
  let check: String
  /// The name of the checked thing, for people.
  let label: String
  /// The severity.
  let status: Status
  /// A value, or the fault and its remedy.
  let message: Message
  /// The same for programs, where the two differ: with times as RFC 3339 in UTC.
  private var machineMessage: Message?
  /// The exit code if it is an error.
  var exitCode = ExitCode.failure
  /// The file that it is about.
  var path: String?
  /// The profile that it is about.
  var profile: String?

  /// A finding.
  init(
    _ check: String, _ label: String, _ status: Status, _ sentence: String, next: NextCommand? = nil,
    path: String? = nil
  ) {
    self.init(check, label, status, Message(sentence, next: next), path: path)
  }

  /// A finding.
  init(_ check: String, _ label: String, _ status: Status, _ message: Message, path: String? = nil) {
    self.check = check
    self.label = label
    self.status = status
    self.message = message
    self.path = path
  }

  /// A finding that names a time, which `sentence` puts in its place.
  init(
    _ check: String, _ label: String, _ status: Status, next: NextCommand? = nil, path: String? = nil,
    at time: Timestamp, _ sentence: (String) -> String
  ) {
    self.init(check, label, status, sentence(LocalTime.full(time)), next: next, path: path)
    machineMessage = Message(sentence(time.description), next: next)
  }

  /// The same, as a sign that the vault is damaged, or cannot be opened.
  func aboutVault() -> DoctorFinding {
    var finding = self
    finding.exitCode = .vault
    return finding
  }
}

extension DoctorFinding {
  /// Writes the members that are known.
  ///
  /// - Parameters:
  ///   - writer: where to.
  ///   - arguments: this command line, whose broker the next command is for.
  func encode(to writer: inout JSONWriter, for arguments: Arguments) {
    writer.object { writer in
      writer.member("check", check)
      writer.member("status", status.rawValue)
      writer.member("message", (machineMessage ?? message).text(for: arguments))
      writer.member(ifPresent: "path", path)
      writer.member(ifPresent: "profile", profile)
    }
  }
}
