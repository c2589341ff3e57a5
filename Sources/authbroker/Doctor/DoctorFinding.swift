import JSONRPC

/// One thing that the doctor looked at, and how it is.
struct DoctorFinding: Equatable, Sendable {
  /// How bad it is.
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
  /// What a person calls the thing that was looked at.
  let label: String
  /// How it is.
  let status: Status
  /// A value, or one sentence that says what to do; a command to type stands at its end, behind `: `.
  var message: String
  /// What the exit code is if it is an error.
  var exitCode = ExitCode.failure
  /// The file that it is about.
  var path: String?
  /// The profile that it is about.
  var profile: String?

  /// A finding.
  init(_ check: String, _ label: String, _ status: Status, _ message: String, path: String? = nil) {
    self.check = check
    self.label = label
    self.status = status
    self.message = message
    self.path = path
  }

  /// The same, as a sign that the vault is damaged, or cannot be opened.
  func aboutVault() -> DoctorFinding {
    var finding = self
    finding.exitCode = .vault
    return finding
  }
}

extension DoctorFinding: JSONEncodable {
  /// Writes the members that are known.
  func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("check", check)
      writer.member("status", status.rawValue)
      writer.member("message", message)
      writer.member(ifPresent: "path", path)
      writer.member(ifPresent: "profile", profile)
    }
  }
}
