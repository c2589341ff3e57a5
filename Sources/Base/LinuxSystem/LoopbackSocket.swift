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

  /// How many connections may wait to be accepted: as many as the clients of a door open at once.
  ///
  /// One more waits a second.
  private static let backlog: Int32 = 64

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

  /// The user whose process holds the other end of a connection, as the kernel names it (sock_diag(7)); where it does not
  /// tell, by its tables (proc(5), `net/tcp`).
  ///
  /// - Parameter connection: a connection that was accepted on a loopback address.
  /// - Returns: nil where it is gone already, or cannot be told from others.
  package static func user(connectedTo connection: borrowing FileDescriptor) -> UInt32? {
    let end = clinux_other_end(connection.number)
    guard end.error == 0 else { return userInTables(connectedTo: connection) }
    // It may have ended its own sending by now.
    return end.is_held != 0 ? end.uid : nil
  }

  /// Whether a process holds the other end of a connection, which sends nothing any more; false where the kernel does not
  /// tell.
  package static func isHeld(byPeerOf connection: borrowing FileDescriptor) -> Bool {
    let end = clinux_other_end(connection.number)
    return end.error == 0 && end.is_held != 0
  }

  /// Whether no process holds the other end of a connection any more; false where the kernel does not tell.
  package static func isLeft(byPeerOf connection: borrowing FileDescriptor) -> Bool {
    let end = clinux_other_end(connection.number)
    return end.error == 0 && end.is_held == 0
  }

  /// The same as ``user(connectedTo:)``, by the tables alone, which are read whole.
  static func userInTables(connectedTo connection: borrowing FileDescriptor) -> UInt32? {
    guard let port = try? Errno.check(clinux_peer_port(connection.number)),
      let own = try? Errno.check(clinux_local_port(connection.number))
    else { return nil }
    // A client may speak IPv6 to an address of IPv4 (RFC 4291, section 2.5.5.2).
    let users = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path -> [UInt32] in
      guard let file = try? FileDescriptor.open(path, .read), let text = try? file.contents(limit: tableLimit) else {
        return []
      }
      return self.users(in: text, local: UInt16(clamping: port), remote: UInt16(clamping: own))
    }
    return Set(users).count == 1 ? users.first : nil
  }

  /// A table of fifty thousand connections.
  private static let tableLimit = 8 << 20
  /// The state of a connection that stands (`TCP_ESTABLISHED`).
  private static let established = "01"

  /// The users of the connections between two ports of this machine, in a table of the kernel's.
  static func users(in table: [UInt8], local: UInt16, remote: UInt16) -> [UInt32] {
    table.split(separator: UInt8(ascii: "\n")).compactMap { line in
      // As in `0: 0100007F:A2C4 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000 …`.
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count > 7, words[3].elementsEqual(established.utf8), self.port(words[1]) == local,
        self.port(words[2]) == remote
      else { return nil }
      return UInt32(String(decoding: words[7], as: UTF8.self))
    }
  }

  private static func port(_ address: ArraySlice<UInt8>) -> UInt16? {
    UInt16(String(decoding: address.suffix(4), as: UTF8.self), radix: 16)
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
