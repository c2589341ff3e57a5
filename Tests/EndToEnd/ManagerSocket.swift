import Glibc
import LinuxSystem
import TestSupport

/// A service manager's end of sd_notify(3): a real datagram socket, and what was said on it.
final class ManagerSocket {
  /// What `NOTIFY_SOCKET` is to be.
  let name: String
  private let number: Int32
  private var poll = PollSet(count: 1)

  /// Binds a socket to a path, or, with `@` for its first byte, to an abstract name.
  init(_ name: String) throws {
    self.name = name
    number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    if name.hasPrefix("@") { address.sun_path.0 = 0 }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (name.hasPrefix("@") ? 0 : 1))
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, size) }
    }
    guard number >= 0, bound == 0 else { throw TestFailure("no datagram socket at \(name): \(errno)") }
  }

  deinit { close(number) }

  /// The next message, its assignments one a line.
  ///
  /// - Throws: ``TestFailure`` if none comes in time.
  func next() throws -> [String] {
    poll.watch(0, number, readable: true)
    guard try poll.wait(atMost: Patience.ceiling) > 0 else { throw TestFailure("the manager was told nothing in time") }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(number, &buffer, buffer.count, 0)
    guard count >= 0 else { throw TestFailure("recv: \(errno)") }
    return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Whether a message waits to be read.
  var hasMessage: Bool {
    poll.watch(0, number, readable: true)
    return ((try? poll.wait(atMost: .zero)) ?? 0) > 0
  }
}
