import Glibc

/// Files of the folder `Fixtures`, found from this file's own place; `README.md` there names their sources.
enum Fixture {
  private struct Unreadable: Error { let path: String }

  static func bytes(_ name: String) throws -> [UInt8] {
    let path = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Fixtures/" + name
    guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { contents += buffer[..<count] }
    return contents
  }

  static func lines(_ name: String) throws -> [String] {
    String(decoding: try bytes(name), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
