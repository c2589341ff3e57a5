import Glibc
import JSON
import LinuxSystem
import TestSupport

/// The control interface of a backend under test: HTTP on a port of this machine, a connection for each question.
struct ControlInterface {
  /// The longest that one of its answers may take: it may have been asked to wait for something first.
  private static let patience = Patience.ceiling + .seconds(10)

  private let port: UInt16

  /// The interface at an address of the form `http://127.0.0.1:<port>`.
  init(_ url: String) throws {
    guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw TestFailure("no control interface: \(url)")
    }
    self.port = port
  }

  /// Asks for a path; with a body it is a POST, unless another method is named.
  ///
  /// - Throws: ``TestFailure`` for anything but the status 200.
  func ask(_ path: String, _ body: String? = nil, by method: String? = nil) throws -> JSONNode {
    let socket = try connect()
    let method = method ?? (body == nil ? "GET" : "POST")
    let fields = "Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: \(body?.utf8.count ?? 0)"
    try socket.sendAll(Array("\(method) \(path) HTTP/1.1\r\n\(fields)\r\n\r\n\(body ?? "")".utf8).span)
    let reply = try ByteInlet(socket).readToEnd(within: Self.patience)
    let blank = Array("\r\n\r\n".utf8)
    guard let head = reply.indices.first(where: { reply[$0...].starts(with: blank) }) else {
      throw TestFailure("\(path): no answer")
    }
    let text = Array(reply[(head + blank.count)...])
    guard String(decoding: reply[..<head], as: UTF8.self).hasPrefix("HTTP/1.1 200 ") else {
      throw TestFailure("\(path): \(String(decoding: text, as: UTF8.self))")
    }
    return try JSONDocument(parsing: text).root
  }

  private func connect() throws -> FileDescriptor {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw Errno(code: errno) }
    let descriptor = FileDescriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Errno(code: errno) }
    return descriptor
  }
}
