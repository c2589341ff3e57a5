import CLinux

/// A bell between threads (eventfd(2)): any thread rings it, one waits for it to become readable.
package struct EventCounter: ~Copyable, Sendable {
  /// Readable while the bell has rung and was not silenced.
  package let descriptor: FileDescriptor

  /// Makes a silent bell.
  package init() throws(Errno) {
    descriptor = FileDescriptor(owning: try Errno.check(clinux_eventfd()))
  }

  /// Rings.
  package func raise() {
    clinux_eventfd_raise(descriptor.number)
  }

  /// Silences it; all rings so far count as heard.
  package func clear() {
    clinux_drain_counter(descriptor.number)
  }
}
