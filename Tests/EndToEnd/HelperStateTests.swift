import BrokerProtocol
import JSON
import LinuxSystem
import TestSupport
import Testing
import TextCoding

/// What each tool gets from its helper, and what its user sees, in each state of the session.
@Suite(.standardTimeLimit) struct HelperStateTests {
  /// A state of the session that the target's token comes from.
  enum State: CaseIterable {
    case fresh, expired, refused, loggedOut, noBroker, otherUser
  }

  /// A helper as its tool calls it.
  struct Tool: CustomStringConvertible {
    let description: String
    let words: [String]
    var input = ""
    var environment: [String: String] = [:]
    /// What stands before the token, and behind it.
    let form: (lead: String, end: String)
    /// What the tool does where its token was refused; nothing where no tool says that to its helper.
    var signal: Signal?
    /// Without a session: the exit code, and how standard output begins; the login is named beside it.
    let loggedOut: (code: Int32, output: String)
    /// Without a broker.
    let noBroker: (code: Int32, output: String)
    /// Where the target is for another user alone: the exit code, standard output, and a part of standard error.
    let otherUser: (code: Int32, output: String, errors: String)

    func token(in output: String) -> String? {
      guard let start = output.firstRange(of: form.lead)?.upperBound else { return nil }
      return output[start...].firstRange(of: form.end).map { String(output[start..<$0.lowerBound]) }
    }
  }

  /// A call by which a helper learns that a token was refused.
  struct Signal {
    let words: [String]
    /// The input, in which `TOKEN` stands for the refused one.
    var input = ""
    var environment: [String: String] = [:]
    /// What its user reads then.
    var errors = ""
    /// Whether it has the other token already.
    var isAnswered = false
  }

  private static let server = "a.example"
  private static let missing = "is not a configured target"
  private static let replaced = "the token of the profile default for https://a.example was replaced"
  private static let cluster = [
    "KUBERNETES_EXEC_INFO": #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
      + #""spec":{"cluster":{"server":"https://a.example"}}}"#
  ]
  private static let google = [
    "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:jwt",
    "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE": "//a.example/pool",
  ]

  private static func cargo(_ kind: String) -> String {
    #"{"v":1,"kind":"\#(kind)","operation":"read","registry":{"index-url":"sparse+https://a.example/"}}"# + "\n"
  }

  private static let git = "protocol=https\nhost=a.example\nusername=bob\n"
  private static let newGit = "capability[]=authtype\ncapability[]=state\n" + git

