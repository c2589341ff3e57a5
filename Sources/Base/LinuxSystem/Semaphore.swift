import CLinux

/// A counter that a thread can wait for (sem_overview(7)).
///
/// Safe: the memory it owns never leaves it.
@safe
package final class Semaphore: @unchecked Sendable {
  // Sendable: `sem_t` is made to be used from several threads; the pointer itself never changes.
  private let semaphore: UnsafeMutablePointer<sem_t>

  /// Makes a semaphore that lets `count` waits through.
  package init(count: UInt32 = 0) {
    // Owned by this object, freed in deinit; sem_init fills it before any other use.
    unsafe semaphore = .allocate(capacity: 1)
    // As above.
    unsafe sem_init(semaphore, 0, count)
  }

  deinit {
    // No thread waits any more, since a waiter holds a reference to this object.
    unsafe sem_destroy(semaphore)
    // Allocated in init, and freed only here.
    unsafe semaphore.deallocate()
  }

  /// Lets one wait through.
  package func signal() {
    // Initialised in init.
    unsafe sem_post(semaphore)
  }

  /// Waits for a signal.
  package func wait() {
    // Initialised in init.
    while unsafe sem_wait(semaphore) != 0 {}
  }

  /// Waits for a signal, or until the time is over.
  ///
  /// - Returns: whether there was a signal.
  @discardableResult
  package func wait(atMost limit: Duration) -> Bool {
    // Initialised in init.
    unsafe clinux_semaphore_wait(semaphore, max(limit, .zero).wholeNanoseconds) == 0
  }
}
