import Glibc
import LinuxSystem

/// What is in a directory.
enum Directory {
  /// The names in a directory, sorted; empty if there is none.
  static func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The paths of all regular files below a directory, links not followed.
  static func files(below path: String) -> [String] {
    names(in: path).flatMap { name -> [String] in
      let inner = path + "/" + name
      switch try? FileStatus.ofLink(inner).kind {
      case .directory?: return files(below: inner)
      case .regular?: return [inner]
      default: return []
      }
    }
  }

  /// All bytes of a file; also of one in `/proc`, which has no size.
  static func bytes(of path: String) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .read)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      switch file.read(into: &buffer) {
      case .bytes(let count): bytes += buffer[..<count]
      case .endOfStream, .wouldBlock: return bytes
      case .failed(let error): throw error
      }
    }
  }

  /// Writes a new file (0600).
  static func write(_ text: String, to path: String) throws {
    let file = try FileDescriptor.open(path, [.write, .create, .truncate])
    try file.writeAll(Array(text.utf8).span)
  }
}
