import LinuxSystem
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct MemoryFileTests {
  @Test func `a program reads all of it from the beginning, however long it is`() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_003)
    let file = try MemoryFile(bytes.span)
    try FileDescriptor.pipe().ends { readEnd, writeEnd in
      var plan = ChildProcess.Plan(path: "/usr/bin/wc", arguments: ["-c"], environment: [:])
      plan.descriptors = [(file.descriptor.number, 0), (writeEnd.number, 1)]
      let child = try ChildProcess(plan)
      writeEnd.close()
      var said = [UInt8](repeating: 0, count: 16)
      #expect(readEnd.read(into: &said) == .bytes(8))
      #expect(said.starts(with: "1000003\n".utf8))
      #expect(try child.wait() == 0)
    }
  }

  @Test func `nothing of it is left for who still has it open`() throws {
    let bytes = Array("made-up secret".utf8)
    let file = try MemoryFile(bytes.span)
    let other = try file.descriptor.duplicate()
    #expect(try other.contents(limit: 64) == bytes)
    drop(file)
    #expect(try other.contents(limit: 64).isEmpty)
  }

  private func drop(_ file: consuming MemoryFile) {}
}
