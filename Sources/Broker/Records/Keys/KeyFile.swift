import LinuxSystem
package import Sealing
import SecretMemory

/// A key as a file of 32 random bytes that only its owner can read.
///
/// The key is not derived from anything: a program with both the file and the vault has the tokens. So it lies in
/// another directory than the vault, unless the state directory was chosen by hand.
///
/// A new key is written beside the one in use, as `<path>.next`, and takes its place once the data key that it wraps is
/// durable. At each moment the key that is needed is in one of the two files, whenever the process or the machine
/// stops.
package struct KeyFile: Sendable {
  /// How many bytes a key file has.
  package static let byteCount = SealingKey.byteCount

  /// The absolute path.
  package let path: String

  /// The path of a new key until the vault is re-encrypted.
  package var nextPath: String { path + ".next" }

  /// The path of the previous key until the new one has opened the vault.
  package var previousPath: String { path + ".previous" }

  /// Names a key file; nothing is read yet.
  ///
  /// - Parameter path: absolute.
  package init(path: String) {
    self.path = path
  }

  /// The key in the file.
  ///
  /// - Returns: the key, in locked memory.
  /// - Throws: `KeySourceError`, `.missing` too.
  package func read() throws(KeySourceError) -> SealingKey {
    _ = try openDirectory(creatingIfMissing: false)
    return try read(path)
  }

  /// The key in the file; nil where there is no file.
  ///
  /// - Throws: `KeySourceError` when there is one that cannot be trusted or read.
  package func readIfPresent() throws(KeySourceError) -> SealingKey? {
    do throws(KeySourceError) {
      return try read()
    } catch {
      guard case .missing = error else { throw error }
      return nil
    }
  }

  /// Reads the staged key; nil where there is none, or it was not written to its end.
  ///
  /// - Throws: `KeySourceError` when there is one that cannot be trusted or read.
  package func readNext() throws(KeySourceError) -> SealingKey? {
    do throws(KeySourceError) {
      _ = try openDirectory(creatingIfMissing: false)
      return try read(nextPath)
    } catch {
      switch error {
      case .missing, .wrongLength: return nil
      default: throw error
      }
    }
  }

  /// Writes a new random key beside the one in use, and waits until it has reached the disk.
  ///
  /// - Parameter needed: the identifier of the key that opens the vault now. If that one still waits for its turn, it
  ///   gets it first; any other that is left over is removed.
  /// - Returns: the new key, in locked memory.
  /// - Throws: `KeySourceError`; the key in use is untouched.
  package func stageNext(keeping needed: SealingKey.ID? = nil) throws(KeySourceError) -> SealingKey {
    let directory = try openDirectory(creatingIfMissing: true)
    if let needed, try readNext()?.id == needed { try promoteNext() } else { try remove(nextPath) }
    let key: SealingKey
    do { key = try SealingKey.random() } catch { throw .secretMemoryExhausted }
    do throws(Errno) {
      let file = try FileDescriptor.open(nextPath, [.write, .create, .exclusive, .noFollow])
      try key.secret.withBytes { bytes throws(Errno) in try file.writeAll(bytes) }
      try file.synchronize()
      try directory.synchronizeWithParents()
    } catch {
      try? remove(nextPath)
      throw .failed(path: nextPath, error)
    }
    return key
  }

  /// Puts the staged key in the place of the one in use, durably; does nothing where none is staged.
  ///
  /// - Parameter keepsPrevious: whether the one in use is kept under ``previousPath``.
  /// - Throws: `KeySourceError`; both files are as they were, or it is done.
  package func promoteNext(keepsPrevious: Bool = false) throws(KeySourceError) {
    let directory = try openDirectory(creatingIfMissing: false)
    do throws(Errno) {
      if keepsPrevious, (try? FileStatus.ofLink(nextPath)) != nil, (try? FileStatus.ofLink(path)) != nil {
        try directory.removeFile(String(previousPath.dropFirst(PathName.directory(of: path).count + 1)))
        // A second name: at no moment is there none for the key in use.
        try DirectoryEntry.add(previousPath, for: path)
      }
      do throws(Errno) {
        try DirectoryEntry.rename(nextPath, to: path)
      } catch {
        guard error == .noEntry else { throw error }
      }
      // Also where nothing waits: a process before this one may have ended between the two.
      try directory.descriptor.synchronize()
    } catch { throw .failed(path: path, error) }
  }

  /// Removes the key that waits, durably; none is no error.
  ///
  /// - Throws: `KeySourceError`.
  package func discardNext() throws(KeySourceError) {
    try remove(nextPath)
  }

  /// Removes the key before this one, durably; none is no error.
  ///
  /// - Throws: `KeySourceError`.
  package func discardPrevious() throws(KeySourceError) {
    guard (try? FileStatus.ofLink(previousPath)) != nil else { return }
    try remove(previousPath)
  }

  /// Removes the key in use, durably, after the vault was given another; none is no error.
  ///
  /// - Throws: `KeySourceError`.
  package func remove() throws(KeySourceError) {
    try remove(path)
  }

  private func remove(_ name: String) throws(KeySourceError) {
    let directory: PrivateDirectory
    do throws(KeySourceError) {
      directory = try openDirectory(creatingIfMissing: false)
    } catch {
      guard case .missing = error else { throw error }
      return
    }
    do throws(Errno) {
      do throws(Errno) {
        try DirectoryEntry.remove(name)
      } catch {
        guard error == .noEntry else { throw error }
      }
      try directory.descriptor.synchronize()
    } catch { throw .failed(path: name, error) }
  }

  private func openDirectory(creatingIfMissing create: Bool) throws(KeySourceError) -> PrivateDirectory {
    do throws(PrivateDirectory.Refusal) {
      return try PrivateDirectory(PathName.directory(of: path), create: create)
    } catch {
      if case .failed(_, .noEntry) = error { throw .missing(path: path) }
      throw .directory(error)
    }
  }
}

