import Glibc
import LinuxSystem
import Transport

/// Runs a loop on a thread of its own.
final class LoopRunner {
  private let loop: EventLoop
  private var thread = pthread_t()

  init(_ loop: EventLoop) throws {
    self.loop = loop
    let started = Semaphore()
    loop.post { started.signal() }
    let context = Unmanaged.passRetained(loop).toOpaque()
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        try? Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    guard result == 0 else { throw Errno(code: result) }
    started.wait()
  }

  func stop() {
    loop.stop()
    pthread_join(thread, nil)
  }
}
