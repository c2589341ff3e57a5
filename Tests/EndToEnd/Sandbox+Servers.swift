import JSON
import LinuxSystem
import TestSupport

extension Sandbox {
  /// Starts a server of `Tests/Servers`, which ends with the sandbox.
  ///
  /// - Parameters:
  ///   - path: where it is below that directory.
  ///   - arguments: its options.
  /// - Returns: the program, and what it says of itself: `controlUrl` and more, by name.
  /// - Throws: ``TestFailure`` where it does not start.
  func startServer(_ path: String, _ arguments: [String] = []) throws -> (program: Program, places: JSONNode) {
    // The interpreter of the other tests: each has an installation of its own.
    let search = Environment.current["PATH"] ?? "/usr/bin:/bin"
    let program = try start(
      "/usr/bin/env", ["python3", "\(Repository.root)/Tests/Servers/\(path)"] + arguments,
      environment: ["PATH": search])
    var line: [UInt8] = []
    while !line.contains(0x0A) {
      let more = try program.output.read(until: Patience.end)
      guard !more.isEmpty else { throw TestFailure("python3 does not run \(path): \(program.errorText)") }
      line += more
    }
    return (program, try JSONDocument(parsing: line).root)
  }
}
