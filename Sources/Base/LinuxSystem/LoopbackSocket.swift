import CLinux

/// TCP sockets that cannot be reached from outside this machine (ip(7), ipv6(7)).
package enum LoopbackSocket {
  /// One of the two loopback addresses.
  package enum Address: Sendable {
    /// 127.0.0.1.
    case ipv4
    /// ::1.
    case ipv6
  }

  /// How many connections may wait to be accepted: a browser opens a few.
  private static let backlog: Int32 = 16

  /// A socket that listens, and the port it has.
  package struct Listening: ~Copyable, Sendable {
    /// Accepts connections, as ``UnixSocket/accept(from:)`` does; non-blocking.
    package let descriptor: FileDescriptor
    /// The port.
    package let port: Int

    /// Refuses connections from now on, those that wait to be accepted too; the descriptor stays open.
    package func stop() {
      _ = clinux_result(shutdown(descriptor.number, Int32(SHUT_RDWR)))
    }
  }

  /// Opens a listening socket.
  ///
  /// - Parameters:
  ///   - address: on which address.
  ///   - port: on which port; 0 is any that is free.
  /// - Returns: the socket, non-blocking.
  /// - Throws: `EADDRINUSE` where a process listens there, `EACCES` for a port below 1024, `EADDRNOTAVAIL` on a machine
  ///   without that address, and what else bind(2) says.
  package static func listen(on address: Address, port: UInt16) throws(Errno) -> Listening {
    let descriptor = FileDescriptor(
      owning: try Errno.check(clinux_loopback_listen(address == .ipv6 ? 1 : 0, port, backlog)))
    let chosen = try Errno.check(clinux_local_port(descriptor.number))
    return Listening(descriptor: descriptor, port: Int(chosen))
  }

  /// Opens a listening socket on an address that this machine may lack.
  ///
  /// - Returns: nil on a machine without that address.
  /// - Throws: as ``listen(on:port:)`` for everything else.
  package static func listen(ifPresent address: Address, port: UInt16) throws(Errno) -> Listening? {
    do throws(Errno) { return try listen(on: address, port: port) } catch {
      guard [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.code) else { throw error }
      return nil
    }
  }

  /// Connects to a port of this machine.
  ///
  /// - Parameters:
  ///   - address: on which address.
  ///   - port: on which port.
  /// - Returns: a blocking connection.
  /// - Throws: `ECONNREFUSED` where no process listens, and what else connect(2) says.
  package static func connect(to address: Address, port: UInt16) throws(Errno) -> FileDescriptor {
    FileDescriptor(owning: try Errno.check(clinux_loopback_connect(address == .ipv6 ? 1 : 0, port)))
  }
}
