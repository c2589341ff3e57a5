/// The version of the programs of this package.
package enum ProgramVersion {
  /// As in `authbroker version`, the owner's record and `getStatus`.
  package static let current = "0.2.0-dev"
}
