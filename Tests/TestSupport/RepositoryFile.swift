import Glibc

/// Files of the repository, found from this file's own place.
package enum RepositoryFile {
  /// A file that the repository should have.
  private struct Unreadable: Error { let path: String }

  /// The bytes of a file, by its path from the root.
  package static func bytes(_ name: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/\(name)"
    guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}
