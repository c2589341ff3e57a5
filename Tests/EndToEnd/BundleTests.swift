import JSON
import LinuxSystem
import TestSupport
import Testing

/// `doctor --bundle`: what is marked wherever a user keeps something is not in the archive.
@Suite(.standardTimeLimit) struct BundleTests {
  private static let marks = [
    "clientId": "cli-MARK-0a11", "command": "entry-MARK-0a12", "variable": "MARK_VARIABLE_0a13",
    "file": "key-MARK-0a14",
    "realm": "realm-MARK-0a15", "user": "bob-MARK-0a16", "path": "repo-MARK-0a17", "parameter": "hint-MARK-0a18",
    "comment": "note-MARK-0a19", "scope": "scope:MARK-0a1b", "account": "ada-MARK-0a1c@example.com",
    "name": "Nora MARK0a1d", "password": "example-password-MARK-0a1e", "environment": "value-MARK-0a1f",
    "value": "secret-MARK-0a20", "key": "keyMARK0a21", "login": "unixMARK0a22", "log": "line-MARK-0a23",
    "number": "8675309013", "header": "X-MARK-0a24", "wrong": "MARK0a25",
  ]

  private static func mark(_ name: String) -> String { marks[name] ?? "" }

  /// A configuration that is marked wherever it can be.
  private static var configuration: String {
    """
    { // \(mark("comment"))
      logLevel: "debug", local: { otp: { length: 8, lifetimeSeconds: 300 } },
      profiles: {
        default: { provider: "local" },
        corp: {
          provider: "oidc", issuer: "https://sso.example.com/\(mark("realm"))", clientId: "\(mark("clientId"))",
          clientSecret: { command: ["pass", "\(mark("command"))"] }, scopes: ["openid", "\(mark("scope"))"],
          authorizationParameters: { x: "\(mark("parameter"))", \(mark("key")): "1" }, refreshSkewSeconds: 41,
        },
        shop: {
          provider: "rest", baseUrl: "https://api.example.com", clientId: "a",
          clientSecret: { env: "\(mark("variable"))" }, mapping: { clientAuth: "basic" },
        },
        app: { provider: "firebase", apiKey: { file: "/run/\(mark("file"))" } },
      },
      targets: { "https://\(mark("user"))@git.example.com/\(mark("path"))": { profile: "corp", username: "\(mark("user"))" } },
    }
    """
  }