extension KeyFile {
  /// Reads a key straight into locked memory, after looking at the very file that was opened.
  private func read(_ name: String) throws(KeySourceError) -> SealingKey {
    let file = try open(name)
    try check(file, name)
    do throws(SecretInitializationFailure<KeySourceError>) {
      let secret = try Secret(byteCount: Self.byteCount) { target throws(KeySourceError) in
        // The size was checked: a regular file gives all of its few bytes at once (read(2)).
        switch file.read(into: &target) {
        case .bytes(Self.byteCount): return
        case .failed(let error): throw .failed(path: name, error)
        default: throw .wrongLength(path: name)
        }
      }
      do { return try SealingKey(secret) } catch { throw SecretInitializationFailure.body(.wrongLength(path: name)) }
    } catch {
      switch error {
      case .exhausted: throw .secretMemoryExhausted
      case .body(let failure): throw failure
      }
    }
  }

  private func open(_ name: String) throws(KeySourceError) -> FileDescriptor {
    do throws(Errno) {
      // Not blocking: a pipe in place of the file would never be opened.
      return try FileDescriptor.open(name, [.read, .noFollow, .nonBlocking])
    } catch {
      switch error {
      case .noEntry: throw .missing(path: name)
      case .symbolicLink: throw .notAFile(path: name)
      default: throw .failed(path: name, error)
      }
    }
  }

  private func check(_ file: borrowing FileDescriptor, _ name: String) throws(KeySourceError) {
    let status: FileStatus
    do { status = try file.status() } catch { throw .failed(path: name, error) }
    guard status.kind == .regular else { throw .notAFile(path: name) }
    guard status.owner == ProcessIdentity.user else { throw .foreignOwner(path: name, owner: status.owner) }
    guard !status.isOpenToOthers else { throw .openToOthers(path: name, permissions: status.permissions) }
    guard status.size == Self.byteCount else { throw .wrongLength(path: name) }
  }
}
