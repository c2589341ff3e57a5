/// Words for a shell to read, in commands that a message advises.
package enum ShellWord {
  private static let safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,"

  /// The word as a shell takes it: in quotes where it has a character of another meaning.
  package static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.allSatisfy(safe.contains) else { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