  /// Fills a broker, and returns all marks: those of the configuration, and the secrets that came about.
  private static func fill(_ sandbox: Sandbox) throws -> [String: String] {
    var marks = marks
    sandbox.environment["SOME_TOKEN"] = mark("environment")
    sandbox.environment[mark("variable")] = mark("value")
    sandbox.environment["USER"] = mark("login")
    sandbox.environment["LOGNAME"] = mark("login")
    sandbox.environment["AUTHBROKER_CONFIG"] = sandbox.root + "/config.json"
    let register = try sandbox.command(
      "register", "-p", "default", "--email", mark("account"), "--name",
      mark("name"), "--phone", "+\(mark("number"))", "--password-stdin", input: mark("password") + "\n")
    guard register.code == 3 else { throw TestFailure(register.errors) }
    let code = try Outbox.newestCode(in: sandbox.outbox)
    marks["used code"] = code
    let verified = try sandbox.command("verify-otp", "--code-stdin", input: code + "\n")
    guard verified.code == 0 else { throw TestFailure(verified.errors) }
    marks["access token"] = String(try sandbox.command("token", "-p", "default").output.dropLast())
    let wire = try SocketWire(sandbox.socket)
    marks["user id"] = try wire.call("getSession", #"{"profile":"default"}"#).required("userId").string()
    // A login that waits for its code.
    _ = try wire.call(
      "login", #"{"profile":"default","email":"\#(mark("account"))","password":"\#(mark("password"))"}"#)
    marks["code"] = try Outbox.newestCode(in: sandbox.outbox)
    let log = try FileDescriptor.open(sandbox.state + "/broker.log", [.write, .create, .append])
    for line in [
      mark("log"),
      "2026-01-01T00:00:00Z info: the \(mark("log")) is here user=\(mark("account")) path=\"/x \(mark("log"))\"",
      "2026-01-01T00:00:00Z debug: a call profile=\(mark("log")) host=\(mark("log")) status=200",
    ] { try log.writeAll(Array((line + "\n").utf8).span) }
    return marks
  }

  @Test func `no secret, account or name is in it, and what helps is`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(Self.configuration)
      let marks = try Self.fill(sandbox)
      let file = sandbox.root + "/report.tar"
      let words = ["--state", sandbox.state] + options + ["doctor", "--no-network", "--quick", "--bundle", file]
      let run = try sandbox.run(BuiltPrograms.command, words)
      #expect(run.code == 0 && run.output.contains("read it before you send it"), "\(run.output)\(run.errors)")
      let bytes = try Directory.bytes(of: file)
      for (name, text) in marks {
        #expect(!SecretMark(name, text).isIn(bytes), "\(name)")
        let encoded = Array(
          text.replacing("@", with: "%40").replacing(":", with: "%3A").replacing(" ", with: "%20").utf8)
        #expect(!SecretMark(name, String(decoding: encoded, as: UTF8.self)).isIn(bytes), "\(name)")
      }
      // Nor in parts.
      let all = String(decoding: bytes, as: UTF8.self)
      for (name, text) in Self.marks {
        for part in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        where part.contains("MARK") || part.hasPrefix("0a") {
          #expect(!all.contains(part), "\(name)")
        }
      }
      #expect(!all.contains(sandbox.root))
      let said = try sandbox.run("/bin/tar", ["-xOf", file]).output
      for text in [
        "\"refreshSkewSeconds\": 41", "\"issuer\": \"https://sso.example.com\"", "\"command\"",
        "\"server\": \"https://git.example.com\"",
        "\"state\": \"authenticated\"", "\"keySource\": \"file\"", "\"corp\"", "files.state", "info: ",
        "profile=default",
        "Read the files", "\"lifetimeSeconds\": 300",
      ] { #expect(said.contains(text), "\(text): \(said)") }
      let list = try sandbox.run("/bin/tar", ["-tvf", file]).output
      #expect(list.split(separator: "\n").count == 7 && list.contains("-rw-------"), "\(list)")
    }
  }

  @Test func `a file that is there is kept, and a new one is its owner's alone`() async throws {
    try await Sandbox.run { sandbox in
      let run = try sandbox.command("--no-start", "doctor", "--bundle", "--json")
      #expect(run.code == 0, "\(run.errors)")
      let path = try JSONDocument(parsing: Array(run.output.utf8)).root.required("file").string()
      #expect(path.hasPrefix(sandbox.root + "/authbroker-bundle-") && path.hasSuffix(".tar"))
      #expect(try FileStatus.ofLink(path).permissions == 0o600)
      let bytes = try Directory.bytes(of: path)
      let again = try sandbox.command("--no-start", "doctor", "--bundle", path)
      #expect(again.code == 2 && again.errors.contains("is not overwritten"), "\(again.errors)")
      #expect(try Directory.bytes(of: path) == bytes)
      let nowhere = try sandbox.command("--no-start", "doctor", "--bundle", sandbox.root + "/none/x.tar")
      #expect(nowhere.code == 1 && nowhere.errors.contains("cannot be written"), "\(nowhere.errors)")
      #expect(try sandbox.command("--no-start", "doctor", path).code == 2)
    }
  }

  @Test(arguments: [
    #"{ profiles: { a: { provider: "oidc", issuer: "MARK0a25 x", clientSecret: "MARK0a25" } } }"#,
    #"{ "MARK0a25": 1, logLevel: MARK0a25"#, #"{ logLevel: "MARK0a25" }"#,
  ])
  func `a configuration that is refused is not quoted`(_ text: String) async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(text)
      let file = sandbox.root + "/report.tar"
      let words = ["--state", sandbox.state] + options + ["doctor", "--no-network", "--bundle", file]
      #expect(try sandbox.run(BuiltPrograms.command, words).code == 0)
      let bytes = try Directory.bytes(of: file)
      #expect(!SecretMark("mark", Self.mark("wrong")).isIn(bytes))
      #expect(String(decoding: bytes, as: UTF8.self).contains("the configuration is refused"))
    }
  }

  @Test func `every word of the schema is shown`() async throws {
    try await Sandbox.run { sandbox in
      let schema = try JSONDocument(parsing: Directory.bytes(of: Repository.root + "/Schemas/config.schema.json")).root
      var words: Set<String> = []
      func collect(_ node: JSONNode) throws {
        switch node.kind {
        case .object:
          for member in try node.members() {
            guard member.name == "enum" else {
              try collect(member.value)
              continue
            }
            for element in try member.value.elements() where element.kind == .string {
              words.insert(try element.string())
            }
          }
        case .array: for element in try node.elements() { try collect(element) }
        default: break
        }
      }
      try collect(schema)
      #expect(words.count > 20)
      let list = words.sorted().map { "\"\($0)\"" }.joined(separator: ",")
      let options = try sandbox.configure("{ profiles: { a: { methods: [\(list)] } } }")
      let outline = try sandbox.run(BuiltPrograms.daemon, ["--outline-config"] + options)
      #expect(outline.code == 0)
      for word in words { #expect(outline.output.contains("\"\(word)\""), "\(word)") }
    }
  }
}
