import Glibc

/// The repository that the tests were built from, found from this file's own place.
package enum Repository {
  /// A file that the repository should have.
  private struct Unreadable: Error { let path: String }

  /// Its directory.
  package static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  /// The bytes of a file, by its path from the root.
  package static func bytes(_ name: String) throws -> [UInt8] {
    let path = "\(root)/\(name)"
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
