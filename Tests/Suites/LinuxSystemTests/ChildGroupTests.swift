import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ChildGroupTests {
  private func start(_ script: String, output: borrowing FileDescriptor) throws -> ChildProcess {
    var plan = ChildProcess.Plan(path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"])
    plan.descriptors = [(output.number, 1)]
    plan.newSession = true
    return try ChildProcess(plan)
  }

  @Test func `the end of a child is waited for with a limit`() throws {
    let input = try FileDescriptor.pipe()
    var plan = ChildProcess.Plan(path: "/bin/sh", arguments: ["-c", "read line; exit 7"], environment: [:])
    plan.descriptors = [(input.readEnd.number, 0)]
    let child = try ChildProcess(plan)
    let end = try child.endDescriptor()
    var poll = PollSet(count: 1)
    poll.watch(0, end.number, readable: true)
    #expect(try poll.wait(atMost: .zero) == 0)
    #expect(try child.poll() == .running)
    try input.ends { readEnd, writeEnd throws(Errno) in writeEnd.close() }
    #expect(try poll.wait(atMost: Patience.ceiling) == 1 && poll.isReady(0))
    #expect(try child.wait() == 7)
    #expect(throws: Errno(code: ESRCH)) { _ = try child.endDescriptor() }
  }

  @Test func `a group is ended as a whole`() throws {
    try FileDescriptor.pipe().ends { readEnd, writeEnd in
      let child = try start("sleep 3600 & echo x; wait", output: writeEnd)
      writeEnd.close()
      var bytes = [UInt8](repeating: 0, count: 16)
      #expect(readEnd.read(into: &bytes) == .bytes(2))
      child.killGroup()
      #expect(try child.wait() == 128 + SIGKILL)
      // Both held the pipe open: its end shows that both are gone.
      #expect(readEnd.read(into: &bytes) == .endOfStream)
    }
  }

  @Test func `the processes below a child that shares this group are named, parents first`() throws {
    try FileDescriptor.pipe().ends { readEnd, writeEnd in
      var plan = ChildProcess.Plan(
        path: "/bin/sh", arguments: ["-c", "sh -c 'sleep 3600 & echo $$ $!; wait' & wait"],
        environment: ["PATH": "/usr/bin:/bin"])
      plan.descriptors = [(writeEnd.number, 1)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      var bytes = [UInt8](repeating: 0, count: 64)
      guard case .bytes(let count) = readEnd.read(into: &bytes) else { return #expect(Bool(false), "nothing was said") }
      let below = String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
      #expect(child.tree.map(\.pid) == [child.pid] + below.compactMap { Int32($0) } && below.count == 2)
      for process in child.tree { try process.send(.kill) }
      #expect(try child.wait() == 128 + SIGKILL)
      // All held the pipe open.
      #expect(readEnd.read(into: &bytes) == .endOfStream)
    }
  }

  @Test func `a read goes into a part of a span`() throws {
    let pipe = try FileDescriptor.pipe()
    try pipe.writeEnd.writeAll([1, 2, 3].span)
    var bytes = [UInt8](repeating: 9, count: 4)
    var span = bytes.mutableSpan
    let result = pipe.readEnd.read(into: &span, at: 2)
    #expect(result == .bytes(2))
    #expect(bytes == [9, 9, 1, 2])
  }

  @Test func `a new directory is written with the names above it`() throws {
    let scratch = Scratch()
    let directory = try PrivateDirectory(scratch.file("a/b"), create: true)
    try directory.synchronizeWithParents()
    #expect(scratch.names(in: "a") == ["b"])
  }
}
