import Glibc
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import Records

@Suite(.standardTimeLimit) struct KeyCommandTests {
  private let place: KeyPlace

  init() throws { place = try KeyPlace() }

  private func run(
    _ command: [String], timeout: Duration = Patience.ceiling, environment: [String: String]? = nil
  ) throws -> String? {
    var settings = place.settings(command: command, timeout: timeout)
    if let environment { settings.environment = environment }
    return try KeyCommand(settings).run().revealedString()
  }

  private func failure(_ command: [String], timeout: Duration = Patience.ceiling) -> KeyCommand.Failure? {
    guard case .command(let failure) = keySourceError({ _ = try run(command, timeout: timeout) }) else { return nil }
    return failure
  }

  private func shell(_ script: String) -> [String] { ["sh", "-c", script] }

  /// Waits until a process that was ended is gone, but for what its parent has yet to take note of.
  private func isGone(_ pid: String) -> Bool {
    Patience.wait {
      guard let file = try? FileDescriptor.open("/proc/\(pid)/stat", .read),
        let status = try? file.contents(limit: 4096)
      else { return true }
      let state = String(decoding: status, as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
      return state == "Z" || state == "X"
    }
  }

  private func lines(of name: String) throws -> [String] {
    String(decoding: try place.scratch.bytes(of: name), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(arguments: [("fake", "fake"), ("fake\\n", "fake"), ("fake\\n\\n", "fake\n"), ("two\\nlines\\n", "two\nlines")])
  func `what the program prints is the secret`(_ format: String, _ secret: String) throws {
    #expect(try run(["printf", format]) == secret)
    #expect(try run(["/usr/bin/printf", format]) == secret)
  }

  @Test func `no shell reads the arguments`() throws {
    #expect(try run(["printf", "%s|%s", "$HOME; id", "`id`"]) == "$HOME; id|`id`")
  }

  @Test func `what is printed in parts comes together`() throws {
    #expect(try run(shell("printf a; sleep 0.05; printf b; exec cat /dev/null")) == "ab")
  }

  @Test func `a secret has a length`() throws {
    #expect(try run(shell("head -c 4096 /dev/zero | tr '\\0' x"))?.utf8.count == 4096)
    #expect(failure(shell("head -c 4097 /dev/zero | tr '\\0' x")) == .tooLong(program: "sh"))
  }

  @Test func `a program that prints for ever is ended`() throws {
    #expect(failure(["yes", "canary"]) == .tooLong(program: "yes"))
  }

  @Test(arguments: ["true", "echo", "printf '\\n'"]) func `nothing is no secret`(_ script: String) {
    #expect(failure(shell(script)) == .empty(program: "sh"))
  }

  @Test func `a status other than 0 is an error, whatever was printed`() {
    #expect(failure(shell("echo canary; exit 3")) == .failed(program: "sh", status: 3))
    #expect(failure(shell("echo canary; kill -9 $$")) == .failed(program: "sh", status: 137))
  }

  @Test func `a program that does not end is ended with all that it started`() throws {
    let pids = place.scratch.file("pids")
    let script = "sleep 3600 & echo $! > \(pids); echo $$ >> \(pids); echo canary; wait"
    var started: [String] = []
    for timeout in Patience.timeouts(from: .milliseconds(500)) {
      #expect(failure(shell(script), timeout: timeout) == .timedOut(program: "sh", timeout))
      started = (try? lines(of: "pids")) ?? []
      if started.count == 2 { break }
    }
    #expect(started.count == 2)
    for pid in started { #expect(isGone(pid)) }
    // Its parent has taken note of the program itself.
    #expect(!started.contains { (try? FileStatus.following("/proc/\($0)/exe")) != nil })
  }

  @Test func `a program that only closes its output is ended too`() {
    #expect(
      failure(shell("echo canary; exec >&-; sleep 3600"), timeout: .milliseconds(300))
        == .timedOut(program: "sh", .milliseconds(300)))
  }

  @Test func `what the program leaves running is not waited for`() throws {
    let script = "sleep 3600 & echo $! > \(place.scratch.file("pid")); echo fake"
    #expect(try run(shell(script)) == "fake")
    let pid = try #require(try lines(of: "pid").first.flatMap(Int32.init))
    #expect(kill(pid, SIGKILL) == 0)
  }

  @Test func `the program gets what it needs of the session, and nothing else`() throws {
    let environment = [
      "HOME": "/home/ann", "PATH": "/proc/none:/usr/bin:/bin", "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/run/user/1",
      "XDG_DATA_HOME": "/d", "DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "GPG_TTY": "/dev/pts/1", "SSH_AUTH_SOCK": "/s",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/b", "CANARY": "x", "LD_PRELOAD": "/x.so", "FIREBASE_API_KEY": "canary",
      "CREDENTIALS_DIRECTORY": "/c", "https_proxy": "http://p", "AUTHBROKER_STATE": "/a", "BASH_ENV": "/x",
      "HOMEX": "x", "path": "x", "NOTIFY_SOCKET": "/n", "LISTEN_FDS": "1",
    ]
    let printed = try run(["env"], environment: environment)?.split(separator: "\n").map { line in
      String(line.prefix { $0 != "=" })
    }
    #expect(
      printed?.sorted() == [
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GPG_TTY", "HOME", "LANG", "PATH", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY",
        "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
      ])
  }

  @Test func `the program is alone: no input, no terminal, a session of its own`() throws {
    let script = "cat; echo canary >&2; read -r stat < /proc/$$/stat; set -- $stat; echo $(($6 - $$)) $7 $PWD"
    #expect(try run(shell(script)) == "0 0 /")
  }

  @Test func `the program inherits no descriptor`() throws {
    let stray = dup(2)
    defer { close(stray) }
    // One more is the directory that is being listed.
    #expect(try run(shell("exec ls /proc/self/fd")) == "0\n1\n2\n3")
  }

  @Test(arguments: [
    "no-such-program-here", "/proc/nonexistent/program", "./sh", "bin/sh", "../bin/sh", "/etc/passwd", "/",
  ])
  func `a program that is not there is named`(_ program: String) {
    let expected: [KeyCommand.Failure] = [
      .notFound(program: program), .notStarted(program: program, .accessDenied),
    ]
    let failure = failure([program, "canary"])
    #expect(failure.map(expected.contains) == true)
    #expect(failure?.description.contains(program) == true)
  }

  @Test func `programs are looked for in the absolute directories of PATH, in order`() throws {
    for name in ["first", "second"] {
      mkdir(place.scratch.file(name), 0o700)
      try place.scratch.write("#!/bin/sh\necho \(name)\n", to: "\(name)/helper")
      chmod(place.scratch.file("\(name)/helper"), 0o700)
    }
    let paths = [place.scratch.file("absent"), place.scratch.file("first"), place.scratch.file("second")]
    #expect(try run(["helper"], environment: ["PATH": paths.joined(separator: ":")]) == "first")
    // Not executable: the next one is taken.
    chmod(place.scratch.file("first/helper"), 0o600)
    #expect(try run(["helper"], environment: ["PATH": paths.joined(separator: ":")]) == "second")
    // The program starts at the root: this would lead to it.
    let relative = ".::" + place.scratch.file("second").dropFirst()
    #expect(
      keySourceError { _ = try run(["helper"], environment: ["PATH": relative]) }
        == .command(.notFound(program: "helper")))
    #expect(try run(["echo", "x"], environment: [:]) == "x")
  }

  @Test func `without a command it is said how to name one`() {
    #expect(failure([]) == .notConfigured)
    #expect(KeyCommand.Failure.notConfigured.description.contains("vault.command"))
  }

  @Test func `no error shows the output or the arguments`() {
    let failures = [
      failure(shell("echo canary; exit 3")), failure(["yes", "canary"]),
      failure(shell("echo canary; sleep 3600"), timeout: .milliseconds(100)), failure(["false", "canary"]),
      failure(["no-such-program-here", "canary"]), failure(["true", "canary"]),
    ]
    for failure in failures {
      let shown = failure.map { "\($0.description) \(KeySourceError.command($0).description) \($0)" }
      #expect(shown?.contains("canary") == false)
    }
  }
}
