import Glibc
package import JSONRPC

/// Files of the folder `Schemas`, found from this file's own place.
package enum SchemaFile {
  /// A file that the repository should have.
  private struct Unreadable: Error { let path: String }

  /// The document in a file.
  package static func document(_ name: String) throws -> JSONDocument {
    try JSONDocument(parsing: try bytes(name))
  }

  /// The bytes of a file.
  package static func bytes(_ name: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/Schemas/\(name)"
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
