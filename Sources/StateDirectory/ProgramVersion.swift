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
}
