import LinuxSystem
import TestSupport

/// A program that a test started: its standard streams and its end.
///
/// It inherits the writing end of one more pipe, so that its end can be waited for with a time limit.
final class Program {
  /// What it reads.
  enum Input {
    /// A pipe of the test's.
    case pipe
    /// `/dev/null`.
    case nothing
  }

  let pid: Int32
  private(set) var output: ByteInlet
  private let child: ChildProcess
  private var input: FileDescriptor?
  private let life: ByteInlet
  private let errors: String
  private var exitCode: Int32?

  /// Starts it by a plan that says nothing of descriptors 0 and 1; `errors` is the file for standard error, unless the
  /// plan has another.
  init(_ plan: ChildProcess.Plan, input kind: Input, errors: String) throws {
    var plan = plan
    self.errors = errors
    let (inner, outer) = try Self.pipe()
    let (outputReader, outputWriter) = try Self.pipe()
    let (lifeReader, lifeWriter) = try Self.pipe()
    let null = try FileDescriptor.open("/dev/null", .read)
    let log = try FileDescriptor.open(errors, [.write, .create, .append])
    let source = kind == .pipe ? inner : null.number
    let ownErrors = plan.descriptors.contains { $0.there == 2 } ? [] : [(here: log.number, there: Int32(2))]
    plan.descriptors += [(source, 0), (outputWriter, 1), (lifeWriter, 9)] + ownErrors
    input = FileDescriptor(owning: outer)
    output = ByteInlet(FileDescriptor(owning: outputReader))
    life = ByteInlet(FileDescriptor(owning: lifeReader))
    let others = [inner, outputWriter, lifeWriter]
    defer { for number in others { FileDescriptor(owning: number).close() } }
    child = try ChildProcess(plan)
    pid = child.pid
    if kind == .nothing { closeInput() }
  }

  private static func pipe() throws -> (Int32, Int32) {
    try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
  }

  /// Writes to its standard input.
  func write(_ bytes: [UInt8]) throws {
    guard try input?.writeAll(bytes.span) != nil else { throw TestFailure("the input is closed") }
  }

  /// Ends its standard input.
  func closeInput() { input = nil }

  /// Closes the reading end of its standard output.
  func closeOutput() throws {
    output = ByteInlet(try FileDescriptor.open("/dev/null", .read))
  }

  /// Sends a signal, unless it has ended.
  func send(_ signal: Signal) throws {
    if exitCode == nil { try signal.send(to: pid) }
  }

  /// Waits for its end.
  ///
  /// - Returns: the exit code, or 128 and the signal.
  /// - Throws: ``TestFailure`` if it does not end in time.
  @discardableResult
  func wait(within limit: Duration = Patience.ceiling) throws -> Int32 {
    if let exitCode { return exitCode }
    _ = try life.readToEnd(within: limit)
    let code = try child.wait()
    exitCode = code
    return code
  }

  /// Kills it if it has not ended.
  func kill() {
    guard exitCode == nil else { return }
    try? Signal(number: 9).send(to: pid)
    exitCode = try? child.wait()
  }

  /// What it said on standard error so far.
  var errorText: String { String(decoding: (try? Directory.bytes(of: errors)) ?? [], as: UTF8.self) }
}
