import BrokerProtocol
import LinuxSystem

/// Where clients show that they have the state directory, each by an empty file whose name the broker has begun and the
/// client's process number ends.
///
/// A client that has merely a socket, which may be forwarded or mounted into a container, cannot create such a file; and
/// one that another client creates bears that client's number. Nothing in the directory is looked at or removed but what
/// this names.
package struct ProofDirectory: Sendable {
  /// How the names of the files begin.
  static let prefix = "proof-"
  /// How they began in an earlier version, whose leftovers are removed as well.
  private static let earlierPrefix = "prove-"

  private let path: String

  /// The state directory, by its absolute path.
  package init(path: String) { self.path = path }

  /// Chooses a new name: 128 random bits, so that no two are ever the same.
  func challenge() -> StateProof { StateProof(path: path + "/" + Self.prefix + Self.digits(words: 2)) }

  /// The file by which a process gives a proof.
  private static func file(of proof: StateProof, by process: Int32) -> String { proof.path + ".\(process)" }

  /// Looks whether a process has created the file of a proof, and removes it.
  ///
  /// The file is not opened: neither a broker without a free descriptor nor a full disk keeps it from being seen.
  ///
  /// - Parameters:
  ///   - proof: the one that the connection was asked for.
  ///   - process: the one that made the connection, as the kernel names it.
  /// - Returns: true for a regular file of this process's user with mode 0600 and no other name.
  func takes(_ proof: StateProof, from process: Int32) -> Bool {
    defer { discard(proof, from: process) }
    guard let status = try? FileStatus.ofLink(Self.file(of: proof, by: process)) else { return false }
    return status.kind == .regular && status.owner == ProcessIdentity.user && status.permissions == 0o600
      && status.linkCount == 1
  }

  /// Removes the file of a proof that is not wanted any more.
  func discard(_ proof: StateProof, from process: Int32) {
    try? DirectoryEntry.remove(Self.file(of: proof, by: process))
  }

  /// Removes files that an earlier broker asked for and never took.
  package func removeLeftovers() {
    for name in (try? TemporaryDirectory.names(in: path)) ?? [] where Self.isName(name) {
      try? DirectoryEntry.remove(path + "/" + name)
    }
  }

  private static func isName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 1 { return isBeginning(name, earlierPrefix) }
    return parts.count == 2 && isBeginning(String(parts[0]), prefix) && !parts[1].isEmpty
      && parts[1].utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func isBeginning(_ name: String, _ prefix: String) -> Bool {
    let digits = name.utf8.dropFirst(prefix.utf8.count)
    return name.hasPrefix(prefix) && digits.count == 32
      && digits.allSatisfy { Array("0123456789abcdef".utf8).contains($0) }
  }

  /// Digits of the system's generator, which takes them from getrandom(2).
  private static func digits(words: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<words).map { _ in
      let text = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }.joined()
  }
}
