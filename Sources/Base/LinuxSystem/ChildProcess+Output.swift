#if !hasFeature(Embedded)
extension ChildProcess {
  /// Reads the output of a program until it has ended and all of it is read.
  ///
  /// The end of the stream is not waited for: something that the program left running may hold it open for ever.
  ///
  /// - Parameters:
  ///   - stream: the reading end of a pipe, which does not block.
  ///   - deadline: when to give up, by `BootClock`.
  ///   - read: reads from the stream once.
  /// - Returns: false where the program has not ended in time.
  /// - Throws: what `read` throws, and what the system says of a descriptor.
  package func readOutput(
    of stream: borrowing FileDescriptor, until deadline: Duration, _ read: () throws -> IOResult
  ) throws -> Bool {
    let end = try endDescriptor()
    var poll = PollSet(count: 2)
    poll.watch(0, stream.number, readable: true)
    poll.watch(1, end.number, readable: true)
    while true {
      let remaining = deadline - BootClock.now
      guard remaining > .zero else { return false }
      _ = try poll.wait(atMost: remaining)
      guard poll.isReady(0) else {
        if poll.isReady(1) { return true }
        continue
      }
      switch try read() {
      case .bytes, .wouldBlock: continue
      case .endOfStream: poll.watch(0, stream.number)
      case .failed(let error): throw error
      }
    }
  }
}
#endif
