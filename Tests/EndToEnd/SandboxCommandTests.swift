import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// `authbroker sandbox`, as its users type it.
///
/// The ways to a token from within are tried by Tests/Drivers/Sandbox.
@Suite(.standardTimeLimit) struct SandboxCommandTests {
  @Test func `a program uses the API, has what it was given, and its exit code is the command's`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let token = try stage.wire.accessToken()
      let script = #"""
        exec 3<>"/dev/tcp/127.0.0.1/${BASE:17:4}"
        printf 'GET /service/bytes/3 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$KEY" >&3
        cat <&3; echo; env; cat letter; echo new >made; authbroker request /service/status/200; authbroker token
        exit 7
        """#
      let run = try inSandbox(
        sandbox,
        [
          "-p", "shop", "--url-env", "BASE=/service", "--token-env", "KEY", "--keep", "MINE", "--", "bash", "-c",
          script,
        ])
      guard Self.isPossible else { return Self.expectRefusal(run) }
      #expect(run.code == 7, "\(run)")
      #expect(run.output.hasPrefix("HTTP/1.1 200 ") && run.output.contains(#""status": 200"#), "\(run)")
      #expect(run.output.contains("BASE=http://127.0.0.1:8401/service\n") && run.output.contains("MINE=mine\n"))
      #expect(run.output.contains("a letter") && !run.output.contains("HIDDEN") && !run.output.contains(token))
      #expect(run.errors.contains("do not let this client call getAccessToken"), "\(run.errors)")
      let work = sandbox.root + "/home/work"
      #expect(try String(decoding: Directory.bytes(of: work + "/made"), as: UTF8.self) == "new\n")
      #expect(Self.isSettled(stage))
    }
  }

  @Test func `further doors have the ports after the first one`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let run = try inSandbox(
        sandbox,
        [
          "--url-env", "ONE=\(stage.api.url)/v1", "--token-env", "KEY=\(stage.api.url)", "--", "sh", "-c",
          #"echo "$ONE $KEY $AUTHBROKER_DOOR_TOKEN""#,
        ])
      guard Self.isPossible else { return Self.expectRefusal(run) }
      let words = run.output.split(whereSeparator: \.isWhitespace)
      #expect(
        run.code == 0 && words.count == 3 && words[0] == "http://127.0.0.1:8401/v1" && words[1] == words[2], "\(run)")
      let other = try inSandbox(sandbox, ["--url-env", "TWO=https://api.example.com/v1", "--", "true"])
      #expect(other.code == 6 && other.errors.contains("requests.allow"), "\(other)")
      #expect(Self.isSettled(stage))
    }
  }

  @Test func `signals reach the program, and its end ends everything`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      guard Self.isPossible else { return }
      let cases: [(Signal, String, Int32)] = [
        (.terminate, "echo here; exec sleep 1000", 128 + Signal.terminate.number),
        (.interrupt, "trap 'exit 9' INT; echo here; sleep 1000", 9),
        (.hangUp, "trap 'exit 8' HUP; echo here; sleep 1000 & wait", 8),
      ]
      for (signal, script, code) in cases {
        let run = try sandbox.start("/bin/sh", words(sandbox, ["--", "sh", "-c", script]))
        #expect(try run.output.read(until: Patience.end) == Array("here\n".utf8))
        try run.send(signal)
        #expect(try run.wait() == code, "\(signal) \(run.errorText)")
        #expect(Self.isSettled(stage))
      }
      let killed = try sandbox.start("/bin/sh", words(sandbox, ["--", "sh", "-c", "echo here; exec sleep 1000"]))
      #expect(try killed.output.read(until: Patience.end) == Array("here\n".utf8))
      killed.kill()
      // Its descriptor is held by nobody: the program within has ended.
      #expect(try killed.output.readToEnd() == [])
      #expect(Patience.wait { Self.isSettled(stage) })
    }
  }

  @Test func `folders that lead to what keeps tokens are not shown`() async throws {
    try await Sandbox.run { sandbox in
      _ = try DoorStage(sandbox)
      let (root, home) = (sandbox.root, sandbox.root + "/home")
      mkdir(home + "/config", 0o700)
      mkdir(home + "/config/authbroker", 0o700)
      #expect(symlink(home, root + "/to-home") == 0)
      let cases = [
        (home, "is your home"), (root + "/to-home", "is your home"), (root, "holds"), ("/", "holds"), ("/tmp", "holds"),
        (sandbox.state, "the broker's state directory"), (sandbox.state + "/run", "the broker's state directory"),
        (root + "/runtime", "the runtime directory"), ("/proc/self", "is in /proc"), ("/usr/lib", "is in /usr"),
        ("/etc", "is /etc"),
      ]
      for (folder, reason) in cases {
        let run = try inSandbox(sandbox, ["--", "true"], from: folder)
        #expect(
          run.code == 1 && run.errors.contains(reason) && run.errors.contains("working directory"), "\(folder) \(run)")
      }
      for (path, reason) in [
        (sandbox.state, "the broker's state directory"), (home, "is your home"), ("/proc", "is /proc"),
      ] {
        let run = try inSandbox(sandbox, ["--read", path, "--", "true"])
        #expect(run.code == 1 && run.errors.contains("--read") && run.errors.contains(reason), "\(path) \(run)")
      }
      let chosen = try inSandbox(
        sandbox, ["--read", root + "/config.json", "--config", root + "/config.json", "--", "true"])
      #expect(chosen.code == 1 && chosen.errors.contains("the configuration"), "\(chosen)")
      #expect(try inSandbox(sandbox, ["--read", root + "/none", "--", "true"]).code == 2)
    }
  }

  @Test func `what is missing is said, and what to do`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      #expect(try inSandbox(sandbox, []).errors.contains("missing argument PROGRAM"))
      let absent = try inSandbox(sandbox, ["--", "true"], environment: ["PATH": "/nonexistent"])
      #expect(absent.code == 1 && absent.errors.contains("install the package bubblewrap"), "\(absent)")
      // A bubblewrap that is refused user namespaces says so, and ends with 1.
      let tools = sandbox.root + "/tools"
      mkdir(tools, 0o700)
      try Directory.write(
        "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n", to: tools + "/bwrap")
      #expect(chmod(tools + "/bwrap", 0o700) == 0)
      let refused = try inSandbox(sandbox, ["--", "true"], environment: ["PATH": tools + ":/usr/bin:/bin"])
      #expect(refused.code == 1 && refused.errors.contains("No permissions"), "\(refused)")
      Self.expectRefusal(refused)
      #expect(Self.isSettled(stage))
      guard Self.isPossible else { return }
      let unknown = try inSandbox(sandbox, ["--", "no-such-program"])
      #expect(
        unknown.code == 127 && unknown.errors.contains("no such program") && unknown.errors.contains("--read"),
        "\(unknown)")
      #expect(try inSandbox(sandbox, ["--", "./letter"]).code == 126)
      let many = try inSandbox(sandbox, ["--", "true"] + Array(repeating: "x", count: 9000))
      #expect(many.code == 1 && many.errors.contains("9000 arguments, and bubblewrap takes "), "\(many)")
      // What a program has left in the working directory does not make the next sandbox.
      let work = sandbox.root + "/home/work"
      try Directory.write("#!/bin/sh\necho planted\n", to: work + "/bwrap")
      #expect(chmod(work + "/bwrap", 0o700) == 0)
      let planted = try inSandbox(sandbox, ["--", "echo", "within"], environment: ["PATH": work + ":/usr/bin:/bin"])
      #expect(planted.code == 0 && planted.output == "within\n", "\(planted)")
      let readOnly = try inSandbox(sandbox, ["--ro", "--", "sh", "-c", "echo x >letter"])
      #expect(readOnly.code != 0 && readOnly.errors.contains("Read-only"), "\(readOnly)")
    }
  }

  @Test(arguments: [(0, "input"), (1, "output")])
  func `a standard stream on a folder leads out of no sandbox`(_ number: Int, _ name: String) async throws {
    try await Sandbox.run { sandbox in
      // A shell opens a folder for reading alone.
      let run = try sandbox.run(
        "/bin/sh",
        [
          "-c", #"exec "$@" \#(number)</"#, "sh", BuiltPrograms.command, "--state", sandbox.state, "sandbox", "--",
          "true",
        ])
      #expect(run.code == 1 && run.errors.contains("the standard \(name) is a folder"), "\(run)")
    }
  }

  @Test func `a limited socket may end with the connection that has opened it`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let opener = try SocketWire(sandbox.socket)
      try opener.prove()
      let params = #"{"profiles":["shop"],"lifetimeSeconds":600"#
      let path = try opener.call("openSocket", params + #","whileConnected":true}"#).required("path").string()
      let stays = try opener.call("openSocket", params + "}").required("path").string()
      #expect(try SocketWire(path).refusal("openSocket", params + "}") == "accessDenied")
      try opener.finishSending()
      #expect(Patience.wait { (try? FileStatus.ofLink(PathName.directory(of: path))) == nil })
      #expect((try? FileStatus.ofLink(stays)) != nil)
      #expect(try stage.wire.call("ping").text.count == 2)
    }
  }

  // MARK: Means

  /// Whether bubblewrap is allowed what it needs, which it is not behind chroot(2) and in most containers.
  private static let isPossible: Bool = {
    let plan = ChildProcess.Plan(
      path: "/usr/bin/bwrap", arguments: ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"],
      environment: [:])
    return (try? ChildProcess(plan).wait()) == 0
  }()

  /// Where there can be no sandbox, the command says so.
  private static func expectRefusal(_ run: Sandbox.Outcome) {
    #expect(
      run.code == 1 && run.errors.contains("there is no sandbox") && run.errors.contains("user namespaces"), "\(run)")
  }

  /// Whether nothing is open but the stage's door.
  private static func isSettled(_ stage: DoorStage) -> Bool {
    do {
      try stage.wire.prove()
      let doors = try stage.wire.call("listDoors").required("doors").elements()
      return try doors.count == 1 && stage.wire.call("listSockets").required("sockets").elements().isEmpty
    } catch { return false }
  }

  /// The folders of a debug build's libraries, which are not among those of the system.
  private static let libraries: [String] = {
    let maps = String(decoding: (try? Directory.bytes(of: "/proc/self/maps")) ?? [], as: UTF8.self)
    let paths = maps.split(separator: "\n").compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    let folders = Set(paths.filter { $0.hasSuffix("/libswiftCore.so") }.map { PathName.directory(of: $0) })
    return folders.filter { !$0.hasPrefix("/usr/") }.flatMap { ["--read", $0] }
  }()

  private func words(_ sandbox: Sandbox, _ arguments: [String], from folder: String? = nil) throws -> [String] {
    let work = sandbox.root + "/home/work"
    mkdir(work, 0o700)
    if (try? FileStatus.following(work + "/letter")) == nil { try Directory.write("a letter\n", to: work + "/letter") }
    let command = [BuiltPrograms.command, "--state", sandbox.state, "sandbox"] + Self.libraries
    return ["-c", #"cd "$1" && shift && exec "$@""#, "sh", folder ?? work] + command + arguments
  }

  private func inSandbox(
    _ sandbox: Sandbox, _ arguments: [String], from folder: String? = nil, environment: [String: String] = [:]
  ) throws -> Sandbox.Outcome {
    try sandbox.run(
      "/bin/sh", try words(sandbox, arguments, from: folder),
      environment: ["MINE": "mine", "HIDDEN": "hidden"].merging(environment) { $1 })
  }
}
