import Glibc
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// Sockets that a service manager opened, by systemd-socket-activate(1).
@Suite(.standardTimeLimit) struct SocketActivationTests {
  private static let activate = "/usr/bin/systemd-socket-activate"

  /// A program that listens and becomes the daemon at the first connection.
  private static func activated(
    _ sandbox: Sandbox, _ sockets: [String], names: String? = nil, _ options: [String] = []
  ) throws -> Program {
    guard access(activate, X_OK) == 0 else { throw TestFailure("\(activate) is missing: apt-get install systemd") }
    // It hands on the variables that it is told to; those of the sanitizers are the daemon's as well.
    let variables = sandbox.environment.keys.filter { $0.hasSuffix("SAN_OPTIONS") }
    let given = names.map { ["--fdname", $0] } ?? []
    return try sandbox.start(
      activate,
      given + variables.flatMap { ["-E", $0] } + sockets.flatMap { ["-l", $0] }
        + [BuiltPrograms.daemon, "--state", sandbox.state] + options,
      input: .nothing)
  }

  /// Connects to a path as soon as a socket is there; the connection wakes the daemon up.
  private static func wake(_ path: String) {
    #expect(Patience.wait { (try? UnixSocket.connect(to: path).close()) != nil })
  }

  @Test func `the command finds a broker on a socket at an unusual path, which stays when the broker stops`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/unusual.sock"
      let owner = try Self.activated(sandbox, [path])
      Self.wake(path)
      #expect(Patience.wait { OwnerRecord(at: sandbox.state + "/broker.lock")?.socket == path })
      #expect(OwnerRecord(at: sandbox.state + "/broker.lock")?.pid == owner.pid)
      #expect(try sandbox.command("sockpath").output == path + "\n")
      let account = ["register", "--email", "a@example.com", "--password-stdin"]
      let registered = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + account, input: "made-up password 1\n")
      #expect(registered.code == 0, "\(registered.errors)")
      let token = try sandbox.command("token")
      #expect(token.code == 0 && !token.output.isEmpty, "\(token.errors)")
      #expect(!Directory.names(in: sandbox.state).contains("run"), "no second socket is made")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(try FileStatus.ofLink(path).kind == .socket)
    }
  }

  @Test func `a socket at the usual path wakes the broker by the first command`() async throws {
    try await Sandbox.run { sandbox in
      #expect(mkdir(sandbox.state, 0o700) == 0 && mkdir(sandbox.state + "/run", 0o700) == 0)
      let owner = try Self.activated(sandbox, [sandbox.socket])
      #expect(Patience.wait { (try? FileStatus.ofLink(sandbox.socket).kind) == .socket })
      let status = try sandbox.command("status")
      #expect(status.code == 0 && status.output.contains("pid \(owner.pid)"), "\(status.output)\(status.errors)")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(try FileStatus.ofLink(sandbox.socket).kind == .socket)
    }
  }

  @Test func `an abstract socket is refused with what to write instead`() async throws {
    try await Sandbox.run { sandbox in
      let name = sandbox.root + "/abstract"
      let owner = try Self.activated(sandbox, ["@" + name])
      #expect(
        try Patience.wait {
          let names = String(decoding: try Directory.bytes(of: "/proc/net/unix"), as: UTF8.self)
          return names.contains("@" + name)
        })
      try Self.connect(toAbstract: name)
      #expect(try owner.wait() == 1)
      #expect(
        owner.errorText.contains("passed a socket without a path; give ListenStream= an absolute one"),
        "\(owner.errorText)")
      #expect(OwnerRecord(at: sandbox.state + "/broker.lock") == nil)
    }
  }

  @Test func `two sockets for the broker itself are refused`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.activated(sandbox, [sandbox.root + "/one", sandbox.root + "/two"])
      Self.wake(sandbox.root + "/two")
      #expect(try owner.wait() == 1)
      #expect(
        owner.errorText.contains("passed 2 sockets for the broker itself; configure one"), "\(owner.errorText)")
    }
  }

  @Test func `a socket with the name of a limited one is that, also after reloads`() async throws {
    try await Sandbox.run { sandbox in
      let (own, limited) = (sandbox.root + "/own.sock", sandbox.root + "/ci.sock")
      let profiles = #"profiles: { work: { provider: "local" }, private: { provider: "local" } }"#
      let with = #"{ \#(profiles), sockets: { ci: { profiles: ["work"] } } }"#
      let options = try sandbox.configure(with)
      let owner = try Self.activated(sandbox, [own, limited], names: "authbroker.socket:ci", options)
      // Whichever socket a client comes by wakes the broker up.
      Self.wake(limited)
      #expect(Patience.wait { OwnerRecord(at: sandbox.state + "/broker.lock")?.socket == own })
      for profile in ["work", "private"] {
        let account = ["register", "-p", profile, "--email", profile + "@example.com", "--password-stdin"]
        let registered = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state] + account, input: "made-up password 1\n")
        #expect(registered.code == 0, "\(registered.errors)")
      }
      func token(_ profile: String) throws -> Int32 {
        try sandbox.run(BuiltPrograms.command, ["--socket", limited, "token", "-p", profile]).code
      }
      #expect(try token("work") == 0 && token("private") != 0)
      // Without the entry nobody is let in by it; what was passed stays for the next one.
      for text in ["{ \(profiles) }", with] {
        _ = try sandbox.configure(text)
        #expect(try sandbox.command("reload").code == 0)
      }
      #expect(try token("work") == 0 && token("private") != 0)
      let list = try sandbox.command("socket", "list").output
      #expect(list.contains("ci") && list.contains(limited), "\(list)")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(try FileStatus.ofLink(limited).kind == .socket && FileStatus.ofLink(own).kind == .socket)
      #expect(owner.errorText.contains("no limited socket has the name"), "\(owner.errorText)")
    }
  }

  private static func connect(toAbstract name: String) throws {
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = [0] + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(number, $0, size) }
    }
    guard connected == 0 else { throw TestFailure("no connection to @\(name): \(errno)") }
  }
}
