package import LinuxSystem
package import SecretMemory

/// A file with an assertion that says who this machine is (RFC 7523), which its issuer replaces again and again, as
/// Kubernetes' projected tokens are.
///
/// All may read it, since it is good for a short time and one audience; but one who could write it would choose who the
/// broker is.
package struct AssertionFile: Sendable {
  /// Why it is not taken.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is not there.
    case missing
    /// It is a directory, a pipe, a device or a socket.
    case notAFile
    /// It belongs neither to this user nor to root.
    case foreignOwner(UInt32)
    /// Others can write to it.
    case writable(permissions: UInt32)
    /// It is longer than any assertion that is taken.
    case tooLong
    /// The system refused.
    case failed(Errno)

    /// The reason, as the end of a sentence.
    package var description: String {
      switch self {
      case .missing: "there is no such file"
      case .notAFile: "it is not a regular file"
      case .foreignOwner(let owner): "it belongs to user \(owner), neither to the broker's own user nor to root"
      case .writable(let permissions):
        "others can write to it (mode \(String(permissions, radix: 8))); chmod go-w lets only its owner"
      case .tooLong: "it has more than \(AssertionFile.byteLimit) bytes"
      case .failed(let error): "it cannot be read (\(error))"
      }
    }
  }

  /// The most bytes of an assertion.
  package static let byteLimit = 65536

  private let path: String

  /// Names the file by its absolute path; nothing is read yet.
  package init(_ path: String) { self.path = path }

  /// Reads the file as it is now, symbolic links followed, into locked memory.
  ///
  /// - Returns: the contents.
  /// - Throws: ``Refusal``; `SecretMemoryExhausted`.
  package func read() throws -> Secret {
    let file: FileDescriptor
    // Not blocking: a pipe in its place would never be opened.
    do { file = try FileDescriptor.open(path, [.read, .nonBlocking, .noControllingTerminal]) } catch {
      throw error == .noEntry ? Refusal.missing : .failed(error)
    }
    let size = try check(file)
    do {
      // As much as it has, so that a short assertion takes no room for a long one.
      let (buffer, count) = try RetrievedSecret.contents(of: file, limit: min(size, Self.byteLimit))
      return try buffer.withBytes { bytes throws(SecretMemoryExhausted) in
        try Secret(copying: bytes.extracting(first: count))
      }
    } catch let refusal as RetrievedSecret.Refusal {
      switch refusal {
      case .tooLong: throw Refusal.tooLong
      case .failed(let error): throw Refusal.failed(error)
      }
    }
  }

  /// Checks the open file itself, whatever its name leads to by now, and returns how many bytes it has.
  private func check(_ file: borrowing FileDescriptor) throws(Refusal) -> Int {
    let status: FileStatus
    do { status = try file.status() } catch { throw .failed(error) }
    guard status.kind == .regular else { throw .notAFile }
    guard status.owner == 0 || status.owner == ProcessIdentity.user else { throw .foreignOwner(status.owner) }
    guard status.permissions & 0o022 == 0 else { throw .writable(permissions: status.permissions) }
    guard status.size <= Int64(Self.byteLimit) else { throw .tooLong }
    return Int(status.size)
  }
}
