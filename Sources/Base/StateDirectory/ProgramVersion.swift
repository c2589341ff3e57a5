import CRevision

/// The version of the programs of this package.
package enum ProgramVersion {
  /// The number, which releases have (semver.org).
  package static let number = "0.2.0-dev"

  /// The number and the commit of the build, as in `authbroker version`, the owner's record and `getStatus`.
  ///
  /// The commit is in one object file, so that another one compiles nothing else again.
  package static let current = number + "+" + revision

  // The function returns a string of the program's own.
  private static let revision = unsafe String(cString: authbroker_revision())

  /// Whether a program of another version may speak to this one without a word: it is the same, or one of both is a build
  /// whose commit is not known.
  package static func agrees(with other: String) -> Bool {
    other == current || other == number + "+dev"
      || revision == "dev" && (other == number || other.utf8.starts(with: (number + "+").utf8))
  }
}