  static let tools: [Tool] = [
    Tool(
      description: "git", words: ["git", "get"], input: git, form: ("password=", "\n"),
      signal: Signal(
        words: ["git", "erase"], input: git + "password=TOKEN\n",
        errors: "https://a.example refused the token of the profile default; it was replaced: run git again"),
      loggedOut: (3, "quit=1\n"), noBroker: (8, "quit=1\n"), otherUser: (0, "", "")),
    Tool(
      description: "git 2.46", words: ["git", "get"], input: newGit, form: ("password=", "\n"),
      signal: Signal(words: ["git", "get"], input: newGit + "state[]=authbroker:ID\n", isAnswered: true),
      loggedOut: (3, "quit=1\n"), noBroker: (8, "quit=1\n"), otherUser: (0, "", "")),
    Tool(
      description: "docker", words: ["docker", "get"], input: server, form: (#""Secret":""#, #"""#),
      signal: Signal(
        words: ["docker", "erase"], input: server, errors: replaced + "; the session goes on; end it with"),
      loggedOut: (1, "the profile"), noBroker: (1, "no broker"),
      otherUser: (1, "credentials not found in native keychain\n", "")),
    Tool(
      description: "docker login", words: ["docker", "get"], input: server, form: (#""Secret":""#, #"""#),
      signal: Signal(
        words: ["docker", "store"], input: #"{"ServerURL":"a.example","Username":"bob","Secret":"typed"}"#,
        errors: "no password was stored; " + replaced),
      loggedOut: (1, "the profile"), noBroker: (1, "no broker"),
      otherUser: (1, "credentials not found in native keychain\n", "")),
    Tool(
      description: "kubectl", words: ["kubectl"], environment: cluster, form: (#""token":""#, #"""#),
      signal: Signal(words: ["kubectl"], environment: cluster, isAnswered: true),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (1, "", missing)),
    Tool(
      description: "cargo", words: ["cargo", "--cargo-plugin"], input: cargo("get"), form: (#""Bearer "#, #"""#),
      signal: Signal(words: ["cargo", "--cargo-plugin"], input: cargo("login"), errors: replaced),
      loggedOut: (0, #"{"v":[1]}"# + "\n" + #"{"Err":{"kind":"other","message":"the profile"#),
      noBroker: (0, #"{"v":[1]}"# + "\n" + #"{"Err":{"kind":"other","message":"no broker"#),
      otherUser: (0, #"{"v":[1]}"# + "\n" + #"{"Err":{"kind":"url-not-supported"}}"# + "\n", "")),
    Tool(
      description: "keyring", words: ["keyring", "get", "https://a.example/simple", "bob"], form: ("", "\n"),
      loggedOut: (1, ""), noBroker: (1, ""), otherUser: (1, "", "")),
    Tool(
      description: "curl", words: ["curl", "https://bob@a.example/me"], form: (#"oauth2-bearer = ""#, #"""#),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (1, "", missing)),
    Tool(
      description: "go", words: ["go", "https://a.example/mod"], form: ("Authorization: Bearer ", "\n"),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (0, "", "")),
    Tool(
      description: "bazel", words: ["bazel", "get"], input: #"{"uri":"https://a.example/x"}"#,
      form: (#"["Bearer "#, #"""#),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (0, "{}\n", "")),
    Tool(
      description: "terraform", words: ["terraform", "get", server], form: (#""token":""#, #"""#),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (0, "{}\n", "")),
    Tool(
      description: "google", words: ["google"], environment: google, form: (#""id_token":""#, #"""#),
      loggedOut: (0, #"{"version":1,"success":false,"code":"loginRequired","message":"the profile"#),
      noBroker: (0, #"{"version":1,"success":false,"code":"brokerUnreachable","message":"no broker"#),
      otherUser: (0, #"{"version":1,"success":false,"code":"unknownTarget","message":"https://a.example"#, "")),
    Tool(
      description: "sasl", words: ["sasl", "imaps://a.example", "bob"], form: ("", "\n"),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (1, "", missing)),
    Tool(
      description: "aws",
      words: [
        "aws", "--role-arn", "arn:aws:iam::123456789012:role/dev", "--access", "--sts-url", "https://a.example",
      ],
      form: (#""SessionToken":""#, #"""#),
      loggedOut: (3, ""), noBroker: (8, ""), otherUser: (1, "", missing)),
  ]

  /// A broker in one of the states.
  private struct Stage {
    let sandbox: Sandbox
    let state: State
    /// The token that every tool has from before.
    var old = ""

    init(_ sandbox: Sandbox, _ state: State) throws {
      (self.sandbox, self.state) = (sandbox, state)
      let user = state == .otherUser ? "ann@" : ""
      let targets = ["https", "imaps"].map { #""\#($0)://\#(user)\#(server)": "default""# }.joined(separator: ", ")
      let lifetime = state == .expired ? "local: { accessTokenLifetimeSeconds: 3 }," : ""
      let options = try sandbox.configure(
        #"{ profiles: { default: { provider: "local" } }, \#(lifetime) targets: { \#(targets) } }"#)
      _ = try sandbox.owner(options)
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      old = try wire.accessToken()
      if state == .expired {
        let token = old
        let isOver = try Patience.wait { try !isGood(token) }
        guard isOver else { throw TestFailure("the token does not expire") }
      }
      if state == .loggedOut { _ = try sandbox.command("logout") }
      // That of AWS asks for a token once it has found curl, which is not everywhere; it is not run here.
      let words = "mkdir '\(sandbox.root)/bin' && ln -s /bin/false '\(sandbox.root)/bin/curl'"
      guard try sandbox.run("/bin/sh", ["-c", words]).code == 0 else { throw TestFailure("there is no curl") }
      sandbox.environment["PATH"] = "\(sandbox.root)/bin:\(Environment.current["PATH"] ?? "/usr/bin:/bin")"
      if state == .noBroker { sandbox.environment["AUTHBROKER_SOCKET"] = sandbox.root + "/none" }
    }

    private func isGood(_ token: String) throws -> Bool {
      let said = try sandbox.command("local", "introspect", "--token-stdin", "--json", input: token + "\n")
      return try JSONDocument(parsing: Array(said.output.utf8)).root["active"]?.bool() == true
    }

    func run(_ words: [String], _ input: String, _ environment: [String: String]) throws -> Sandbox.Outcome {
      try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state, "helper"] + words, input: input, environment: environment)
    }

    func run(_ tool: Tool) throws -> Sandbox.Outcome { try run(tool.words, tool.input, tool.environment) }
  }

  @Test(arguments: State.allCases)
  func `every tool gets its token, or its own form of none, and its user reads what to do`(state: State) async throws {
    try await Sandbox.run { sandbox in
      var stage = try Stage(sandbox, state)
      for tool in Self.tools where tool.description != "aws" || [.loggedOut, .noBroker, .otherUser].contains(state) {
        switch state {
        case .fresh, .expired: try Self.checkToken(tool, stage)
        case .refused: stage.old = try Self.checkHealing(tool, stage)
        case .loggedOut:
          let run = try stage.run(tool)
          #expect(run.code == tool.loggedOut.code && run.output.hasPrefix(tool.loggedOut.output), "\(tool): \(run)")
          #expect((run.output + run.errors).contains("log in with: authbroker --state "), "\(tool): \(run)")
        case .noBroker:
          let run = try stage.run(tool)
          #expect(run.code == tool.noBroker.code && run.output.hasPrefix(tool.noBroker.output), "\(tool): \(run)")
          #expect((run.output + run.errors).contains("no broker"), "\(tool): \(run)")
        case .otherUser:
          let run = try stage.run(tool)
          #expect(run.code == tool.otherUser.code && run.output.hasPrefix(tool.otherUser.output), "\(tool): \(run)")
          #expect(run.output.isEmpty == tool.otherUser.output.isEmpty, "\(tool): \(run)")
          let said = tool.otherUser.errors
          #expect(said.isEmpty ? run.errors.isEmpty : run.errors.contains(said), "\(tool): \(run)")
        }
      }
    }
  }

  @Test func `a tool that reports without an end meets the breaker, and its user reads that`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, .refused)
      let runs = try (0...20).map { _ in try stage.run(["docker", "erase"], Self.server, [:]) }
      #expect(runs.prefix(20).allSatisfy { $0.code == 0 } && runs.last?.code == 1)
      #expect(runs.last?.errors.contains("refreshed too often within a minute; wait") == true, "\(runs)")
      #expect(try SocketWire(sandbox.socket).call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test(arguments: [(900, ["cargo", "docker", "docker login"]), (1, ["cargo", "docker login"])])
  func `a refused token costs one refresh, also where it has expired`(lifetime: Int, tools: [String]) async throws {
    try await Sandbox.run { sandbox in
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      let backend = try RESTBackend(sandbox, account: account, ["--set", "accessTokenLifetimeSeconds=\(lifetime)"])
      let profile = #"{ provider: "rest", baseUrl: "\#(backend.url)", backgroundRefresh: false }"#
      let targets = #"{ "https://\#(Self.server)": "default" }"#
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { default: \(profile) }, targets: \(targets) }"))
      let wire = try SocketWire(sandbox.socket)
      _ = try wire.call("login", account)
      var refreshes = 0
      for tool in Self.tools where tools.contains(tool.description) {
        let signal = try #require(tool.signal)
        let expiry = try Timestamp(from: try wire.call("getSession").required("accessTokenExpiresAt"))
        if lifetime == 1 { #expect(Patience.wait { WallClock.milliseconds > expiry.milliseconds }) }
        let run = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state, "helper"] + signal.words, input: signal.input)
        #expect(run.code == 0 && run.errors.contains(signal.errors), "\(tool): \(run)")
        refreshes += 1
        #expect(try backend.refreshes().count == refreshes, "\(tool)")
      }
    }
  }

  /// The token, and not a word beside it.
  private static func checkToken(_ tool: Tool, _ stage: Stage) throws {
    let run = try stage.run(tool)
    let token = tool.token(in: run.output)
    #expect(run.code == 0 && run.errors.isEmpty && token?.isEmpty == false, "\(tool): \(run)")
    switch (stage.state, tool.description) {
    case (.fresh, "sasl"):
      #expect(token == Self.sasl(stage.old), "\(tool)")
    case (.fresh, _): #expect(token == stage.old, "\(tool)")
    default: #expect(token != stage.old && token != Self.sasl(stage.old), "\(tool)")
    }
  }

  private static func sasl(_ token: String) -> String {
    var line: [UInt8] = []
    Base64.append(Array("user=bob\u{1}auth=Bearer \(token)\u{1}\u{1}".utf8).span, as: .padded, to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  /// Another token where the tool says that the server has refused the one it had; the token of now.
  private static func checkHealing(_ tool: Tool, _ stage: Stage) throws -> String {
    let first = try stage.run(tool)
    let wire = try SocketWire(stage.sandbox.socket)
    let old = try wire.call("getAccessToken")
    let (token, id) = (try old.required("accessToken").string(), try old.required("tokenId").string())
    guard let signal = tool.signal else {
      let second = try stage.run(tool)
      #expect(second.output == first.output && second.errors.isEmpty, "\(tool): it cannot know")
      #expect(try stage.sandbox.command("token", "--force-refresh").code == 0)
      #expect(try stage.run(tool).output != first.output, "\(tool): a person can")
      return try wire.accessToken()
    }
    let input = signal.input.replacing("TOKEN", with: token).replacing("ID", with: id)
    let said = try stage.run(signal.words, input, signal.environment)
    #expect(said.code == 0, "\(tool): \(said)")
    #expect(signal.errors.isEmpty ? said.errors.isEmpty : said.errors.contains(signal.errors), "\(tool): \(said)")
    let now = try wire.accessToken()
    #expect(now != token, "\(tool)")
    if signal.isAnswered { #expect(tool.token(in: said.output) == now, "\(tool): \(said)") }
    if tool.description != "kubectl" {
      #expect(tool.token(in: try stage.run(tool).output) == now, "\(tool)")
    }
    return now
  }
}
