package import LinuxSystem
package import SecretMemory

/// A secret that the service manager gives to a service, as a file in a directory of the service's own (systemd.exec(5),
/// `LoadCredential=`, `LoadCredentialEncrypted=`).
package struct CredentialFile: Sendable {
  /// Why it is not taken.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The process was started without credentials.
    case noDirectory(name: String)
    /// The directory is there, but not this credential.
    case missing(path: String)
    /// It is a symbolic link, a directory, a pipe: anything but a file.
    case notAFile(path: String)
    /// It belongs neither to this user nor to root.
    case foreignOwner(path: String, owner: UInt32)
    /// Others have rights on it.
    case openToOthers(path: String, permissions: UInt32)
    /// There is nothing in it.
    case empty(path: String)
    /// It is longer than any secret that is taken.
    case tooLong(path: String)
    /// The system refused.
    case failed(path: String, Errno)

    /// One sentence, and what to do; nothing of the credential.
    package var description: String {
      switch self {
      case .noDirectory(let name):
        "The vault's key is the credential \(name), but this process was started without credentials; "
          + "start the service with LoadCredential=\(name):… in its unit."
      case .missing(let path): "The credential \(path) is missing; add LoadCredential= for it to the service's unit."
      case .notAFile(let path):
        "The credential \(path) is not a regular file; put the secret itself there, not a link."
      case .foreignOwner(let path, let owner):
        "The credential \(path) belongs to user \(owner); let the service manager provide it with LoadCredential=."
      case .openToOthers(let path, let permissions):
        "The credential \(path) is open to others (mode \(String(permissions, radix: 8))); run: chmod 400 \(ShellWord.quoted(path))"
      case .empty(let path): "The credential \(path) is empty; put a secret into the file that LoadCredential= names."
      case .tooLong(let path):
        "The credential \(path) has more than \(RetrievedSecret.byteLimit) bytes; name the file with the secret."
      case .failed(let path, let error): "The credential \(path) cannot be read: \(error)."
      }
    }
  }

  private let directory: String?
  private let name: String
  private let byteLimit: Int

  /// Names the credential; nothing is read yet.
  package init(_ settings: KeySourceSettings) {
    directory = settings.credentialsDirectory
    name = settings.credentialName
    byteLimit = settings.byteLimit
  }

  /// Reads the secret, without one newline at its end, into locked memory.
  ///
  /// - Throws: `KeySourceError.credential`, `.secretMemoryExhausted`.
  package func read() throws(KeySourceError) -> Secret {
    guard let directory, PathName.isAbsolute(directory) else { throw .credential(.noDirectory(name: name)) }
    let path = directory + "/" + name
    let file = try open(path)
    try check(file, path)
    do {
      let (buffer, count) = try RetrievedSecret.contents(of: file, limit: byteLimit)
      guard let secret = try RetrievedSecret.trimmed(buffer, count: count) else { throw Refusal.empty(path: path) }
      return secret
    } catch let refusal as Refusal {
      throw .credential(refusal)
    } catch let refusal as RetrievedSecret.Refusal {
      switch refusal {
      case .tooLong: throw .credential(.tooLong(path: path))
      case .failed(let error): throw .credential(.failed(path: path, error))
      }
    } catch { throw .secretMemoryExhausted }
  }

  private func open(_ path: String) throws(KeySourceError) -> FileDescriptor {
    do throws(Errno) {
      // Not blocking: a pipe in place of the file would never be opened.
      return try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking])
    } catch {
      switch error {
      case .noEntry: throw .credential(.missing(path: path))
      case .symbolicLink: throw .credential(.notAFile(path: path))
      default: throw .credential(.failed(path: path, error))
      }
    }
  }

  private func check(_ file: borrowing FileDescriptor, _ path: String) throws(KeySourceError) {
    let status: FileStatus
    do { status = try file.status() } catch { throw .credential(.failed(path: path, error)) }
    guard status.kind == .regular else { throw .credential(.notAFile(path: path)) }
    // The service manager may leave a credential with root, and give the service access by an access control list: its
    // mask then stands in the bits of the group (acl(5)), which gives the group no access.
    let forbidden: UInt32
    switch status.owner {
    case 0: forbidden = 0o037
    case ProcessIdentity.user: forbidden = 0o077
    default: throw .credential(.foreignOwner(path: path, owner: status.owner))
    }
    guard status.permissions & forbidden == 0 else {
      throw .credential(.openToOthers(path: path, permissions: status.permissions))
    }
  }
}
