import CLinux

/// The process at the other end of a Unix socket when the connection was made, as the kernel names it (`SO_PEERCRED`,
/// unix(7)).
///
/// Only the user decides what is allowed: a process id may have been reused since, so it is for logs, and for the order
/// in which requests have their turn.
package struct PeerCredentials: Equatable, Sendable {
  /// The process, for logs and for the order of turns.
  package let pid: Int32
  /// The effective user.
  package let uid: UInt32
  /// The effective group.
  package let gid: UInt32

  /// The credentials of a process: for tests and for a process that connects to itself.
  package init(pid: Int32, uid: UInt32, gid: UInt32) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
  }

  /// Asks the kernel about the peer of a connected socket.
  ///
  /// - Throws: `ENOTSOCK` and the like, if it is no such socket.
  package init(of descriptor: borrowing FileDescriptor) throws(Errno) {
    let peer = clinux_peer_credentials(descriptor.number)
    guard peer.error == 0 else { throw Errno(code: peer.error) }
    self.init(pid: peer.credentials.pid, uid: peer.credentials.uid, gid: peer.credentials.gid)
  }
}
