import LinuxSystem

/// Settings of other tools that give a token away more widely than the section `targets` says.
enum ToolCheck: DoctorCheck {
  static let title = "Tools"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    // Without a home directory no tool has a configuration.
    guard let setup = try? SetupContext(installation.context) else { return [] }
    return ToolSetup.all.flatMap { findings($0, setup) }
  }

  /// The findings about one tool.
  static func findings(_ tool: ToolSetup, _ setup: SetupContext) -> [DoctorFinding] {
    tool.unboundHelpers(setup).map { chosen in
      DoctorFinding(
        "tool.profile", tool.name, .warning, chosen.message(tool.name),
        path: PathName.isAbsolute(chosen.place) ? chosen.place : nil)
    }
  }
}
