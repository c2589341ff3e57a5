import LinuxSystem
import ProviderKit
import SecretMemory

/// Hands messages to a program of the user's: one line of JSON on its standard input for each, nothing in its arguments.
///
/// Status 0 is success. A status that sysexits(3) has for what no repetition changes (64 to 78 but for `EX_TEMPFAIL`, 75)
/// refuses the message; any other one, and a program that takes too long, is a passing trouble.
struct CommandChannel: MessageChannel {
  /// Half of the time in which a message is tried, so that there is time for a second program.
  static let timeLimit = Duration.seconds(5)
  private static let finalStatuses: Set<Int32> = Set(64...78).subtracting([75])
  /// How much of what a program says is read: its last line tells what went wrong.
  private static let errorLimit = 4096

  let name = DeliveryConfiguration.Channel.command
  private let program: UserProgram
  private let timeLimit: Duration

  /// A channel through a program.
  ///
  /// - Parameters:
  ///   - program: what is run for each message.
  ///   - timeLimit: how long it may take before it is ended.
  init(_ program: UserProgram, timeLimit: Duration = CommandChannel.timeLimit) {
    self.program = program
    self.timeLimit = timeLimit
  }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) {
    let outcome = Promise<Result<Void, DeliveryFailure>>()
    do throws(Errno) {
      // A program may take its time: it has a thread of its own.
      try SystemThread { outcome.fulfil(Result { () throws(DeliveryFailure) in try run(message) }) }.detach()
    } catch {
      throw .unreachable("there is no thread for the command \(program.name): \(error)")
    }
    try await outcome.value.get()
  }

  private func run(_ message: OutboundMessage) throws(DeliveryFailure) {
    let status: Int32
    let errors: [UInt8]
    do {
      (status, errors) = try execute(message)
    } catch let failure as DeliveryFailure {
      throw failure
    } catch let error as Errno where error == .accessDenied {
      throw .refused("the command \(program.name) may not be executed; run chmod +x on it, or name its interpreter")
    } catch {
      throw .unreachable("the command \(program.name) cannot be run: \(error)")
    }
    guard status != 0 else { return }
    let line = Self.lastLine(of: errors, without: message)
    let text = "the command \(program.name) exited with status \(status)" + (line.isEmpty ? "" : ": \(line)")
    throw Self.finalStatuses.contains(status) ? .refused(text) : .unreachable(text)
  }

  private func execute(_ message: OutboundMessage) throws -> (status: Int32, errors: [UInt8]) {
    let deadline = BootClock.now + timeLimit
    let input = try Self.input(message)
    return try FileDescriptor.pipe().ends { readEnd, writeEnd in
      try readEnd.setNonBlocking()
      let discarded = try FileDescriptor.open("/dev/null", .write)
      let started = try program.start([(input.number, 0), (discarded.number, 1), (writeEnd.number, 2)])
      guard let child = started else { throw DeliveryFailure.refused("the command \(program.name) was not found") }
      writeEnd.close()
      do {
        let errors = try collect(from: readEnd, of: child, until: deadline)
        return (try child.wait(), errors)
      } catch {
        child.killGroup()
        _ = try? child.wait()
        throw error
      }
    }
  }

  /// A pipe with the whole message in it, which is far smaller than a pipe is (pipe(7): 64 KiB), so that writing it
  /// waits for no reader.
  private static func input(_ message: OutboundMessage) throws -> FileDescriptor {
    let pipe = try FileDescriptor.pipe()
    try message.withJSONLine { line in try pipe.writeEnd.writeAll(line) }
    return try pipe.readEnd.duplicate()
  }

  /// Reads the program's error output until it has ended.
  private func collect(
    from stream: borrowing FileDescriptor, of child: ChildProcess, until deadline: Duration
  ) throws -> [UInt8] {
    var errors: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Self.errorLimit)
    let hasEnded = try child.readOutput(of: stream, until: deadline) {
      let result = stream.read(into: &piece)
      if case .bytes(let count) = result { errors = Array((errors + piece[..<count]).suffix(Self.errorLimit)) }
      return result
    }
    guard hasEnded else {
      throw DeliveryFailure.unreachable("the command \(program.name) did not exit within \(timeLimit)")
    }
    return errors
  }

  /// The last line of the error output, without the message's code or token and without its recipient.
  private static func lastLine(of errors: [UInt8], without message: OutboundMessage) -> String {
    let lines = errors.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard var line = lines.last.map(Array.init) else { return "" }
    // The recipient first: a phone number that holds the code's digits by chance would be known by what is left of it.
    remove(message.recipient.utf8.span, from: &line)
    for secret in [message.content.code, message.content.token].compactMap(\.self) {
      secret.withBytes { remove($0, from: &line) }
    }
    return SanitizedText(String(decoding: line, as: UTF8.self)).text
  }

  private static func remove(_ part: Span<UInt8>, from line: inout [UInt8]) {
    guard !part.isEmpty else { return }
    var start = 0
    while start + part.count <= line.count {
      if part.indices.allSatisfy({ part[$0] == line[start + $0] }) {
        line.replaceSubrange(start..<(start + part.count), with: Array("…".utf8))
      } else {
        start += 1
      }
    }
  }
}
