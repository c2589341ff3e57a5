import LinuxSystem
package import Sealing
import SecretMemory

/// The vault's key as a file of 32 random bytes that nobody but its owner can read.
///
/// The key is not derived from anything: who has the file and the vault has the tokens. So it lies in another directory
/// than the vault where the state directory was not chosen by hand.
package struct KeyFile: Sendable {
  /// How many bytes a key file has.
  package static let byteCount = SealingKey.byteCount

  /// The absolute path.
  package let path: String

  /// Names a key file; nothing is read yet.
  ///
  /// - Parameter path: absolute.
  package init(path: String) {
    self.path = path
  }

  /// The key in the file, which is made first where neither it nor the vault exists.
  ///
  /// - Parameter vaultPath: the database that the key is for. While it holds anything, a missing key is never replaced
  ///   by a new one, which could not open it.
  /// - Returns: the key, in locked memory.
  /// - Throws: `KeySourceError`.
  package func key(forVaultAt vaultPath: String) throws(KeySourceError) -> SealingKey {
    let isNew = !Vault.hasContents(at: vaultPath)
    let directory = try openDirectory(creatingIfMissing: isNew)
    do throws(KeySourceError) {
      return try read()
    } catch {
      guard case .missing = error, isNew else { throw error }
    }
    try create(in: directory)
    return try read()
  }

  private func openDirectory(creatingIfMissing create: Bool) throws(KeySourceError) -> PrivateDirectory {
    do throws(PrivateDirectory.Refusal) {
      return try PrivateDirectory(PathName.directory(of: path), create: create)
    } catch {
      if case .failed(_, .noEntry) = error { throw .missing(path: path) }
      throw .directory(error)
    }
  }

  /// Reads the key straight into locked memory, after looking at the very file that was opened.
  private func read() throws(KeySourceError) -> SealingKey {
    let file = try open()
    try check(file)
    do throws(SecretInitializationFailure<KeySourceError>) {
      let secret = try Secret(byteCount: Self.byteCount) { target throws(KeySourceError) in
        // The size was checked: a regular file gives all of its few bytes at once (read(2)).
        switch file.read(into: &target) {
        case .bytes(Self.byteCount): return
        case .failed(let error): throw .failed(path: path, error)
        default: throw .wrongLength(path: path)
        }
      }
      do { return try SealingKey(secret) } catch { throw SecretInitializationFailure.body(.wrongLength(path: path)) }
    } catch {
      switch error {
      case .exhausted: throw .secretMemoryExhausted
      case .body(let failure): throw failure
      }
    }
  }

  private func open() throws(KeySourceError) -> FileDescriptor {
    do throws(Errno) {
      // Not blocking: a pipe in place of the file would never be opened.
      return try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking])
    } catch {
      switch error {
      case .noEntry: throw .missing(path: path)
      case .symbolicLink: throw .notAFile(path: path)
      default: throw .failed(path: path, error)
      }
    }
  }

  private func check(_ file: borrowing FileDescriptor) throws(KeySourceError) {
    let status: FileStatus
    do { status = try file.status() } catch { throw .failed(path: path, error) }
    guard status.kind == .regular else { throw .notAFile(path: path) }
    guard status.owner == ProcessIdentity.user else { throw .foreignOwner(path: path, owner: status.owner) }
    guard !status.isOpenToOthers else { throw .openToOthers(path: path, permissions: status.permissions) }
    guard status.size == Self.byteCount else { throw .wrongLength(path: path) }
  }

  /// Writes a new key under a name of its own, and gives it the right name once it is on the disk.
  ///
  /// Of two that do so at once, one succeeds and the other reads that one's key.
  private func create(in directory: borrowing PrivateDirectory) throws(KeySourceError) {
    let suffix = String(decoding: Base64URL.encode(RandomBytes.array(count: 12).span), as: UTF8.self)
    let temporary = "\(path).\(suffix)"
    let key: SealingKey
    do { key = try SealingKey.random() } catch { throw .secretMemoryExhausted }
    do throws(Errno) {
      let file = try FileDescriptor.open(temporary, [.write, .create, .exclusive, .noFollow])
      defer { try? DirectoryEntry.remove(temporary) }
      try key.secret.withBytes { bytes throws(Errno) in try file.writeAll(bytes) }
      try file.synchronize()
      do throws(Errno) {
        try DirectoryEntry.add(path, for: temporary)
      } catch {
        guard error == .exists else { throw error }
      }
      try directory.descriptor.synchronize()
    } catch {
      throw .failed(path: path, error)
    }
  }
}
