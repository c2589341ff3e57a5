import CVersion

/// The version of the programs of this package.
package enum ProgramVersion {
  /// The number (semver.org): the commit that writes one without `-dev` here is its release (`.ci/version`).
  package static let number = "0.2.1-dev"

  /// The version of this build, as in `authbroker version`, the owner's record and `getStatus`.
  ///
  /// It is in one object file, so that another commit compiles nothing else again.
  package static let current = built.isEmpty ? number + unnamed : built

  // The function returns a string of the program's own.
  private static let built = unsafe String(cString: authbroker_version())

  /// The build metadata of a build whose commit is not known, such as one for debugging.
  private static let unnamed = "+dev"

  /// Whether a program of another version may speak to this one without a word: it is the same, or one of both is a build
  /// whose commit is not known, and both lead to patches of the same minor version.
  package static func agrees(with other: String) -> Bool {
    guard other != current, let patch = number.utf8.lastIndex(of: UInt8(ascii: ".")) else { return other == current }
    return (isUnnamed(other) || isUnnamed(current)) && other.utf8.starts(with: number.utf8[...patch])
  }

  private static func isUnnamed(_ version: String) -> Bool {
    version.utf8.suffix(unnamed.utf8.count).elementsEqual(unnamed.utf8)
  }
}
