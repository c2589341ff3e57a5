import JSON
import LinuxSystem

/// The findings as they are printed: a table for people, an object for programs.
struct DoctorTable: Sendable {
  /// The findings of one check.
  struct Section: Sendable {
    /// The heading.
    let title: String
    /// The findings below the headline.
    let findings: [DoctorFinding]
  }

  /// This command line, whose broker the commands to type next are for.
  let arguments: Arguments
  /// All groups that have something to say.
  var sections: [Section] = []

  /// Adds the findings of a check, if it has any.
  mutating func add<Check: DoctorCheck>(_ check: Check.Type, _ installation: Installation) {
    let findings = Check.findings(installation)
    if !findings.isEmpty { sections.append(Section(title: Check.title, findings: findings)) }
  }

  private var findings: [DoctorFinding] { sections.flatMap { $0.findings } }
  private var errors: [DoctorFinding] { findings.filter { $0.status == .error } }

  /// The exit code: 7 for the vault, 5 if nothing is wrong but providers that cannot be reached, 1 for any other error;
  /// warnings are no failure.
  var exitCode: ExitCode {
    guard let first = errors.first else { return .success }
    guard !errors.contains(where: { $0.exitCode == .vault }) else { return .vault }
    return errors.allSatisfy { $0.exitCode == first.exitCode } ? first.exitCode : .failure
  }

  /// The fewest columns beside the labels in which a message is readable; of fewer, it stands below its label.
  private static let narrowestMessage = 30

  /// The lines of the table.
  ///
  /// - Parameters:
  ///   - style: sets the headings and the words for a severity off.
  ///   - columns: the width of the terminal; nil where there is none.
  /// - Returns: the headings, the findings, and a summary.
  func lines(_ style: Style, columns: Int? = Terminal.columns(1)) -> [String] {
    let statusWidth = DoctorFinding.Status.allCases.map { $0.rawValue.count }.max() ?? 0
    let labelWidth = findings.map { $0.label.count }.max() ?? 0
    var lines: [String] = []
    for section in sections {
      lines.append(style.bold(section.title))
      for finding in section.findings {
        let status = Self.colored(finding.status, finding.status.rawValue.padded(to: statusWidth), style)
        let lead = statusWidth + 4
        let message = message(of: finding, behind: lead, labelWidth, columns)
        lines.append("  \(status)  " + message[0].dropFirst(lead))
        lines += message.dropFirst()
      }
    }
    return lines + ["", summary]
  }

  /// A finding's label and message in lines, of which each has room for the words before it.
  private func message(
    of finding: DoctorFinding, behind lead: Int, _ labelWidth: Int, _ columns: Int?
  ) -> [String] {
    let blanks = String(repeating: " ", count: lead)
    let indent = lead + labelWidth + 2
    func lines(behind label: String, indent: Int) -> [String] {
      let text = finding.message.shown(for: arguments, behind: label, columns: columns)
      return Paragraph(lead: label, indent: indent, columns: columns).lines(text)
    }
    guard let columns, columns < indent + Self.narrowestMessage else {
      return lines(behind: blanks + finding.label.padded(to: labelWidth + 2), indent: indent)
    }
    let short = lines(behind: blanks + finding.label + ": ", indent: lead)
    return short.count == 1 ? short : [blanks + finding.label] + lines(behind: blanks, indent: lead)
  }

  /// The whole result for programs.
  func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("ok", errors.isEmpty)
      writer.member("exitCode", Int(exitCode.rawValue))
      writer.key("findings")
      writer.array { writer in
        for finding in findings { finding.encode(to: &writer, for: arguments) }
      }
    }
  }

  private var summary: String {
    let warnings = findings.count { $0.status == .warning }
    guard !errors.isEmpty || warnings > 0 else { return "no problems found" }
    let counts = [(errors.count, "error"), (warnings, "warning")].filter { $0.0 > 0 }
    return counts.map { $0.counted($1) }.joined(separator: ", ")
  }

  private static func colored(_ status: DoctorFinding.Status, _ word: String, _ style: Style) -> String {
    switch status {
    case .ok: style.good(word)
    case .note: style.dim(word)
    case .warning: style.warning(word)
    case .error: style.bad(word)
    }
  }
}

extension DoctorTable: JSONEncodable {}
