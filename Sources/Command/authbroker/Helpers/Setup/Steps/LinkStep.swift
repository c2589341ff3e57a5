import LinuxSystem

/// Another name of this program, by which a tool finds its helper: a symbolic link.
final class LinkStep: SetupStep {
  /// The name.
  let name: String
  /// The directory that it is made in; nil: where this program has its names.
  let directory: String?
  /// Whether the tool looks for the name on the `PATH`, and its configuration does not hold the whole path.
  let isLookedUp: Bool

  /// A link.
  init(name: String, directory: String? = nil, isLookedUp: Bool = true) {
    self.name = name
    self.directory = directory
    self.isLookedUp = isLookedUp && directory == nil
  }

  var isLink: Bool { true }

  var title: String { "the link \(name)" }

  var text: String {
    let place = directory.map { " in \($0)" } ?? (isLookedUp ? ", on the PATH" : "")
    return "make a link \(name) to authbroker" + place
  }

  private func path(_ setup: SetupContext) -> String { "\(directory ?? setup.linkDirectory)/\(name)" }

  func state(_ setup: SetupContext) -> SetupState {
    if directory == nil, let found = SearchPath.program(name, setup.environment), setup.leadsHere(found) {
      return .installed
    }
    let path = path(setup)
    guard (try? FileStatus.ofLink(path)) != nil else { return .missing }
    return setup.leadsHere(path) ? .installed : .blocked("\(path.shellQuoted) is another program")
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    let path = path(setup)
    switch state(setup) {
    case .installed: return false
    case .blocked(let why): throw CommandFailure(.failure, why + "; move it away first")
    case .missing, .manual: break
    }
    try ToolFile.expectTrustedDirectory(of: path)
    do throws(Errno) {
      try DirectoryEntry.makeDirectories(PathName.directory(of: path))
      try SymbolicLink.make(path, to: setup.program)
    } catch { throw CommandFailure(.failure, "\(path.shellQuoted) cannot be made: \(error)") }
    let place = PathName.directory(of: path)
    if isLookedUp, !setup.isOnPath(place) {
      Output.message("\(place.shellQuoted) is not on the PATH, where the tool looks; add it in your shell's profile")
    }
    return true
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    let path = path(setup)
    // An installed package may have put it there as well; a link is what this step makes.
    guard SymbolicLink.target(of: path) == setup.program, setup.leadsHere(path) else { return false }
    do throws(Errno) { try DirectoryEntry.remove(path) } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be removed: \(error)")
    }
    return true
  }
}
