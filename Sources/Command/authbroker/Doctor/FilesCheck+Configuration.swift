import LinuxSystem
import StateDirectory

/// Configurations that stand where none is looked for.
extension FilesCheck {
  /// Usual but wrong places of a configuration, below the home directory.
  private static let inHome = [
    ".config/authbroker/config.json", ".config/authbroker/authbroker.json", ".config/authbroker/config.json5",
    ".config/authbroker.json", ".authbroker/config.json", ".authbroker.json", ".authbrokerrc", "authbroker/config.json",
    ".local/share/authbroker/config.json",
  ]
  /// And elsewhere.
  private static let elsewhere = ["/etc/authbroker/config.json", "/etc/authbroker.json"]

  /// Files that look like a configuration and are not read; a warning where there is no other one.
  static func misplacedConfigurations(_ installation: Installation) -> [DoctorFinding] {
    let paths = installation.paths
    guard let used = paths.configuration else { return [] }
    let home = installation.context.environment["HOME"].flatMap { PathName.isAbsolute($0) ? $0 : nil }
    var places = (home.map { home in inHome.map { home + "/" + $0 } } ?? []) + elsewhere
    places.append(paths.state + "/config.json")
    let own = try? FileStatus.following(used)
    let level: DoctorFinding.Status = own == nil ? .warning : .note
    return places.compactMap { place in
      guard place != used, let status = try? FileStatus.following(place), status.kind == .regular,
        status.identity != own?.identity
      else { return nil }
      let (shown, place) = (place, PlainText.line(place.utf8))
      let message = "\(place) is not read; move it to \(PlainText.line(used.utf8)), or name it with --config"
      return DoctorFinding("files.misplacedConfiguration", "configuration", level, message, path: shown)
    }
  }
}
