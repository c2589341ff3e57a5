import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// `authbroker door`, as its users type it.
@Suite(.standardTimeLimit) struct DoorCommandTests {
  @Test func `the doors of others are listed and closed`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let listed = try sandbox.command("door", "list")
      #expect(listed.code == 0 && listed.output.contains(stage.id) && listed.output.contains(stage.url), "\(listed)")
      let unknown = try sandbox.command("door", "close", "door-none")
      #expect(unknown.code == 2 && unknown.errors.contains("no door with the id door-none is open"), "\(unknown)")
      #expect(try sandbox.command("door", "close", stage.id).code == 0)
      #expect(try sandbox.command("door", "list").errors == "authbroker: no door is open\n")
      #expect((try? FileStatus.ofLink(String(stage.url.dropFirst("unix:".count)))) == nil)
    }
  }

  @Test func `a program without arguments runs with a door, and its exit code is the command's`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let agent = sandbox.root + "/agent"
      let script = ##"""
        #!/bin/sh
        printf '%s\n' "$AUTHBROKER_DOOR_URL" "$AUTHBROKER_DOOR_TOKEN" "$BASE" "$KEY"
        read -r line
        exit 7
        """##
      try Directory.write(script, to: agent)
      #expect(chmod(agent, 0o700) == 0)
      let run = try sandbox.start(
        BuiltPrograms.command,
        ["--state", sandbox.state, "door", "run", "--url-env", "BASE=/v1", "--token-env", "KEY", "--", agent])
      let lines = try lines(4, of: run)
      #expect(lines[2] == lines[0] + "/v1" && lines[3] == lines[1] && lines[1] != stage.placeholder, "\(lines)")
      let port = try #require(lines[0].split(separator: ":").last.flatMap { UInt16($0) })
      let connection = try LoopbackSocket.connect(to: .ipv4, port: port)
      let head = "Host: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(lines[1])\r\nConnection: close\r\n\r\n"
      try connection.sendAll("GET /service/echo HTTP/1.1\r\n\(head)".utf8.span)
      let answer = try ByteInlet(connection).readToEnd()
      #expect(answer.starts(with: Array("HTTP/1.1 200 ".utf8)), "\(String(decoding: answer, as: UTF8.self))")
      try run.write(Array("go on\n".utf8))
      #expect(try run.wait() == 7)
      #expect((try? LoopbackSocket.connect(to: .ipv4, port: port)) == nil)
    }
  }

  @Test func `a signal ends the program, and with it the door`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let run = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "door", "run", "--", "sh", "-c", "echo here; exec cat"])
      #expect(try lines(1, of: run) == ["here"])
      #expect(try stage.wire.call("listDoors").required("doors").elements().count == 2)
      try run.send(.terminate)
      #expect(try run.wait() == 128 + Signal.terminate.number)
      #expect(
        try Patience.wait { try stage.wire.call("listDoors").required("doors").elements().count == 1 })
    }
  }

  @Test func `what cannot run opens no door, and what is missing is named`() async throws {
    try await Sandbox.run { sandbox in
      _ = try DoorStage(sandbox)
      let absent = try sandbox.command("door", "run", "--", "/no/such/program")
      #expect(absent.code == 127, "\(absent)")
      let nothing = try sandbox.command("door", "run", "https://api.example.com")
      #expect(nothing.code == 2 && nothing.errors.contains("missing argument PROGRAM"), "\(nothing)")
      let elsewhere = try sandbox.command("door", "run", "https://api.example.com", "--", "true")
      #expect(elsewhere.code == 6 && elsewhere.errors.contains("profiles.shop.requests.allow"), "\(elsewhere)")
      let clear = try sandbox.command("door", "open", "http://api.example.com")
      #expect(clear.code == 2 && clear.errors.contains("must be an https:// address"), "\(clear)")
    }
  }

  private func lines(_ count: Int, of program: Program) throws -> [String] {
    var bytes: [UInt8] = []
    let deadline = BootClock.now + Patience.ceiling
    while bytes.count(where: { $0 == 0x0A }) < count {
      let more = try program.output.read(until: deadline)
      guard !more.isEmpty else { throw TestFailure("it has ended: \(program.errorText)") }
      bytes += more
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
