import BrokerProtocol
import LinuxSystem

/// Where clients show that they have the state directory, each by a file whose name and contents the broker has chosen.
///
/// Who has merely a socket, which may be forwarded or mounted into a container, cannot make such a file. Nothing in the
/// directory is opened or removed but what this names.
package struct ProofDirectory: Sendable {
  /// How the names of the files begin.
  static let prefix = "prove-"
  /// The bytes of a nonce in hexadecimal digits: 256 bits.
  private static let nonceLength = 64

  private let path: String

  /// The state directory, by its absolute path.
  package init(path: String) { self.path = path }

  /// Chooses a new file: 128 random bits for its name, so that no two are ever the same, and 256 for its contents.
  func challenge() -> StateProof {
    StateProof(path: path + "/" + Self.prefix + Self.digits(words: 2), nonce: Self.digits(words: 4))
  }

  /// Looks whether the file of a proof is there and is what was asked for, and removes it.
  ///
  /// - Returns: true for a regular file of this process's user with mode 0600 and no other name, which holds the nonce
  ///   and perhaps a line feed. On a full disk, where it can hold nothing, its name is enough: no one else knows it.
  func takes(_ proof: StateProof) -> Bool {
    defer { discard(proof) }
    // A FIFO or a symbolic link in this place must not hold the loop up, nor lead elsewhere.
    guard let file = try? FileDescriptor.open(proof.path, [.read, .noFollow, .nonBlocking]),
      let status = try? file.status(), status.kind == .regular, status.owner == ProcessIdentity.user,
      status.permissions == 0o600, status.linkCount == 1,
      var bytes = try? file.contents(limit: Self.nonceLength + 2)
    else { return false }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.isEmpty, isFull { return true }
    return Self.isEqual(bytes, Array(proof.nonce.utf8))
  }

  /// Whether no byte can be written there: the disk is full, or this user's part of it.
  private var isFull: Bool {
    let attempt = challenge()
    defer { discard(attempt) }
    do throws(Errno) {
      try FileDescriptor.open(attempt.path, [.write, .create, .exclusive, .noFollow])
        .writeAll(Array(attempt.nonce.utf8).span)
      return false
    } catch { return error.isFullDisk }
  }

  /// Removes the file of a proof that is not wanted any more.
  func discard(_ proof: StateProof) { try? DirectoryEntry.remove(proof.path) }

  /// Removes files that an earlier broker asked for and never took.
  package func removeLeftovers() {
    for name in (try? TemporaryDirectory.names(in: path)) ?? [] where Self.isName(name) {
      try? DirectoryEntry.remove(path + "/" + name)
    }
  }

  private static func isName(_ name: String) -> Bool {
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

  /// Compares every byte, whatever it finds.
  private static func isEqual(_ given: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard given.count == wanted.count else { return false }
    var difference: UInt8 = 0
    for index in given.indices { difference |= given[index] ^ wanted[index] }
    return difference == 0
  }
}
