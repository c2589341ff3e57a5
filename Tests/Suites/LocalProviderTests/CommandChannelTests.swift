import Glibc
import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// A program gets each message on its standard input.
@Suite(.standardTimeLimit) struct CommandChannelTests {
  private let scratch = Scratch()

  private func channel(_ script: String, timeLimit: Duration = Patience.ceiling) throws -> CommandChannel {
    let environment = ["PATH": "/usr/bin:/bin", "HOME": scratch.path, "CANARY": "x"]
    let program = try #require(UserProgram(["sh", "-c", script, "sh"], environment: environment))
    return CommandChannel(program, timeLimit: timeLimit)
  }

  private func failure(_ script: String, timeLimit: Duration = Patience.ceiling) async throws -> DeliveryFailure? {
    let channel = try channel(script, timeLimit: timeLimit)
    let message = try MessageTests.text()
    do throws(DeliveryFailure) {
      try await channel.send(message)
      return nil
    } catch { return error }
  }

  @Test func `the message is one line of JSON, and stands nowhere else`() async throws {
    let script = "cat > $HOME/input; echo said; echo \"$@\" > $HOME/arguments; env > $HOME/environment"
    #expect(try await failure(script) == nil)
    let input = try scratch.bytes(of: "input")
    let message = try MessageTests.text()
    let line = message.withJSONLine { span in span.indices.map { span[$0] } }
    #expect(input == line)
    #expect(try scratch.bytes(of: "arguments") == Array("\n".utf8))
    let environment = String(decoding: try scratch.bytes(of: "environment"), as: UTF8.self)
    #expect(!environment.contains("123456") && !environment.contains("CANARY"))
  }

  @Test(arguments: [
    (1, true), (7, true), (63, true), (64, false), (67, false), (69, false), (75, true), (77, false), (78, false),
    (79, true), (127, true),
  ])
  func `the status says whether to try again`(_ status: Int, _ isPassing: Bool) async throws {
    let text = "the command sh exited with status \(status)"
    #expect(try await failure("exit \(status)") == (isPassing ? .unreachable(text) : .refused(text)))
  }

  @Test func `the last line that it complains of is told, without the code and the recipient`() async throws {
    let script = """
      cat >&2; echo >&2; printf 'no \\033[31m123456 to +491511234567, really 123456\\n\\n' >&2; exit 1
      """
    let failure = try await failure(script)
    #expect(failure == .unreachable("the command sh exited with status 1: no [31m… to …, really …"))
  }

  @Test func `of long complaints the end is kept`() async throws {
    let script = "head -c 100000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; exit 64"
    #expect(try await failure(script) == .refused("the command sh exited with status 64: the end"))
  }

  @Test func `a program that does not end in time is ended`() async throws {
    let failure = try await failure("sleep 3600", timeLimit: .milliseconds(200))
    #expect(failure == .unreachable("the command sh did not exit within 0.2 seconds"))
  }

  @Test func `a program that reads nothing succeeds, and one that leaves something running is not waited for`()
    async throws
  {
    #expect(try await failure("exit 0") == nil)
    // It ends with the test, whose directory is removed then.
    #expect(try await failure("while [ -d $HOME ]; do sleep 0.1; done & exit 0") == nil)
  }

  @Test func `a program that is not there is refused by its name`() async throws {
    let program = try #require(UserProgram(["no-such-program-here", "canary"], environment: [:]))
    let message = try MessageTests.text()
    await #expect(throws: DeliveryFailure.refused("the command no-such-program-here was not found")) {
      try await CommandChannel(program).send(message)
    }
  }
  @Test func `a program that may not be executed is not said to be missing`() async throws {
    let path = scratch.file("deliver")
    try scratch.write("#!/bin/sh\n", to: "deliver")
    chmod(path, 0o600)
    let message = try MessageTests.text()
    let failure = DeliveryFailure.refused(
      "the command \(path) may not be executed; run chmod +x on it, or name its interpreter")
    for command in [[path], ["deliver"]] {
      let program = try #require(UserProgram(command, environment: ["PATH": scratch.file("")]))
      await #expect(throws: DeliveryFailure.self) { try await CommandChannel(program).send(message) }
      if command == [path] { await #expect(throws: failure) { try await CommandChannel(program).send(message) } }
    }
  }
}
