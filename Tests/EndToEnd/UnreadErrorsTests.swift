import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A broker whose standard error is not read: a stopped pager, or a parent that reads standard output only.
@Suite(.standardTimeLimit) struct UnreadErrorsTests {
  /// A pipe without any room, for the standard error of a program.
  private final class FullPipe {
    let reader: FileDescriptor
    let writer: FileDescriptor

    init() throws {
      let (reading, writing) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
      reader = FileDescriptor(owning: reading)
      writer = FileDescriptor(owning: writing)
      // An open file of its own: what the program inherits still makes its writer wait.
      let filler = try FileDescriptor.open("/proc/self/fd/\(writing)", [.write, .nonBlocking])
      for size in [4096, 1] {
        let bytes = [UInt8](repeating: UInt8(ascii: "."), count: size)
        while case .bytes = filler.write(bytes.span) {}
      }
    }
  }

  private static func start(
    _ sandbox: Sandbox, _ arguments: [String], _ pipe: FullPipe, _ others: [(Int32, Int32)] = []
  ) throws -> Program {
    try sandbox.start(
      BuiltPrograms.daemon, ["--state", sandbox.state] + arguments,
      input: arguments.contains("--stdio") ? .pipe : .nothing,
      descriptors: [(pipe.writer.number, 2)] + others.map { (here: $0.0, there: $0.1) })
  }

  @Test func `a private owner answers, and ends in order, though nobody reads its standard error`() async throws {
    try await Sandbox.run { sandbox in
      let pipe = try FullPipe()
      let options = try sandbox.configure(#"{ logLevel: "debug" }"#)
      let broker = try Self.start(sandbox, ["--stdio"] + options, pipe)
      let wire = ProgramWire(broker)
      for number in 0..<200 {
        #expect(try wire.refusal("awaitLogin", #"{"loginFlowId":"none","unknown\#(number)":1}"#) == "flowNotFound")
      }
      wire.finishSending()
      #expect(try wire.readToEnd().isEmpty)
      #expect(try broker.wait() == 0)
    }
  }

  @Test func `a signal to stop ends an owner whose standard error is full`() async throws {
    try await Sandbox.run { sandbox in
      let pipe = try FullPipe()
      let (reading, writing) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
      let word = ByteInlet(FileDescriptor(owning: reading))
      let end = FileDescriptor(owning: writing)
      let owner = try Self.start(sandbox, ["--ready-fd", "3"], pipe, [(end.number, 3)])
      end.close()
      #expect(String(decoding: try word.readToEnd(), as: UTF8.self) == "ready\n")
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `an owner that cannot start ends, though nobody reads why`() async throws {
    try await Sandbox.run { sandbox in
      let pipe = try FullPipe()
      let options = try sandbox.configure("{ nonsense: 1 }")
      #expect(try Self.start(sandbox, options, pipe).wait() == 1)
    }
  }

  @Test func `what was logged is there once somebody reads`() async throws {
    try await Sandbox.run { sandbox in
      let pipe = try FullPipe()
      let broker = try Self.start(sandbox, ["--stdio"], pipe)
      let wire = ProgramWire(broker)
      #expect(try wire.call("ping").members().isEmpty)
      let inlet = ByteInlet(try pipe.reader.duplicate())
      var text = ""
      while !text.contains(" ready ") { text += String(decoding: try inlet.read(until: Patience.end), as: UTF8.self) }
      wire.finishSending()
      while !text.contains(" stopped") { text += String(decoding: try inlet.read(until: Patience.end), as: UTF8.self) }
      #expect(try broker.wait() == 0)
    }
  }
}
