import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct FileDescriptorTests {
  @Test func `a descriptor is closed with its value and has close-on-exec`() throws {
    let pipe = try FileDescriptor.pipe()
    try pipe.ends { (readEnd, writeEnd) throws in
      #expect(fcntl(readEnd.number, F_GETFD) & FD_CLOEXEC != 0)
      do { _ = consume writeEnd }
      var buffer: [UInt8] = [0]
      #expect(readEnd.read(into: &buffer) == .endOfStream)
    }
  }

  @Test func `a pipe moves bytes, says when it would block and when it has ended`() throws {
    let pipe = try FileDescriptor.pipe(nonBlocking: true)
    var buffer = [UInt8](repeating: 0, count: 8)
    try pipe.ends { (readEnd, writeEnd) throws in
      #expect(readEnd.read(into: &buffer) == .wouldBlock)
      #expect(writeEnd.write([9, 1, 2, 3], 1..<4) == .bytes(3))
      #expect(readEnd.read(into: &buffer, at: 2) == .bytes(3))
      #expect(buffer == [0, 0, 1, 2, 3, 0, 0, 0])
      writeEnd.close()
      #expect(readEnd.read(into: &buffer) == .endOfStream)
    }
  }

  @Test func `sending to a closed socket is an error and no signal`() throws {
    let pair = try UnixSocket.pair(nonBlocking: true)
    try pair.ends { (first, second) throws in
      second.close()
      #expect(first.send([1], 0..<1) == .failed(.brokenPipe))
    }
  }

  @Test func `a full socket says so`() throws {
    let pair = try UnixSocket.pair(nonBlocking: true)
    let block = [UInt8](repeating: 7, count: 65536)
    var result = IOResult.bytes(0)
    while case .bytes = result { result = pair.first.send(block, 0..<block.count) }
    #expect(result == .wouldBlock)
  }

  @Test func `errors have the names and words of errno`() {
    #expect(Errno.noEntry.description == "No such file or directory (ENOENT)")
    #expect(Errno(code: 99999).name == "errno 99999")
    #expect(throws: Errno.noEntry) { try FileDescriptor.open("/proc/nonexistent", .read).close() }
  }

  @Test func `the peer of a socket pair is this process`() throws {
    let pair = try UnixSocket.pair()
    let peer = try PeerCredentials(of: pair.first)
    #expect(peer == PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()))
    let file = try FileDescriptor.open("/dev/null", .read)
    #expect(throws: Errno(code: ENOTSOCK)) { try PeerCredentials(of: file) }
  }

  @Test func `a named pipe and an anonymous one are read without setting flags for others`() throws {
    let pipe = try FileDescriptor.pipe()
    let inherited = pipe.readEnd.number
    let stream = try InheritedStream(try pipe.readEnd.duplicate(), .reading)
    var buffer = [UInt8](repeating: 0, count: 4)
    #expect(stream.read(into: &buffer) == .wouldBlock)
    #expect(fcntl(inherited, F_GETFL) & O_NONBLOCK == 0)
    #expect(pipe.writeEnd.write([5], 0..<1) == .bytes(1))
    #expect(stream.read(into: &buffer) == .bytes(1))

    let scratch = Scratch()
    #expect(mkfifo(scratch.path + "/fifo", 0o600) == 0)
    let fifo = try FileDescriptor.open(scratch.path + "/fifo", .readWrite)
    let named = try InheritedStream(try fifo.duplicate(), .reading)
    #expect(named.read(into: &buffer) == .wouldBlock)
    #expect(fifo.write([6], 0..<1) == .bytes(1))
    #expect(named.read(into: &buffer) == .bytes(1))
    #expect(fcntl(fifo.number, F_GETFL) & O_NONBLOCK == 0)
  }
}
