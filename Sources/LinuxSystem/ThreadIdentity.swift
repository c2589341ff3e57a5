import CLinux

/// Which thread the caller is on: a value that no other living thread has.
package struct ThreadIdentity: Equatable, Sendable {
  /// Never 0.
  package let rawValue: UInt64

  /// The calling thread.
  @inline(__always)
  package static var current: ThreadIdentity { ThreadIdentity(rawValue: clinux_thread_identity()) }
}
