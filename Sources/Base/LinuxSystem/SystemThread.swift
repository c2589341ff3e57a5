import CLinux

/// A thread of this process that runs one call (pthread_create(3)).
///
/// Its creator blocks signals first or lets them through: the thread inherits that.
package struct SystemThread: Sendable {
  private let thread: pthread_t

  private final class Body: Sendable {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  /// Starts a thread, which has to be joined.
  ///
  /// - Throws: what pthread_create(3) says: `EAGAIN` where a limit of the user's processes, of the control group's tasks
  ///   or of memory is reached.
  package init(_ call: @escaping @Sendable () -> Void) throws(Errno) {
    var thread = pthread_t()
    // The retained reference is taken over by the thread, which releases it.
    let context = unsafe Unmanaged.passRetained(Body(call)).toOpaque()
    // `run` matches what pthread_create(3) calls, and `context` is what it expects.
    let code = unsafe pthread_create(&thread, nil, SystemThread.run, context)
    guard code == 0 else {
      // No thread has taken it over.
      unsafe Unmanaged<Body>.fromOpaque(context).release()
      throw Errno(code: code)
    }
    self.thread = thread
  }

  /// Waits for the end of the thread; once, and not on the thread itself.
  package func join() { pthread_join(thread, nil) }

  /// Lets the thread end without being waited for; instead of ``join()``.
  package func detach() { pthread_detach(thread) }

  // A C function pointer; `context` is the reference that `init` retained, taken over here exactly once.
  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    // As above.
    guard let context = unsafe context else { return nil }
    // As above.
    unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().call()
    return nil
  }
}
