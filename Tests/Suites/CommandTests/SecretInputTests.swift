import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// How secrets are asked for, and what is said where there is none.
@Suite(.standardTimeLimit) struct SecretInputTests {
  private let scratch = Scratch()
  private static let login = ["login", "--email", "ada@example.com"]
  private static let challenge =
    #""result":{"status":"otpRequired","requires2FA":true,"challenge":{"otpFlowId":"example-flow","profile":"default","#
    + #""method":"totp","maskedDestination":"","otpLength":6,"expiresAt":"2099-01-01T00:00:00Z","#
    + #""nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"backupCodesAllowed":false}}"#

  /// An owner that asks for a code after each login.
  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "listSessions": #""result":{"sessions":[]}"#
      default: Self.challenge
      }
    }
  }

  private func type(_ answer: String, at question: String, _ words: [String] = login) throws -> CommandRun {
    try CommandRun(atTerminal: [.init(question: question, answer: answer)], words, in: scratch)
  }

  @Test func `Ctrl-C at a password ends the command by its signal, without a word`() throws {
    let owner = try owner()
    let run = try type("\u{3}", at: "Password: ")
    #expect(run.code == 130)
    #expect(run.output.hasSuffix("Password: \r\n"), "\(run.output)")
    #expect(!owner.requests.contains { $0.hasPrefix("login") })
  }

  @Test func `Ctrl-C at a code names the login that still waits, and ends the command by its signal`() throws {
    try withExtendedLifetime(owner()) {
      let steps = [
        CommandRun.Step(question: "Password: ", answer: "x\n"), .init(question: "Code: ", answer: "\u{3}"),
      ]
      let run = try CommandRun(atTerminal: steps, Self.login, in: scratch)
      #expect(run.code == 130)
      let state = scratch.file("state")
      #expect(
        run.output.hasSuffix("answer with: authbroker --state \(state) verify-otp example-flow\r\n"), "\(run.output)")
    }
  }

  @Test func `Ctrl-D is the end of the input, and no interruption`() throws {
    try withExtendedLifetime(owner()) {
      let run = try type("\u{4}", at: "Password: ")
      #expect(run.code == 1)
      #expect(run.output.hasSuffix("authbroker: no password was entered: the input has ended\r\n"), "\(run.output)")
      let code = try type("\u{4}", at: "Code: ", ["verify-otp", "example-flow"])
      #expect(code.code == 3)
      #expect(code.output.contains("no code was entered: the input has ended; the login still waits"), "\(code.output)")
    }
  }

  @Test func `what is empty is named, and nothing is sent`() throws {
    let owner = try owner()
    let password = try CommandRun(Self.login + ["--password-stdin"], in: scratch, input: "\n")
    #expect(password.code == 2 && password.errors == "authbroker: the password is empty; nothing was sent\n")
    let code = try CommandRun(["verify-otp", "example-flow", "--code-stdin"], in: scratch, input: "\n")
    #expect(code.code == 2 && code.errors == "authbroker: the code is empty; nothing was sent\n")
    let nothing = try CommandRun(Self.login + ["--password-stdin"], in: scratch)
    #expect(nothing.code == 2 && nothing.errors.contains("no line to read the password from"), "\(nothing.errors)")
    let program = try CommandRun(Self.login + ["--password-command", "echo"], in: scratch)
    #expect(program.code == 2 && program.errors.contains("the password is empty"), "\(program.errors)")
    #expect(!owner.requests.contains { $0.hasPrefix("login") || $0.hasPrefix("verifyOtp") })
  }

  @Test(arguments: [
    (login + ["--password-stdin"], "password"), (["verify-otp", "example-flow", "--code-stdin"], "code"),
    (["unlock", "--password-stdin"], "passphrase"), (["account", "verify-email", "--token-stdin"], "token"),
  ])
  func `a secret that is too long is refused, and no part of it is sent`(words: [String], kind: String) throws {
    let owner = try FakeOwner(in: scratch) { _, _ in FakeOwner.status(locked: true, source: "passphrase") }
    let longest = String(repeating: "x", count: 64 * 1024 - 1)
    let refused = try CommandRun(words, in: scratch, input: longest + "x\n")
    #expect(refused.code == 2 && refused.errors == "authbroker: the \(kind) has 64 KiB or more; nothing was sent\n")
    #expect(!owner.requests.contains { $0.contains("xx") })
    #expect(try !CommandRun(words, in: scratch, input: longest + "\n").errors.contains("64 KiB"))
  }

  @Test func `an empty passphrase is called one`() throws {
    try withExtendedLifetime(
      FakeOwner(in: scratch) { _, _ in FakeOwner.status(locked: true, source: "passphrase") }
    ) {
      let run = try CommandRun(["unlock", "--password-stdin"], in: scratch, input: "\n")
      #expect(run.code == 2 && run.errors == "authbroker: the passphrase is empty; nothing was sent\n")
    }
  }

  @Test func `--timeout ends the command that prints the password, and what it has started`() throws {
    let owner = try owner()
    let pids = scratch.file("pids")
    // A shell that has started another program, and both would go on for a long time.
    let command = "sleep 300 & echo $$ $! >\(pids); wait; sleep 300"
    let run = try CommandRun(Self.login + ["--password-command", command, "--timeout", "1"], in: scratch)
    #expect(run.code == 5)
    #expect(run.errors.contains("did not end within 1 s (--timeout) and was terminated; nothing"), "\(run.errors)")
    let started = String(decoding: try scratch.bytes(of: "pids"), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    #expect(started.count == 2)
    for pid in started.compactMap({ Int32($0) }) {
      #expect(Patience.wait { kill(pid, 0) != 0 || isZombie(pid) })
    }
    #expect(!owner.requests.contains { $0.hasPrefix("login") })
  }

  /// Whether only the process that it was left to has still to take its end in.
  private func isZombie(_ pid: Int32) -> Bool {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/stat", .read), let text = try? file.contents(limit: 4096)
    else { return true }
    return String(decoding: text, as: UTF8.self).contains(") Z ")
  }

  @Test func `a command that prints the password in time is heard to its end`() throws {
    let owner = try owner()
    let command = "echo 'x y'; echo more"
    let run = try CommandRun(Self.login + ["--password-command", command, "--timeout", "300"], in: scratch)
    #expect(run.code == 3)
    #expect(owner.requests.contains(#"login {"email":"ada@example.com","password":"x y"}"#))
    let failed = try CommandRun(Self.login + ["--password-command", "exit 3"], in: scratch)
    #expect(failed.code == 1 && failed.errors.contains("--password-command ended with code 3\n"), "\(failed.errors)")
  }
}
