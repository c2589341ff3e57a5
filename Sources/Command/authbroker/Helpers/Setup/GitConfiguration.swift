import JSON
import LinuxSystem

/// git's configuration, where it names credential helpers.
enum GitConfiguration {
  /// The helpers that are not this program's, each with the file that names it.
  static func otherHelpers(_ setup: SetupContext) -> [String] {
    guard (try? GitHelperStep.expectReadableFiles(setup)) != nil,
      let git = SearchPath.program("git", setup.environment),
      let done = try? ToolRun(
        git, ["config", "--show-origin", "--get-regexp", "^credential\\..*helper$|^credential\\.helper$"],
        environment: setup.environment)
    else { return [] }
    return String(decoding: done.output, as: UTF8.self).split(separator: "\n").compactMap { line in
      // `file:/etc/gitconfig<tab>credential.helper store`
      let parts = line.split(separator: "\t", maxSplits: 1)
      guard parts.count == 2, !parts[1].includes(GitHelper.programNames[0]) else { return nil }
      let words = parts[1].split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return nil }
      return "\(words[1]) (\(parts[0].split(separator: ":", maxSplits: 1).last ?? ""))"
    }
  }
}
