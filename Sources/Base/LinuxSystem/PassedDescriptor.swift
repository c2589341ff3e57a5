#if !hasFeature(Embedded)
import CLinux
import Synchronization

/// A descriptor that the process at the other end of a Unix socket has passed with some bytes (unix(7), SCM_RIGHTS); it is closed
/// with the last reference to this.
///
/// Each takes one of this process's descriptors, beside that of its connection: few are held at a time, however many are passed.
package final class PassedDescriptor: Sendable {
  /// The most that are held at a time: each only until the request that came with it is read.
  private static let most = 16
  private static let held = Atomic<Int>(0)

  private let descriptor: FileDescriptor

  /// Takes a descriptor over; nil, and it is closed, where too many are held.
  fileprivate init?(_ descriptor: consuming FileDescriptor) {
    guard Self.held.add(1, ordering: .relaxed).newValue <= Self.most else {
      Self.held.subtract(1, ordering: .relaxed)
      return nil
    }
    self.descriptor = descriptor
  }

  deinit { Self.held.subtract(1, ordering: .relaxed) }

  /// The kind of a socket that takes connections which the kernel tells about.
  package enum Kind: Equatable, Sendable {
    /// A Unix socket, at a path; empty for one without.
    case unix(path: String)
    /// A TCP socket of this machine's loopback addresses.
    case port(Int)
  }

  /// Why a descriptor is no socket at which connections can be taken and judged.
  package enum Refusal: Error, Equatable, Sendable {
    /// It is no stream socket that listens.
    case notListening
    /// It can be reached from other machines, or is of another family than IP and Unix sockets.
    case notLocal
    /// It is in another network namespace, whose tables of connections this process does not see.
    case otherNetwork
  }

  /// Looks at the socket.
  ///
  /// - Throws: why it is not one.
  package func kind() throws(Refusal) -> Kind {
    switch clinux_listening_family(descriptor.number) {
    case AF_UNIX: return .unix(path: (try? UnixSocket.path(of: descriptor)) ?? "")
    case AF_INET, AF_INET6: break
    case let family: throw family > 0 ? .notLocal : .notListening
    }
    guard clinux_is_bound_to_loopback(descriptor.number) == 1,
      let port = try? Errno.check(clinux_local_port(descriptor.number))
    else {
      throw .notLocal
    }
    // A kernel before 5.14 does not say; the peers of a foreign one are not found in the tables then, and are refused.
    guard clinux_is_in_own_network(descriptor.number) != 0 else { throw .otherNetwork }
    return .port(Int(port))
  }

  /// Another descriptor of the socket, which does not block.
  ///
  /// - Throws: what fcntl(2) says.
  package func listener() throws(Errno) -> FileDescriptor {
    let own = try descriptor.duplicate()
    try own.setNonBlocking()
    return own
  }
}

/// Bytes, and what came with them.
package struct PassedBytes {
  /// The result of the reading.
  package let result: IOResult
  /// The one descriptor that came with the bytes; nil where none, or more than one, came.
  package let descriptor: PassedDescriptor?
  /// Whether any was closed, since one alone can be passed at a time.
  package let hasClosed: Bool
}

extension FileDescriptor {
  /// Reads once from a Unix socket into an array, up to a limit, with the descriptor that was passed with these bytes.
  package func receivePassed(into buffer: inout [UInt8], upTo limit: Int) -> PassedBytes {
    precondition(limit > 0 && limit <= buffer.count, "read into an empty range")
    let number = self.number
    // The pointer is used inside the closure only, and the kernel writes at most `limit` bytes.
    let received = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above.
      unsafe clinux_receive(number, bytes.baseAddress, limit)
    }
    let descriptor = received.descriptor >= 0 ? PassedDescriptor(FileDescriptor(owning: received.descriptor)) : nil
    return PassedBytes(
      result: IOResult(reading: received.count), descriptor: descriptor,
      hasClosed: received.too_many != 0 || (received.descriptor >= 0 && descriptor == nil))
  }
}
#endif
