import LinuxSystem
import StateDirectory

/// The home directory of a command that runs as root, and is perhaps not meant.
enum RootHome {
  /// Says so where a broker is about to be started in a home that is not there, or is another user's.
  static func warn(_ environment: EnvironmentVariables, _ paths: StatePaths) {
    guard ProcessIdentity.user == 0, let home = environment["HOME"], paths.state.hasPrefix(home + "/"),
      let sentence = sentence(home)
    else { return }
    Output.message(sentence)
  }

  /// The warning about root's home directory; nil where it is the usual one.
  static func sentence(_ home: String) -> String? {
    let shown = home.shellQuoted
    let remedy = "set HOME, or name a state directory with --state"
    guard let status = try? FileStatus.following(home) else {
      return
        "HOME is \(shown), which is not there: it is created for the state directory; if that is not meant, \(remedy)"
    }
    guard status.owner != 0 else { return nil }
    return
      "you are root, and HOME is another user's (\(shown), user \(status.owner)): what is made there belongs to root, and that"
      + " user cannot use it; run sudo without -E, or \(remedy)"
  }
}
