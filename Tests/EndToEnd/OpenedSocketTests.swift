import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Sockets that are opened while a real broker runs.
@Suite(.standardTimeLimit) struct OpenedSocketTests {
  private static let work = #"{"profiles":["work"],"lifetimeSeconds":600}"#

  /// A broker with somebody logged in on both profiles, and an administrative connection to it.
  private static func start(_ sandbox: Sandbox, _ profiles: [String] = ["default", "work"]) throws -> SocketWire {
    _ = try sandbox.owner(try configure(sandbox, profiles))
    let wire = try SocketWire(sandbox.socket)
    for profile in profiles {
      let account = #"{"profile":"\#(profile)","email":"\#(profile)@example.com","password":"example password 1"}"#
      _ = try wire.call("register", account)
    }
    try wire.prove()
    return wire
  }

  private static func configure(_ sandbox: Sandbox, _ profiles: [String], _ more: String = "") throws -> [String] {
    let entries = profiles.map { #""\#($0)": { provider: "local" }"# }.joined(separator: ", ")
    return try sandbox.configure("{ profiles: { \(entries) }\(more) }")
  }

  private static func open(_ owner: SocketWire, _ params: String = work) throws -> (id: String, path: String) {
    let socket = try owner.call("openSocket", params)
    return (try socket.required("socketId").string(), try socket.required("path").string())
  }

  private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether the connection has been closed by the broker.
  private static func hasEnded(_ wire: SocketWire) -> Bool { (try? wire.next()) == nil }

  @Test func `it gives what it says until it is closed, and its clients nothing more`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      let socket = try Self.open(
        owner, #"{"profiles":["work"],"methods":["getAccessToken"],"uids":[\#(geteuid())],"lifetimeSeconds":600}"#)
      #expect(socket.path == PathName.directory(of: sandbox.socket) + "/sockets/\(socket.id)/broker.sock")
      let client = try SocketWire(socket.path)
      _ = try client.call("getAccessToken")
      for (method, params, kind) in [
        ("getAccessToken", #"{"profile":"default"}"#, "unknownProfile"), ("getSession", "{}", "accessDenied"),
        ("openSocket", Self.work, "accessDenied"), ("listSockets", "{}", "accessDenied"),
        ("closeSocket", #"{"socketId":"\#(socket.id)"}"#, "accessDenied"), ("lock", "{}", "accessDenied"),
      ] { #expect(try client.refusal(method, params) == kind, "\(method)") }
      let listed = try owner.call("listSockets").required("sockets").elements()
      #expect(listed.count == 1)
      #expect(try listed.first?["socketId"]?.string() == socket.id)
      #expect(try listed.first?["connections"]?.integer() == 1)
      _ = try owner.call("closeSocket", #"{"socketId":"\#(socket.id)"}"#)
      #expect(Self.hasEnded(client))
      #expect(!Self.isThere(PathName.directory(of: socket.path)))
      #expect(try owner.refusal("closeSocket", #"{"socketId":"\#(socket.id)"}"#) == "invalidParams")
    }
  }

  @Test func `it ends at its time, and with the broker`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      let brief = try Self.open(owner, #"{"profiles":["work"],"lifetimeSeconds":1}"#)
      let client = try SocketWire(brief.path)
      _ = try client.call("getAccessToken")
      #expect(Self.hasEnded(client))
      #expect(!Self.isThere(brief.path))
      let other = try Self.open(owner)
      _ = try owner.call("stopBroker")
      try sandbox.awaitNoOwner(of: sandbox.state)
      #expect(!Self.isThere(PathName.directory(of: other.path)))
    }
  }

  @Test func `what a killed broker has left is removed, and nothing is opened again`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      let socket = try Self.open(owner)
      let pid = Int32(try owner.call("getStatus").required("pid").integer())
      kill(pid, SIGKILL)
      try sandbox.awaitNoOwner(of: sandbox.state)
      #expect(Self.isThere(socket.path))
      _ = try sandbox.owner(try Self.configure(sandbox, ["default", "work"]))
      #expect(!Self.isThere(PathName.directory(of: socket.path)))
      #expect(try SocketWire(sandbox.socket).call("listSockets").required("sockets").elements().isEmpty)
    }
  }

  @Test func `a reload keeps it, without the profiles that are no more, and rules hold for it`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      let socket = try Self.open(owner, #"{"profiles":["work","default"],"lifetimeSeconds":600}"#)
      let client = try SocketWire(socket.path)
      _ = try Self.configure(sandbox, ["work", "new"])
      _ = try owner.call("reloadConfig")
      _ = try client.call("getAccessToken", #"{"profile":"work"}"#)
      // It does not come back with another profile of the same name.
      _ = try Self.configure(sandbox, ["default", "work"])
      _ = try owner.call("reloadConfig")
      #expect(try client.refusal("getAccessToken", #"{"profile":"default"}"#) == "unknownProfile")
      // No rule names it: nothing is given.
      _ = try Self.configure(sandbox, ["default", "work"], ", access: { rules: [{ profiles: [\"work\"] }] }")
      _ = try owner.call("reloadConfig")
      #expect(try client.refusal("getAccessToken", #"{"profile":"work"}"#) == "accessDenied")
      let rule = "{ client: { uid: \(geteuid()) }, profiles: [\"work\"] }"
      _ = try Self.configure(sandbox, ["default", "work"], ", access: { rules: [\(rule)] }")
      _ = try owner.call("reloadConfig")
      _ = try client.call("getAccessToken", #"{"profile":"work"}"#)
    }
  }

  @Test func `what cannot be opened is named, and leaves nothing`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      let (file, open) = (sandbox.root + "/file", sandbox.root + "/open")
      try Directory.write("", to: file)
      mkdir(open, 0o777)
      chmod(open, 0o777)
      let mistakes: [(String, String, String)] = [
        (#""profiles":["wrok"]"#, "/profiles/0", "did you mean \"work\"?"),
        (#""profiles":[]"#, "/profiles", "is empty"),
        (#""methods":["openSocket"]"#, "/methods/0", "no method that a rule can allow"),
        (#""lifetimeSeconds":0"#, "/lifetimeSeconds", "from 1 to 2592000"),
        (#""lifetimeSeconds":2592001"#, "/lifetimeSeconds", "from 1 to 2592000"),
        (#""may":"have""#, "/may", "must be"), (#""mode":"0777""#, "/mode", "\"0660\""),
        (#""scopes":["a b"]"#, "/scopes", "visible ASCII"), (#""uids":["nobody-at-all"]"#, "/uids", "write the number"),
        (#""group":"nobody-at-all""#, "/group", "write the number"), (#""path":"a""#, "/path", "absolute path"),
        (#""path":"\#(file)""#, "/path", "exists; choose another path"),
        (#""path":"\#(sandbox.root)/none/s""#, "/path", "make it first"),
        (#""path":"\#(open)/s""#, "/path", "cannot be opened"),
      ]
      for (members, pointer, words) in mistakes {
        let given = [(#""profiles":["work"]"#, "profiles"), (#""lifetimeSeconds":60"#, "lifetimeSeconds")]
        let rest = given.filter { !members.contains("\"\($0.1)\"") }.map(\.0)
        let answer = try owner.answer("openSocket", "{\((rest + [members]).joined(separator: ","))}")
        let error = try #require(answer["error"], "\(members)")
        #expect(try error["data"]?["pointer"]?.string() == pointer, "\(members)")
        let message = try error.required("message").string()
        #expect(message.contains(words) && !message.contains("--socket"), "\(message)")
      }
      #expect(try owner.call("listSockets").required("sockets").elements().isEmpty)
      #expect(Directory.names(in: PathName.directory(of: sandbox.socket) + "/sockets").isEmpty)
      #expect(Directory.names(in: open).isEmpty)
    }
  }

  @Test func `there are 64 at most, and one that is closed makes room`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox, ["work"])
      let first = try Self.open(owner)
      for _ in 1..<64 { _ = try Self.open(owner) }
      #expect(try owner.refusal("openSocket", Self.work) == "overloaded")
      _ = try owner.call("closeSocket", #"{"socketId":"\#(first.id)"}"#)
      _ = try Self.open(owner)
    }
  }
}
