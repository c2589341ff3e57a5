import LinuxSystem
import StateDirectory

/// The folders of the user's that a sandbox shows, none of which leads to what keeps tokens.
struct SandboxFolders {
  /// The folders in which processes and devices of this machine are: no one of them is shown.
  private static let live = ["/proc", "/sys", "/dev", "/run"]
  /// The folders of the system, in which no one works.
  private static let system = ["/etc", "/usr", "/bin", "/sbin", "/lib", "/boot"]

  /// The working directory.
  let working: String
  /// Whether it can be written to.
  let isWritable: Bool
  /// Further files and folders, which can be read.
  let readable: [String]
  /// The home within the sandbox, which is empty there.
  let home: String

  /// Judges the working directory and the folders that a command line names.
  ///
  /// - Throws: a failure that says which of them is not shown, and why.
  init(_ context: Context) throws(CommandFailure) {
    let hidden = HiddenFolders(context.environment, try context.paths())
    working = ProcessIdentity.workingDirectory
    isWritable = !context.arguments.has("--ro")
    home = Self.home(context.environment)
    if let reason = hidden.reason(against: working) ?? Self.reason(against: working, in: Self.live + Self.system) {
      throw CommandFailure(
        .failure,
        "the working directory \(working.shellQuoted) \(reason), so no sandbox shows it; change to a folder of your work"
      )
    }
    var list: [String] = []
    for word in context.arguments.all("--read") {
      let path = PathName.absolute(word, in: ProcessIdentity.workingDirectory)
      guard (try? FileStatus.following(path)) != nil else { throw .usage("--read: \(path.shellQuoted) is not there") }
      if let reason = hidden.reason(against: path) ?? Self.reason(against: path, in: Self.live) {
        throw CommandFailure(.failure, "--read: \(path.shellQuoted) \(reason), so no sandbox shows it")
      }
      list.append(path)
    }
    readable = list
  }

  private static func reason(against path: String, in folders: [String]) -> String? {
    for folder in folders {
      switch (FolderChain.holds(path, folder), FolderChain.holds(folder, path)) {
      case (true, true): return "is \(folder)"
      case (true, false): return "holds \(folder)"
      case (false, true): return "is in \(folder)"
      case (false, false): break
      }
    }
    return nil
  }

  /// The home of the user, but for one in a folder of the system.
  private static func home(_ environment: EnvironmentVariables) -> String {
    let home = PathName.absolute(environment["HOME"] ?? "/", in: "/")
    let isTaken = home == "/" || (live + system).contains { home == $0 || home.hasPrefix($0 + "/") }
    return isTaken || home == "/tmp" ? "/tmp/home" : home
  }
}

/// The folders that no sandbox shows.
private struct HiddenFolders {
  /// Homes, and folders in which programs of the user's put their sockets; their own folders may be shown.
  private var places: [(path: String, what: String)] = []
  /// The folders of the broker: nothing in them is shown.
  private var keepers: [(path: String, what: String)] = []

  init(_ environment: EnvironmentVariables, _ paths: StatePaths) {
    let homes = [environment["HOME"], AccountFiles.read()?.home(ofUser: ProcessIdentity.user)]
    for home in homes.compactMap({ $0 }) where PathName.isAbsolute(home) && home != "/" {
      places.append((home, "your home"))
    }
    for folder in ["/tmp", "/var/tmp", environment["TMPDIR"] ?? ""] where PathName.isAbsolute(folder) {
      places.append((folder, "where programs keep what is temporary"))
    }
    keepers.append((paths.state, "the broker's state directory"))
    if let record = OwnerRecord(at: paths.ownerLock) {
      keepers.append((PathName.directory(of: record.socket), "the broker's socket"))
    }
    if let runtime = environment["XDG_RUNTIME_DIR"] {
      keepers.append((runtime, "the runtime directory (XDG_RUNTIME_DIR)"))
    }
    for (file, what) in [(paths.vaultKey, "the key of the vault"), (paths.configuration, "the configuration")] {
      guard let file else { continue }
      let folder = PathName.directory(of: file)
      keepers.append((PathName.name(of: folder) == "authbroker" ? folder : file, what))
    }
  }

  /// Why a path is not shown; nil where it may be.
  func reason(against path: String) -> String? {
    for (place, what) in places where FolderChain.holds(path, place) {
      return FolderChain.holds(place, path) ? "is \(what)" : "holds \(place.shellQuoted), \(what)"
    }
    for (keeper, what) in keepers {
      if FolderChain.holds(path, keeper) { return "holds \(keeper.shellQuoted): \(what)" }
      if FolderChain.holds(keeper, path) { return "is in \(keeper.shellQuoted): \(what)" }
    }
    return nil
  }
}

/// The folders above a path, as the kernel knows them, under whatever names and by whatever links they are reached.
private enum FolderChain {
  /// Deeper than any path that the kernel takes in one piece (PATH_MAX).
  private static let deepest = 2048

  /// Whether a folder, or a file, is the other path, or lies above it.
  ///
  /// Of a path at which there is nothing, the folder counts in which it would be.
  static func holds(_ folder: String, _ path: String) -> Bool {
    guard let wanted = try? FileStatus.following(folder).identity else { return false }
    var place = path
    while (try? FileStatus.following(place)) == nil {
      guard place != "/" else { return false }
      place = PathName.directory(of: place)
    }
    for _ in 0..<deepest {
      // What cannot be looked at is not shown either.
      guard let status = try? FileStatus.following(place) else { return true }
      if status.identity == wanted { return true }
      // Of the file itself: what `..` means behind a link, the kernel knows.
      let above =
        status.kind == .directory ? place + "/.." : PathName.directory(of: (try? SymbolicLink.resolved(place)) ?? place)
      guard let parent = try? FileStatus.following(above), parent.identity != status.identity else { return false }
      place = above
    }
    return false
  }
}
