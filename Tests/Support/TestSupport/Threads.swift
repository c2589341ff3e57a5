package import Glibc

/// Real threads for calls that block, which the pool of tasks is not made for.
package enum Threads {
  private final class Body: Sendable {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  /// Runs `call` on `count` threads at once and waits for all.
  package static func run(_ count: Int, _ call: @escaping @Sendable () -> Void) {
    let threads = (0..<count).map { _ in start(call) }
    for thread in threads { pthread_join(thread, nil) }
  }

  /// Runs `call` on a thread; to be joined.
  package static func start(_ call: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Body(call)).toOpaque()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().call() }
        return nil
      }, context)
    return thread
  }

  /// Waits for the end of a thread.
  package static func join(_ thread: pthread_t) { pthread_join(thread, nil) }
}
