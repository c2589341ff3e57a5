package import LinuxSystem

/// A listening socket that a service manager opened for this process (sd_listen_fds(3)).
package enum SocketActivation {
  /// The reason why the service manager's sockets cannot be taken over.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not exactly one.
    case unexpectedCount(String)
    /// Not a Unix stream socket that listens.
    case notAListener
    /// Its address is no absolute path, so that no client could be told it.
    case withoutPath
    /// The kernel said no.
    case failed(Errno)

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .unexpectedCount(let count): "the service manager passed \(count) sockets; configure exactly one"
      case .notAListener: "the service manager passed something that is not a listening Unix stream socket"
      case .withoutPath: "the service manager passed a socket without a path; give ListenStream= an absolute one"
      case .failed(let error): "the socket of the service manager cannot be used: \(error)"
      }
    }
  }

  /// The first descriptor that is passed.
  private static let firstDescriptor: Int32 = 3

  /// Takes the socket over, whatever its path is.
  ///
  /// - Parameters:
  ///   - environment: with `LISTEN_PID` and `LISTEN_FDS`.
  ///   - pid: of this process; variables that are meant for another one are ignored.
  /// - Returns: nil if there is none.
  /// - Throws: if what was passed is not one listening Unix socket.
  package static func takeOver(
    environment: [String: String], pid: Int32
  ) throws(Refusal) -> UnixSocket.Listening? {
    guard let meant = environment["LISTEN_PID"], Int32(meant) == pid else { return nil }
    guard let count = environment["LISTEN_FDS"], count != "0" else { return nil }
    guard count == "1" else { throw .unexpectedCount(count) }
    let descriptor = FileDescriptor(owning: firstDescriptor)
    guard UnixSocket.isListening(descriptor) else {
      _ = descriptor.release()
      throw .notAListener
    }
    do throws(Errno) {
      try descriptor.setCloseOnExec()
      try descriptor.setNonBlocking()
      return try UnixSocket.Listening(adopting: descriptor)
    } catch { throw error == .noPath ? .withoutPath : .failed(error) }
  }
}
