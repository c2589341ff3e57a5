package import LinuxSystem

/// The file by which a client shows a broker that it has the state directory.
///
/// The broker says where it is and what it holds. It is obeyed only as far as that can do no harm, whichever program
/// answers on the socket: a new file with a name that nothing else uses, in a directory that belongs to this user alone.
package struct StateProofFile: Sendable {
  private static let digits = Set("0123456789abcdef".utf8)
  private static let prefix = "prove-"

  /// The absolute path.
  package let path: String
  private let nonce: String

  /// Looks whether a broker asks for something that may be done.
  ///
  /// - Returns: nil for another name than the broker's own programs choose, or other contents than a nonce.
  package init?(path: String, nonce: String) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    guard PathName.isAbsolute(path), name.hasPrefix(Self.prefix),
      Self.isHexadecimal(name.dropFirst(Self.prefix.count), length: 32), Self.isHexadecimal(nonce[...], length: 64)
    else { return nil }
    self.path = path
    self.nonce = nonce
  }

  private static func isHexadecimal(_ text: Substring, length: Int) -> Bool {
    text.utf8.count == length && text.utf8.allSatisfy(digits.contains)
  }

  /// Makes the file; one that is there already is never touched.
  ///
  /// - Returns: false if it is there already: another request of the connection has made it.
  /// - Throws: what open(2) or write(2) says; `EACCES` for a directory that is not this user's alone.
  package func create() throws(Errno) -> Bool {
    guard (try? PrivateDirectory(PathName.directory(of: path), create: false)) != nil else { throw .accessDenied }
    let file: FileDescriptor
    do throws(Errno) {
      file = try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow])
    } catch {
      guard error == .exists else { throw error }
      return false
    }
    do throws(Errno) { try file.writeAll(Array(nonce.utf8).span) } catch {
      // Its name alone, which only the broker and this client know, has to do on a full disk.
      if error.isFullDisk, (try? file.truncate(to: 0)) != nil { return true }
      remove()
      throw error
    }
    return true
  }

  /// Says why the file could not be made.
  package func sentence(for error: Errno) -> String {
    let directory = PathName.directory(of: path)
    do throws(PrivateDirectory.Refusal) { _ = try PrivateDirectory(directory, create: false) } catch {
      return "access to the broker's state directory cannot be proven: \(error)"
    }
    return "access to the broker's state directory cannot be proven: no file can be created in \(directory): \(error)"
  }

  /// Says that the broker has looked for the file, and was not satisfied.
  package var sentenceForRefusal: String {
    "access to the broker's state directory cannot be proven: the broker could not read \(path); it may have no "
      + "descriptor left, or see another file system"
  }

  /// Removes the file where the broker has not done so.
  package func remove() { try? DirectoryEntry.remove(path) }
}
