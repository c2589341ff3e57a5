import LinuxSystem

/// The beginning of a sandbox, within: this program, which becomes the one that is to run there.
///
/// It gives up the keyring that it has inherited, and leaves a process behind that carries the bytes between the ports of the
/// sandbox and the doors.
enum SandboxBeginning {
  /// The name by which it is called.
  static let programName = "authbroker-sandbox"
  /// The descriptor on which it says that the sandbox is there.
  static let tellerNumber: Int32 = 4

  /// The names of this machine, which are all that there are in a sandbox.
  private static let hosts = "127.0.0.1 localhost\n::1 localhost\n"

  /// Begins.
  ///
  /// - Parameters:
  ///   - words: the lanes, `--`, and the program with its arguments.
  ///   - environment: in which the program is looked for.
  /// - Returns: the exit code where the program cannot be run.
  static func run(_ words: [String], _ environment: EnvironmentVariables) -> ExitCode {
    do throws(CommandFailure) {
      let lanes = words.prefix { $0 != "--" }.compactMap(PortLane.init(word:))
      var rest = words.drop { $0 != "--" }.dropFirst()
      guard let name = rest.popFirst() else {
        throw .usage("this is a part of `authbroker sandbox`, which runs it by itself")
      }
      try prepare(lanes)
      let program: NamedProgram
      do throws(CommandFailure) { program = try NamedProgram(name, environment.all) } catch {
        throw error.saying(
          Message(
            error.message.sentence
              + "; the sandbox has the folders of the system, the working directory, and what --read names"))
      }
      try program.execute(Array(rest), adding: [])
    } catch {
      Output.message(error.message.text(for: nil))
      return error.exitCode
    }
  }

  private static func prepare(_ lanes: [PortLane]) throws(CommandFailure) {
    do throws(Errno) {
      do throws(Errno) { try ProcessImage.leaveKeyring() } catch {
        // Where the kernel has none, or a filter keeps every program from them, there is nothing to leave.
        guard [.notImplemented, .notPermitted].contains(error) else { throw error }
      }
      // Where bubblewrap has made it the leader of a session, it leads a group.
      try? ProcessImage.leadGroup()
      let names = try FileDescriptor.open("/etc/hosts", [.write, .create, .exclusive, .noFollow])
      try names.writeAll(Array(hosts.utf8).span)
      let bridge = try PortBridge(lanes)
      try ProcessCopy.runOrphan { bridge.run() }
    } catch { throw CommandFailure(.failure, "the sandbox cannot be set up: \(error)") }
    let teller = FileDescriptor(owning: tellerNumber)
    try? teller.writeAll([0x2E].span)
  }
}
