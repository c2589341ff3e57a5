import CLinux

/// The identity of the calling thread: a value that no other living thread has.
package struct ThreadIdentity: Equatable, Sendable {
  /// Never 0.
  package let rawValue: UInt64

  /// The calling thread.
  @inline(__always)
  package static var current: ThreadIdentity { ThreadIdentity(rawValue: clinux_thread_identity()) }

  /// Names the calling thread in process listings.
  ///
  /// - Parameter name: 15 bytes at most are kept.
  package static func setName(_ name: String) {
    // The name is NUL-terminated for the length of the call, which copies it.
    _ = unsafe pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
  }
}
