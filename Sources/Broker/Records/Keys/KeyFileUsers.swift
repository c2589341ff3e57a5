import LinuxSystem

/// The vaults that a key file in another directory opens.
///
/// Two state directories can have the same key file: with two values of `XDG_STATE_HOME`, but one of `XDG_DATA_HOME`.
/// To give one of the vaults another key in that place would lock the other for ever. So each vault notes its path
/// beside the key file, one a line, and checks the list before it changes the key.
package struct KeyFileUsers: Sendable {
  /// Room for some thousands of paths; what is behind it is not read.
  private static let byteLimit = 256 << 10

  private let keyPath: String
  private let vaultPath: String

  /// The list of a key file; nil for one that lies beside the vault, where no other vault looks for it.
  ///
  /// - Parameters:
  ///   - keyPath: of the key file; nil for none.
  ///   - vaultPath: of the database that asks.
  package init?(ofKeyAt keyPath: String?, vaultPath: String) {
    guard let keyPath, PathName.directory(of: keyPath) != PathName.directory(of: vaultPath) else { return nil }
    self.keyPath = keyPath
    self.vaultPath = vaultPath
  }

  /// The path of the list.
  private var path: String { keyPath + ".vaults" }

  /// Another vault that is there and was opened by the key; nil where none is known.
  ///
  /// - Throws: `KeySourceError.usersUnknown` where the list is there and cannot be read.
  package func other() throws(KeySourceError) -> String? {
    guard let noted else { throw .usersUnknown(path: path) }
    let own = try? FileStatus.ofLink(vaultPath).identity
    return noted.first { name in
      guard PathName.isAbsolute(name) else { return false }
      do throws(Errno) {
        let status = try FileStatus.ofLink(name)
        return status.kind == .regular && status.size > 0 && status.identity != own
      } catch {
        // What cannot be examined may well be there. A vault that was removed leaves its directory behind; where that is
        // missing too, its disk may not be mounted now.
        return error != .noEntry || !Self.isThere(PathName.directory(of: name))
      }
    }
  }

  private static func isThere(_ path: String) -> Bool { (try? FileStatus.ofLink(path)) != nil }

  /// Whether the key file may be another vault's as well: not so where that is known.
  package var mayHaveOther: Bool {
    do { return try other() != nil } catch { return true }
  }

  /// Whether the vault was opened by the key before, as far as the list shows.
  package var hasNoted: Bool { noted?.contains(vaultPath) ?? true }

  /// Notes that the vault opens by the key; where that cannot be written, the note is lost.
  package func note() {
    guard !hasNoted, !vaultPath.utf8.contains(UInt8(ascii: "\n")) else { return }
    guard let file = try? FileDescriptor.open(path, [.write, .create, .append, .noFollow, .nonBlocking]) else { return }
    try? file.writeAll(Array("\(vaultPath)\n".utf8).span)
  }

  /// Notes that the vault opens by the key no more.
  package func forget() {
    guard let noted else { return }
    let others = noted.filter { $0 != vaultPath }
    guard others.count < noted.count, let directory = try? PrivateDirectory(PathName.directory(of: path), create: false)
    else { return }
    let name = String(path.dropFirst(PathName.directory(of: path).count + 1))
    try? directory.writeFile(name, Array(others.map { $0 + "\n" }.joined().utf8).span)
  }

  /// The noted paths; nil where there is a list that cannot be trusted or read.
  private var noted: [String]? {
    let file: FileDescriptor
    do throws(Errno) { file = try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]) } catch {
      return error == .noEntry ? [] : nil
    }
    guard let status = try? file.status(), status.kind == .regular, status.owner == ProcessIdentity.user,
      let bytes = try? file.contents(limit: Self.byteLimit)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
