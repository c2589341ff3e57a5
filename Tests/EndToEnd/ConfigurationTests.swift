import JSON
import LinuxSystem
import TestSupport
import Testing

/// The configuration of a real broker: read at the start, read again on request, kept where it is not valid.
@Suite(.standardTimeLimit) struct ConfigurationTests {
  private static let one = #"{ profiles: { default: { provider: "local" } } }"#
  private static let two = #"{ profiles: { default: { provider: "local" }, work: { provider: "local" } } }"#

  @Test func `a broken configuration exits with 1 and names file, line and key`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{\n  // remark\n  lingerSeconds: \"long\",\n}\n")
      for mode in [[], ["--stdio"], ["--check-config"]] {
        let outcome = try sandbox.refusedDaemon(options + mode)
        #expect(outcome.code == 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(sandbox.root + "/config.json:3"), "\(outcome.errors)")
        #expect(outcome.errors.contains("lingerSeconds"), "\(outcome.errors)")
      }
      let missing = try sandbox.refusedDaemon(["--config", sandbox.root + "/nowhere.json"])
      #expect(missing.code == 1)
      #expect(missing.errors.contains("nowhere.json"))
    }
  }

  @Test(arguments: [
    ("config.json5", "rename it to config.json"), ("config.yaml", "write it as JSON5 in config.json"),
  ])
  func `a configuration that is called something else is not ignored`(_ name: String, _ remedy: String) async throws {
    try await Sandbox.run { sandbox in
      let folder = sandbox.root + "/home/config/authbroker"
      _ = try PrivateDirectory(folder, create: true)
      try Directory.write(Self.one, to: folder + "/" + name)
      let text = "\(folder)/\(name) is not read; \(remedy)"
      for mode in [[], ["--check-config"]] {
        let outcome = try sandbox.refusedDaemon(mode)
        #expect(outcome.code == 1 && outcome.errors == "authbroker: \(text)\n", "\(outcome.errors)")
      }
      let doctor = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "doctor", "--no-start"])
      #expect(doctor.code == 1 && doctor.output.contains(text), "\(doctor.output)")
      // One that has the right name as well is read, and the other is a copy.
      try Directory.write(Self.one, to: folder + "/config.json")
      #expect(try sandbox.refusedDaemon(["--check-config"]).code == 0)
    }
  }

  @Test func `every mistake is listed, as lines and as one object`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{\n  loglevel: \"info\",\n  lingerSeconds: \"5m\",\n}\n")
      let file = sandbox.root + "/config.json"
      let range = "lingerSeconds: must be a number of seconds from 0 to 86400"
      let lines = [
        #"\#(file):2:3: unknown key "loglevel"; did you mean "logLevel"?"#,
        #"\#(file):3:18: \#(range), not "5m"; for 5 minutes write 300"#,
      ]
      let text = try sandbox.refusedDaemon(options + ["--check-config"])
      #expect(text.errors == lines.joined(separator: "\n") + "\n")
      let object = try sandbox.refusedDaemon(options + ["--check-config", "--json"])
      let root = try JSONDocument(parsing: Array(object.output.utf8)).root
      #expect(try root["ok"]?.bool() == false && root["file"]?.string() == file)
      #expect(try root["message"]?.string() == lines[0] + " (and 1 more mistake)")
      #expect(try root["mistakes"]?.elements().map { try $0["line"]?.integer() } == [2, 3])
      #expect(object.errors == "authbroker: \(lines[0]) (and 1 more mistake)\n")
    }
  }

  @Test func `a file of trusted authorities is looked at by a check, and named where a broker lacks it`() async throws {
    try await Sandbox.run { sandbox in
      try Directory.write("no certificate\n", to: sandbox.root + "/empty.pem")
      let (missing, empty) = (sandbox.root + "/missing.pem", sandbox.root + "/empty.pem")
      let shop = #"provider: "rest", baseUrl: "https://127.0.0.1:1", tls: { caFile: "\#(empty)" }"#
      let options = try sandbox.configure(#"{ network: { caFile: "\#(missing)" }, profiles: { shop: { \#(shop) } } }"#)
      let check = try sandbox.refusedDaemon(options + ["--check-config"])
      #expect(check.code == 1)
      #expect(check.errors.contains("1:22: network.caFile: \(missing) cannot be read"), "\(check.errors)")
      #expect(check.errors.contains("tls.caFile: \(empty) cannot be read, or has no certificate"), "\(check.errors)")
      _ = try sandbox.owner(options)
      let status = try SocketWire(sandbox.socket).call("getStatus")
      let authority = try #require(try status["authorities"]?.elements().first)
      #expect(try authority["source"]?.string() == "network.caFile" && authority["readable"]?.bool() == false)
      #expect(try authority["path"]?.string() == missing)
    }
  }

  @Test func `SIGHUP takes a new configuration over and keeps the session`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(Self.one))
      let (watcher, client) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      try client.register()
      let token = try client.accessToken()
      _ = try watcher.call("subscribe", #"{"events":["configReloaded"]}"#)
      _ = try sandbox.configure(Self.two)
      try owner.send(.hangUp)
      #expect(try watcher.nextNode()["params"]?["event"]?.string() == "configReloaded")
      #expect(try client.call("listSessions")["sessions"]?.elements().count == 2)
      #expect(try client.call("getAccessToken", #"{"profile":"default"}"#)["accessToken"]?.string() == token)
    }
  }

  private static let elsewhere = #"{ profiles: { default: { provider: "rest", baseUrl: "http://127.0.0.1:9" } } }"#

  @Test func `a session that a change of the file signs out is back when the file is as before`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(Self.one))
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let token = try client.accessToken()
      _ = try sandbox.configure(Self.elsewhere)
      _ = try client.call("reloadConfig")
      #expect(try client.refusal("getAccessToken") == "loginRequired")
      let status = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "status"])
      #expect(status.output.contains("is kept until") && status.output.contains(" logout --profile default"))
      #expect(owner.errorText.contains("its session is kept"))
      // Over a restart too.
      _ = try client.call("stopBroker")
      _ = try owner.wait()
      _ = try sandbox.owner(try sandbox.configure(Self.one))
      let next = try SocketWire(sandbox.socket)
      #expect(try next.call("getSession").required("state").string() != "signedOut")
      #expect(try next.accessToken() != token)
      // Kept once more, it ends by hand.
      _ = try sandbox.configure(Self.elsewhere)
      _ = try next.call("reloadConfig")
      let logout = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "logout", "-p", "default"])
      #expect(logout.code == 0, "\(logout.errors)")
      _ = try sandbox.configure(Self.one)
      _ = try next.call("reloadConfig")
      #expect(try next.refusal("getAccessToken") == "loginRequired")
    }
  }

  @Test func `targets are found by address, and a reload changes them`() async throws {
    try await Sandbox.run { sandbox in
      let text = { (name: String) in
        #"{ targets: { "https://git.example.com": { profile: "default", username: "\#(name)" } } }"#
      }
      let owner = try sandbox.owner(try sandbox.configure(text("ada")))
      let client = try SocketWire(sandbox.socket)
      let question = #"{"url":"https://git.example.com/acme/tools.git"}"#
      let names = { (params: String) throws -> [String?]? in
        try client.call("listTargets", params)["targets"]?.elements().map { try $0["username"]?.string() }
      }
      #expect(try names(question) == ["ada"])
      #expect(try client.refusal("getAccessToken", question) == "loginRequired")
      try client.register()
      let granted = try client.call("getAccessToken", question)
      #expect(try granted.required("accessToken").string() == client.accessToken())
      let target = try granted.required("target")
      #expect(String(decoding: target.text, as: UTF8.self) == #"{"prefix":"https://git.example.com","username":"ada"}"#)
      #expect(try client.call("getAccessToken")["target"] == nil)
      #expect(try client.refusal("getAccessToken", #"{"url":"https://git.example.org"}"#) == "unknownTarget")
      #expect(try client.refusal("getAccessToken", #"{"url":"git"}"#) == "invalidParams")
      let both = #"{"url":"https://git.example.com","profile":"default"}"#
      #expect(try client.refusal("getAccessToken", both) == "invalidParams")
      _ = try sandbox.configure(text("bob"))
      try client.prove()
      _ = try client.call("reloadConfig")
      #expect(try names(question) == ["bob"] && names("{}") == ["bob"])
      #expect(try names(#"{"url":"https://git.example.org"}"#) == [])
      let refused = try client.ask(
        #"{"jsonrpc":"2.0","id":1,"method":"listTargets","params":{"url":"https://git.example.com/../x"}}"#)
      #expect(try refused["error"]?["data"]?["pointer"]?.string() == "/url")
      try owner.send(.terminate)
    }
  }

  @Test func `a configuration that says what it said before is no event`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(Self.one))
      let (watcher, client) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      let before = try watcher.call("subscribe").required("sequence").integer()
      for _ in 0..<300 { #expect(try client.call("reloadConfig")["profiles"]?.elements().count == 1) }
      // A remark changes nothing that the broker knows.
      _ = try sandbox.configure("// remark\n" + Self.one)
      #expect(try client.call("reloadConfig")["profiles"]?.elements().count == 1)
      #expect(try client.call("initialize")["sequence"]?.integer() == before)
      #expect(owner.errorText.split(separator: "\n").count <= 120, "\(owner.errorText.utf8.count) bytes")
      _ = try sandbox.configure(Self.two)
      #expect(try client.call("reloadConfig")["profiles"]?.elements().count == 2)
      #expect(try watcher.nextNode()["params"]?["event"]?.string() == "configReloaded")
    }
  }

  @Test func `an invalid configuration is refused and the old one kept`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(Self.two))
      let client = try SocketWire(sandbox.socket)
      _ = try sandbox.configure("{\n  profiles: { default: { provider: \"nobody\" } },\n}\n")
      try client.prove()
      let refused = try client.ask(#"{"jsonrpc":"2.0","id":1,"method":"reloadConfig"}"#)
      #expect(try refused["error"]?["data"]?["kind"]?.string() == "configInvalid")
      #expect(try refused["error"]?["message"]?.string().contains("config.json:2") == true)
      try owner.send(.hangUp)
      try Self.awaitLog(of: owner, "the configuration was rejected", times: 2, client)
      #expect(try client.call("listSessions")["sessions"]?.elements().count == 2)
      _ = try sandbox.configure(Self.one)
      #expect(try client.call("reloadConfig")["profiles"]?.elements().count == 1)
    }
  }

  @Test func `lifetimes come from the configuration`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(
        #"{ local: { otp: { length: 9, maxAttempts: 2, resendCooldownSeconds: 0 } }, logLevel: "debug" }"#)
      let wire = ProgramWire(try sandbox.privateOwner(options))
      let result = try wire.call(
        "register", #"{"email":"a@example.com","password":"example password 1","phoneNumber":"+15550100042"}"#)
      let challenge = try result.required("challenge")
      #expect(try challenge["otpLength"]?.integer() == 9)
      #expect(try challenge["attemptsRemaining"]?.integer() == 2)
      let flow = try challenge.required("otpFlowId").string()
      let first = try Outbox.newestCode(in: sandbox.outbox)
      #expect(try wire.call("resendOtp", #"{"otpFlowId":"\#(flow)"}"#)["otpLength"]?.integer() == 9)
      #expect(try Outbox.newestCode(in: sandbox.outbox) != first)
      #expect(try wire.refusal("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(first)"}"#) == "otpInvalid")
    }
  }

  /// Waits until a log has a text so often; each look costs one round trip to the broker.
  private static func awaitLog(of program: Program, _ text: String, times: Int, _ wire: any Wire) throws {
    let deadline = Patience.end
    while program.errorText.split(separator: text, omittingEmptySubsequences: false).count <= times {
      guard BootClock.now < deadline else { throw TestFailure("the log never said: \(text)\n\(program.errorText)") }
      _ = try wire.call("ping")
    }
  }
}
