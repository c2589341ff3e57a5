import CLinux

/// Tells when a link, an address or a route has changed, as a descriptor (rtnetlink(7)).
package struct RouteSocket: ~Copyable {
  /// Readable once something has changed.
  package let descriptor: FileDescriptor

  /// One datagram of the kernel is no longer: it fills a page, or 8 KiB where pages are small (netlink(7)).
  private static let datagramSize = 16384
  /// So many datagrams are read at a time; a link that flaps has others wait for no longer.
  private static let batch = 64

  /// Listens from now on.
  ///
  /// - Throws: `EPERM`, `EAFNOSUPPORT` and the like where a sandbox has no such sockets; `EMFILE`.
  package init() throws(Errno) {
    descriptor = FileDescriptor(owning: try Errno.check(clinux_route_socket()))
  }

  /// Reads the pending messages; returns whether any of them may mean that a network is back.
  ///
  /// - Throws: what recv(2) says of a socket that is of no more use.
  package func hasChanged() throws(Errno) -> Bool {
    var buffer = [UInt8](repeating: 0, count: Self.datagramSize)
    var changed = false
    for _ in 0..<Self.batch {
      switch receive(&buffer) {
      case .bytes(let count): changed = RouteMessages.tellOfChange(buffer.span.extracting(..<count)) || changed
      case .endOfStream: continue
      case .wouldBlock: return changed
      // The kernel had more to tell than there was room for (netlink(7)): something has changed for sure.
      case .failed(let error) where error.code == ENOBUFS: changed = true
      case .failed(let error): throw error
      }
    }
    return changed
  }

  private func receive(_ buffer: inout [UInt8]) -> IOResult {
    let number = descriptor.number
    // The pointer is used inside the closure only.
    return unsafe buffer.withUnsafeMutableBytes { bytes in
      // The kernel writes at most the length of the buffer.
      IOResult(reading: unsafe clinux_route_receive(number, bytes.baseAddress, bytes.count))
    }
  }
}
