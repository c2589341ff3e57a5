import Glibc
import LinuxSystem

/// What can lie in the place of a file and is none.
package enum Obstacle: String, Sendable {
  case pipe, socket, directory, link, device

  /// Those that every user can make: a device takes root.
  package static let own: [Obstacle] = [.pipe, .socket, .directory, .link]

  /// Puts it in the place of whatever is there; a link leads to what was there.
  package func put(at path: String) throws {
    _ = rename(path, path + ".moved")
    let result: Int32
    switch self {
    case .pipe: result = mkfifo(path, 0o600)
    case .directory: result = mkdir(path, 0o700)
    case .link: result = symlink(path + ".moved", path)
    // The null device (null(4)), which any number of bytes can be written to.
    case .device: result = mknod(path, S_IFCHR | 0o600, 0x103)
    case .socket: result = Self.bindSocket(path)
    }
    guard result == 0 else { throw Errno(code: errno) }
  }

  private static func bindSocket(_ path: String) -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return -1 }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
