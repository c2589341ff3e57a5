import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Profiles whose token is an API key or an access token that the configuration refers to.
@Suite(.standardTimeLimit) struct StaticSecretTests {
  private static let key = "made-up-static-key-1"
  private static let other = "made-up-static-key-2"

  /// An owner with two profiles on one file, and targets for both.
  private static func owner(_ sandbox: Sandbox, _ more: String = "") throws -> Program {
    let file = sandbox.root + "/key"
    try Directory.write(key + " \r\nnot this line\n", to: file)
    #expect(chmod(file, 0o600) == 0)
    return try sandbox.owner(
      try sandbox.configure(
        """
        { profiles: {
            maps: { provider: "static", secret: { file: "\(file)" }, header: "X-Api-Key" },
            code: { provider: "static", secret: { file: "\(file)" }, scheme: "token" },
            plain: { provider: "static", secret: { file: "\(file)" } } },
          targets: { "https://maps.example.com": "maps", "https://code.example.com": "code", "https://plain.example.com": "plain",
                     "https://basic.example.com": { profile: "maps", scheme: "Basic", username: "ann" } }
          \(more) }
        """))
  }

  @Test func `a token is the secret, in its header, without an end`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.owner(sandbox)
      let wire = try SocketWire(sandbox.socket)
      let sessions = try wire.call("listSessions").required("sessions").elements()
      #expect(try sessions.allSatisfy { try $0.required("provider").string() == "static" })
      let token = try wire.call("getAccessToken", #"{"profile":"maps"}"#)
      #expect(try token.required("accessToken").string() == Self.key)
      #expect(try token.required("header").string() == "X-Api-Key")
      #expect(try token.required("tokenType").string() == "Bearer")
      #expect(token["expiresAt"]?.isNull == true)
      let byURL = try wire.call("getAccessToken", #"{"url":"https://code.example.com/x"}"#)
      #expect(try byURL.required("tokenType").string() == "token" && byURL["target"] != nil)
      #expect(try byURL.required("header").string() == "Authorization")
      let profiles = try wire.call("initialize").required("profiles").elements()
      #expect(try profiles.allSatisfy { try $0.required("login").elements().isEmpty })
      let session = try wire.call("getSession", #"{"profile":"maps"}"#)
      #expect(try session.required("state").string() == "authenticated")
      #expect(try !session.required("refreshTokenPresent").bool())
      for (arguments, output) in [
        (["token", "-p", "maps"], Self.key), (["header", "-p", "maps"], "X-Api-Key: " + Self.key),
        (["header", "-p", "code"], "Authorization: token " + Self.key),
        (["header", "-p", "plain"], "Authorization: Bearer " + Self.key),
        (["token", "-p", "maps", "--format", "headers"], #"{"X-Api-Key": "\#(Self.key)"}"#),
        (["header", "--url", "https://basic.example.com"], "Authorization: Basic YW5uOm1hZGUtdXAtc3RhdGljLWtleS0x"),
        (["helper", "go", "https://maps.example.com/x"], "X-Api-Key: " + Self.key),
        (["helper", "curl", "https://maps.example.com/x"], "header = \"X-Api-Key: \(Self.key)\""),
        (["exec", "-p", "maps", "--env", "KEY", "--", "/bin/sh", "-c", "echo $KEY"], Self.key),
      ] {
        let done = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + arguments)
        #expect(done.code == 0 && done.output.contains(output), "\(arguments): \(done.output) \(done.errors)")
      }
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(!Self.isOnDisk(Self.key, sandbox), "nothing of the secret is stored or logged")
    }
  }

  @Test func `tools get what they can send, and a clear refusal for the rest`() async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.owner(sandbox)
      let git = { (host: String) in
        try sandbox.command(
          "helper", "git", "get", input: "capability[]=authtype\nprotocol=https\nhost=\(host)\n\n")
      }
      #expect(try git("maps.example.com").output.contains("password=" + Self.key))
      let docker = try sandbox.command("helper", "docker", "get", input: "https://code.example.com")
      #expect(docker.output.contains(#""Secret":"\#(Self.key)""#), "\(docker.output) \(docker.errors)")
      let bazel = try sandbox.command("helper", "bazel", "get", input: #"{"uri":"https://maps.example.com/a"}"#)
      #expect(bazel.output.contains(#"{"headers":{"X-Api-Key":["\#(Self.key)"]}"#), "\(bazel.output)")
      for arguments in [
        ["helper", "terraform", "get", "maps.example.com"], ["token", "-p", "maps", "--format", "execcredential"],
      ] {
        let refused = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + arguments)
        #expect(refused.code == 6 && refused.errors.contains("X-Api-Key"), "\(arguments): \(refused.errors)")
        #expect(!refused.errors.contains(Self.key) && !refused.output.contains(Self.key))
      }
    }
  }

  @Test func `there is nothing to log in to or out of`() async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.owner(sandbox)
      let wire = try SocketWire(sandbox.socket)
      for (method, params) in [
        ("login", #"{"profile":"maps"}"#), ("logout", #"{"profile":"maps"}"#),
        ("getCurrentUser", #"{"profile":"maps"}"#),
        ("login", #"{"profile":"maps","email":"a@example.com","password":"made-up-password"}"#),
      ] {
        let error = try wire.answer(method, params).required("error")
        #expect(try error.required("data").required("kind").string() == "unsupportedByProvider", "\(method)")
      }
      _ = try wire.call("getAccessToken", #"{"profile":"maps"}"#)
      let all = try sandbox.command("logout", "--all")
      #expect(all.code == 0, "\(all.errors)")
      #expect(try wire.call("getSession", #"{"profile":"maps"}"#).required("state").string() == "authenticated")
      for command in ["login", "logout"] {
        let refused = try sandbox.command(command, "-p", "maps")
        #expect(refused.code != 0 && refused.errors.contains("secret"), "\(command): \(refused.errors)")
      }
      let refused = try wire.answer("getAccessToken", #"{"profile":"maps","scopes":["a"]}"#).required("error")
      #expect(try refused.required("data").required("kind").string() == "insufficientScope")
    }
  }

  @Test func `a changed secret is the new token after a reload, and is told`() async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.owner(sandbox)
      let (wire, events) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      let first = try wire.call("getAccessToken", #"{"profile":"maps"}"#).required("tokenId").string()
      _ = try events.call("subscribe", #"{"events":["tokenRefreshed"]}"#)
      try Directory.write(Self.other + "\n", to: sandbox.root + "/key")
      #expect(try wire.call("getAccessToken", #"{"profile":"maps"}"#).required("tokenId").string() == first)
      #expect(try sandbox.command("reload").code == 0)
      let second = try wire.call("getAccessToken", #"{"profile":"maps"}"#)
      #expect(try second.required("accessToken").string() == Self.other)
      let event = try events.nextNode().required("params")
      #expect(try event.required("event").string() == "tokenRefreshed")
      #expect(try event.required("data").required("tokenId").string() == second.required("tokenId").string())
    }
  }

  @Test func `a refused secret has its source asked once: the same one is an error, another one the new token`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let (program, count) = (sandbox.root + "/give", sandbox.root + "/count")
      try Directory.write(
        "#!/bin/sh\necho x >>'\(count)'\ncat '\(sandbox.root)/key'\n", to: program)
      #expect(chmod(program, 0o700) == 0)
      try Directory.write(Self.key + "\n", to: sandbox.root + "/key")
      _ = try sandbox.owner(
        try sandbox.configure(#"{ profiles: { maps: { provider: "static", secret: { command: ["\#(program)"] } } } }"#))
      func runs() throws -> Int { try Directory.bytes(of: count).count / 2 }
      let wire = try SocketWire(sandbox.socket)
      let id = try wire.call("getAccessToken").required("tokenId").string()
      for _ in 0..<5 {
        let error = try wire.answer("reportRejected", #"{"tokenId":"\#(id)"}"#).required("error")
        let data = try error.required("data")
        #expect(try data.required("kind").string() == "missingCredential")
        #expect(try data.required("nextAction").string() == "fixConfig")
        #expect(try !error.required("message").string().contains(Self.key))
      }
      #expect(try runs() == 2, "once for the token, and once for the reports")
      #expect(try wire.call("getAccessToken").required("tokenId").string() == id, "a report takes nothing from others")
      try Directory.write(Self.other + "\n", to: sandbox.root + "/key")
      #expect(try sandbox.command("reload").code == 0)
      let next = try wire.call("reportRejected", #"{"tokenId":"\#(id)"}"#)
      #expect(try next.required("accessToken").string() == Self.other)
      let challenge = #"Bearer error=\"insufficient_scope\", scope=\"admin\""#
      let current = try next.required("tokenId").string()
      let error = try wire.answer(
        "reportRejected", #"{"tokenId":"\#(current)","status":403,"challenge":"\#(challenge)"}"#
      ).required("error")
      #expect(try error.required("data").required("kind").string() == "insufficientScope")
      #expect(try error.required("data").required("nextAction").string() == "fixConfig")
    }
  }

  /// What a source gives, and the end of the error's sentence.
  private static let flaws: [(source: String, reason: String)] = [
    ("printf ''", "it printed nothing"), (#"printf ' \nx\n'"#, "it is empty"),
    (#"printf 'a\r\tb\n'"#, "its first line has a control character"),
    (#"printf 'a\033[2J\n'"#, "its first line has a control character"), (#"printf '\303\244\n'"#, "is not ASCII"),
    ("head -c 200000 /dev/zero | tr '\\\\0' x", "more than"), ("echo made-up-secret-on-stderr >&2; exit 3", "3"),
  ]

  @Test(arguments: flaws.indices)
  func `what no header can carry is refused by the name of its place`(index: Int) async throws {
    try await Sandbox.run { sandbox in
      let (source, reason) = Self.flaws[index]
      let text =
        #"{ profiles: { maps: { provider: "static", secret: { command: ["sh", "-c", "\#(source.replacingBackslashes)"] } } } }"#
      _ = try sandbox.owner(try sandbox.configure(text))
      let error = try SocketWire(sandbox.socket).answer("getAccessToken", "{}").required("error")
      let message = try error.required("message").string()
      #expect(message.hasPrefix("secret of the command sh cannot be used: ") && message.contains(reason), "\(message)")
      #expect(try error.required("data").required("kind").string() == "missingCredential")
      #expect(!message.contains("made-up"))
    }
  }

  @Test func `rules, audit and doctor treat it as any token`() async throws {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/use/use.sock"
      mkdir(sandbox.root + "/use", 0o700)
      _ = try Self.owner(
        sandbox,
        #", access: { audit: true, rules: [{ client: { socket: "use" }, profiles: ["maps"], may: "use" }, { client: {} }] }"#
          + #", sockets: { use: { path: "\#(path)", profiles: ["maps"], may: "use" } }"#)
      let limited = try SocketWire(path)
      let refused = try limited.answer("getAccessToken", #"{"profile":"maps"}"#).required("error").required("data")
      #expect(try refused.required("kind").string() == "accessDenied")
      #expect(
        try limited.answer("getAccessToken", #"{"profile":"code"}"#).required("error").required("data")
          .required("kind").string() == "unknownProfile")
      #expect(try sandbox.command("token", "-p", "code").output == Self.key + "\n")
      let audit = try sandbox.command("audit", "--json")
      #expect(
        audit.code == 0 && audit.output.contains("getAccessToken") && !audit.output.contains(Self.key),
        "\(audit.errors)")
      for arguments in [["status"], ["doctor"], ["config", "check"], ["provider-check", "maps"], ["sessions"]] {
        let done = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + arguments)
        #expect(!done.output.contains(Self.key) && !done.errors.contains(Self.key), "\(arguments)")
        #expect(
          !(done.output + done.errors).contains("authbroker login"), "\(arguments): \(done.output) \(done.errors)")
      }
    }
  }

  @Test func `a source that hangs holds up its own profile alone, and a caller no longer than it waits`() async throws {
    try await Sandbox.run { sandbox in
      let program = sandbox.root + "/hangs"
      try Directory.write("#!/bin/sh\n: >'\(sandbox.root)/begun'\nexec sleep 60\n", to: program)
      #expect(chmod(program, 0o700) == 0)
      try Directory.write(Self.key + "\n", to: sandbox.root + "/key")
      #expect(chmod(sandbox.root + "/key", 0o600) == 0)
      _ = try sandbox.owner(
        try sandbox.configure(
          """
          { profiles: { hung: { provider: "static", secret: { command: ["\(program)"] } },
                        file: { provider: "static", secret: { file: "\(sandbox.root)/key" } } } }
          """))
      let (hung, other) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      let late = try hung.answer("getAccessToken", #"{"profile":"hung","timeoutSeconds":0.1}"#).required("error")
      #expect(try late.required("data").required("kind").string() == "deadlineExceeded")
      #expect(Patience.wait { Directory.names(in: sandbox.root).contains("begun") })
      #expect(try other.call("getAccessToken", #"{"profile":"file"}"#).required("accessToken").string() == Self.key)
      #expect(try sandbox.command("stop").code == 0)
    }
  }

  @Test func `a client that may only use it reports it, and learns nothing of it`() async throws {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/use/use.sock"
      mkdir(sandbox.root + "/use", 0o700)
      _ = try Self.owner(sandbox, #", sockets: { use: { path: "\#(path)", profiles: ["maps"], may: "use" } }"#)
      let id = try SocketWire(sandbox.socket).call("getAccessToken", #"{"profile":"maps"}"#).required("tokenId")
        .string()
      let limited = try SocketWire(path)
      try Directory.write(Self.other + "\n", to: sandbox.root + "/key")
      let answer = try limited.answer("reportRejected", #"{"profile":"maps","tokenId":"\#(id)"}"#)
      #expect(try answer.required("result").members().isEmpty)
      #expect(try sandbox.command("token", "-p", "maps").output == Self.other + "\n")
    }
  }

  @Test func `a rule can have its owner asked first`() async throws {
    try await Sandbox.run { sandbox in
      _ = try Self.owner(sandbox, ", access: { rules: [{ client: {}, confirm: \"once\" }] }")
      let token = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "token", "-p", "maps"], input: .nothing)
      #expect(
        Patience.wait { (try? sandbox.command("consent", "list", "--json").output.contains("\"maps\"")) == true })
      #expect(try sandbox.command("consent", "allow").code == 0)
      #expect(String(decoding: try token.output.readToEnd(), as: UTF8.self) == Self.key + "\n")
      #expect(try token.wait() == 0)
    }
  }

  /// Whether a text is in any file of the state directory.
  private static func isOnDisk(_ text: String, _ sandbox: Sandbox) -> Bool {
    let done = try? sandbox.run("/bin/grep", ["-r", "-l", "-a", "-F", text, sandbox.state])
    return done?.code != 1
  }
}

extension String {
  /// For a string of the configuration.
  fileprivate var replacingBackslashes: String {
    split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
  }
}
