import JSON
import LinuxSystem
import TestSupport
import Testing

/// A client package in place of a connection: each message is a line for a program that calls the package's functions,
/// as `Tests/Drivers/Clients/README.md` describes.
final class PackageWire: Wire {
  private let program: Program
  private let lines: ProgramWire
  private let name: String

  /// Starts the program of a package.
  init(_ package: ClientPackage, in sandbox: Sandbox) throws {
    name = package.name
    program = try sandbox.start(package.program, [], environment: package.environment)
    lines = ProgramWire(program)
  }

  var provesItself: Bool { true }

  func send(_ message: [UInt8]) throws { try lines.send(message) }

  func next() throws -> [UInt8]? {
    if let message = try lines.next() { return message }
    // Its end without an answer is a failure, and it has said why.
    let code = try program.wait()
    guard code == 0 else { throw TestFailure("\(name) exited with \(code): \(program.errorText)") }
    return nil
  }

  func finishSending() { lines.finishSending() }
}

/// A client package, and how its program is started.
struct ClientPackage: Sendable, CustomTestStringConvertible {
  /// What a test calls it.
  let name: String
  /// The folder below `Tests/Drivers/Clients`.
  let folder: String
  /// Variables that choose a variant of the program.
  var environment: [String: String] = [:]

  /// The program that performs requests.
  var program: String { "\(BuiltPrograms.repository)/Tests/Drivers/Clients/\(folder)/run" }

  var testDescription: String { name }
}
