package import LinuxSystem

/// The listening sockets that a service manager opened for this process (sd_listen_fds(3)).
///
/// One whose name is that of a limited socket is that one, any other is the broker's own, of which there is one at most.
package struct SocketActivation: Sendable {
  /// The reason why the service manager's sockets cannot be taken over.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The variables do not say how many there are.
    case unreadableCount(String)
    /// More than one for the broker itself.
    case severalOwn(Int)
    /// More than one by the name of a limited socket.
    case sameName(String)
    /// Not a Unix stream socket that listens.
    case notAListener
    /// Its address is no absolute path, so that no client could be told it.
    case withoutPath
    /// The kernel said no.
    case failed(Errno)

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .unreadableCount(let count): "LISTEN_FDS is \(count), which is no number of sockets"
      case .severalOwn(let count):
        "the service manager passed \(count) sockets for the broker itself; configure one, and give each other the name of "
          + "a limited socket (FileDescriptorName=)"
      case .sameName(let name):
        "the service manager passed several sockets named \(name); give each a socket unit of its own"
      case .notAListener: "the service manager passed something that is not a listening Unix stream socket"
      case .withoutPath: "the service manager passed a socket without a path; give ListenStream= an absolute one"
      case .failed(let error): "the socket of the service manager cannot be used: \(error)"
      }
    }
  }

  /// A socket that was passed.
  private struct Passed: Sendable {
    let name: String
    let number: Int32
    let path: String
  }

  /// The first descriptor that is passed.
  private static let firstDescriptor: Int32 = 3
  /// More than any service has, and few enough to be looked at.
  private static let mostDescriptors: Int32 = 1000

  /// The sockets that were passed, which stay open as long as the process lives.
  private var sockets: [Passed] = []

  /// No sockets.
  package init() {}

  /// Takes over what was passed.
  ///
  /// - Parameters:
  ///   - environment: with `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
  ///   - pid: of this process; variables that are meant for another one are ignored.
  /// - Throws: if something of it is no listening Unix socket with a path.
  package init(environment: [String: String], pid: Int32) throws(Refusal) {
    guard let meant = environment["LISTEN_PID"], Int32(meant) == pid else { return }
    guard let text = environment["LISTEN_FDS"] else { return }
    guard let count = Int32(text), (0...Self.mostDescriptors).contains(count) else { throw .unreadableCount(text) }
    let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    for index in 0..<count {
      // As sd_listen_fds_with_names(3) calls a socket without a name.
      let name = names.flatMap { $0.count == Int(count) ? $0[Int(index)] : nil } ?? "unknown"
      let number = Self.firstDescriptor + index
      sockets.append(Passed(name: name, number: number, path: try Self.prepare(number)))
    }
  }

  /// Looks at a descriptor that was passed, which stays open.
  ///
  /// - Returns: the path of the socket.
  private static func prepare(_ number: Int32) throws(Refusal) -> String {
    let descriptor = FileDescriptor(owning: number)
    let result: Result<String, Refusal>
    if UnixSocket.isListening(descriptor) {
      do throws(Errno) {
        try descriptor.setCloseOnExec()
        try descriptor.setNonBlocking()
        let path = try UnixSocket.path(of: descriptor)
        result = PathName.isAbsolute(path) ? .success(path) : .failure(.withoutPath)
      } catch { result = .failure(.failed(error)) }
    } else {
      result = .failure(.notAListener)
    }
    _ = descriptor.release()
    return try result.get()
  }

  /// Takes the broker's own socket, at whatever path: the one that has no name of these.
  ///
  /// - Returns: nil if there is none.
  /// - Throws: if there are more of one kind than there can be.
  package mutating func takeOwn(besides limited: Set<String>) throws(Refusal) -> UnixSocket.Listening? {
    let own = sockets.filter { !limited.contains($0.name) }
    guard own.count < 2 else { throw .severalOwn(own.count) }
    sockets.removeAll { !limited.contains($0.name) }
    for socket in sockets where sockets.count(where: { $0.name == socket.name }) > 1 { throw .sameName(socket.name) }
    guard let found = own.first else { return nil }
    return try Self.listening(FileDescriptor(owning: found.number))
  }

  /// The names of the limited sockets that were passed.
  package var names: [String] { sockets.map(\.name) }

  /// The path of the limited socket of a name; nil if none was passed.
  package func path(of name: String) -> String? { sockets.first { $0.name == name }?.path }

  /// The limited socket of a name, by a descriptor of its own: what was passed stays for a later reload.
  ///
  /// - Returns: nil if none of this name was passed.
  package func listening(_ name: String) throws(Refusal) -> UnixSocket.Listening? {
    guard let found = sockets.first(where: { $0.name == name }) else { return nil }
    let descriptor = FileDescriptor(owning: found.number)
    let copy: Result<Int32, Errno>
    do throws(Errno) { copy = .success(try descriptor.duplicate().release()) } catch { copy = .failure(error) }
    _ = descriptor.release()
    switch copy {
    case .success(let number): return try Self.listening(FileDescriptor(owning: number))
    case .failure(let error): throw .failed(error)
    }
  }

  private static func listening(_ descriptor: consuming FileDescriptor) throws(Refusal) -> UnixSocket.Listening {
    do throws(Errno) { return try UnixSocket.Listening(adopting: descriptor) } catch { throw .failed(error) }
  }
}
