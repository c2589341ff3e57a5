import LinuxSystem
import Synchronization
import TestSupport

/// The one Python process whose servers all tests of this target talk to; its commands are described in
/// `Servers/scripted.py`.
final class ServerProcess: Sendable {
  /// Started with the first test that needs it; it ends with this process, whose end closes its standard input.
  static let shared = ServerProcess()

  private struct Pipes: ~Copyable {
    let commands: FileDescriptor
    let answers: FileDescriptor
    var unread: [UInt8] = []
  }

  private let pipes: Mutex<Pipes>

  private init() {
    do {
      let folder = String(#filePath.dropLast("/ServerProcess.swift".count))
      let commands = try FileDescriptor.pipe()
      let answers = try FileDescriptor.pipe()
      var plan = ChildProcess.Plan(
        path: "/usr/bin/env", arguments: ["python3", folder + "/Servers/scripted.py"],
        environment: [
          "PATH": Environment.current["PATH"] ?? "/usr/bin:/bin", "HOME": "/proc/nonexistent", "TMPDIR": Scratch.parent,
        ])
      plan.descriptors = [(commands.readEnd.number, 0), (answers.writeEnd.number, 1), (2, 2)]
      _ = try ChildProcess(plan)
      let writer = try commands.writeEnd.duplicate()
      let reader = try answers.readEnd.duplicate()
      pipes = Mutex(Pipes(commands: writer, answers: reader))
    } catch {
      preconditionFailure("python3 cannot be started: \(error)")
    }
  }

  /// Sends a command and returns its answer's first line, and as many more as that says if `isList`.
  func ask(_ parts: [String], isList: Bool = false) -> [String] {
    pipes.withLock { pipes in
      let line = Array((parts.joined(separator: "\t") + "\n").utf8)
      do { try pipes.commands.writeAll(line.span) } catch { preconditionFailure("the servers are gone: \(error)") }
      let first = Self.line(from: &pipes)
      guard isList, let count = Int(first) else { return [first] }
      return (0..<count).map { _ in Self.line(from: &pipes) }
    }
  }

  private static func line(from pipes: inout Pipes) -> String {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      if let end = pipes.unread.firstIndex(of: 0x0A) {
        let line = String(decoding: pipes.unread[..<end], as: UTF8.self)
        pipes.unread.removeFirst(end + 1)
        return line
      }
      guard case .bytes(let count) = pipes.answers.read(into: &buffer) else {
        preconditionFailure("the servers are gone")
      }
      pipes.unread += buffer[..<count]
    }
  }
}
