import LinuxSystem
import Synchronization

/// Tells the client that started the daemon on demand that it is ready, or why it is not, on a pipe of theirs.
final class ReadyReport: Sendable {
  private let pipe: Mutex<Int32?>

  /// A report on an inherited descriptor; without one, nothing is reported.
  init(descriptor: Int32?) {
    pipe = Mutex(descriptor)
  }

  /// The broker will answer later than usual: a program that prints the vault's key may take so long.
  func waiting(atMost limit: Duration) {
    pipe.withLock { number in
      guard let open = number else { return }
      let descriptor = FileDescriptor(owning: open)
      write("wait \(limit.components.seconds + 1)\n", to: descriptor)
      // The last word is still to be said.
      number = descriptor.release()
    }
  }

  /// The broker answers from now on.
  func ready() { say("ready\n") }

  /// The broker will not answer.
  func failed(_ failure: StartFailure) { say("error \(failure.kind.rawValue) \(failure.message)\n") }

  private func say(_ line: String) {
    let number = pipe.withLock { pipe in
      defer { pipe = nil }
      return pipe
    }
    guard let number else { return }
    write(line, to: FileDescriptor(owning: number))
  }

  private func write(_ line: String, to descriptor: borrowing FileDescriptor) {
    // Where this fails, or nothing is read, no one waits for the word any more.
    if let copy = try? descriptor.duplicate() { BoundedWriting.write(line, to: copy) }
  }
}
