import LinuxSystem
import TestSupport

/// The reading end of a pipe or socket, waited on with a time limit.
final class ByteInlet {
  private let descriptor: FileDescriptor
  private var poll = PollSet(count: 1)
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// The next bytes; empty at the end of the stream.
  ///
  /// - Throws: ``TestFailure`` if nothing comes in time.
  func read(until deadline: Duration) throws -> [UInt8] {
    while true {
      poll.watch(0, descriptor.number, readable: true)
      let left = deadline - BootClock.now
      guard left > .zero, try poll.wait(atMost: left) > 0 else { throw TestFailure("nothing was said in time") }
      switch descriptor.read(into: &buffer) {
      case .bytes(let count): return Array(buffer[..<count])
      case .endOfStream, .failed(.connectionReset): return []
      case .wouldBlock: continue
      case .failed(let error): throw error
      }
    }
  }

  /// Everything up to the end of the stream.
  func readToEnd(within limit: Duration = Patience.ceiling) throws -> [UInt8] {
    let deadline = BootClock.now + limit
    var bytes: [UInt8] = []
    while true {
      let more = try read(until: deadline)
      if more.isEmpty { return bytes }
      bytes += more
    }
  }
}
