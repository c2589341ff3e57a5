import JSON
import LinuxSystem
import TestSupport
import Testing

/// Requests that are queued, at an API that does each thing once for its Idempotency-Key, and tells what it has done.
@Suite(.standardTimeLimit) struct QueueTests {
  private static let ada = #"{"email":"ada@example.com","password":"example password 1"}"#
  private static let bob = #"{"email":"bob@example.com","password":"example password 2"}"#

  /// A broker whose profile `shop` may be used for requests to the API, with a session of Ada's.
  private struct Stage {
    let sandbox: Sandbox
    let api: RESTBackend
    let configuration: [String]

    init(_ sandbox: Sandbox, queue: String = "", others: String = "", isLoggedIn: Bool = true) throws {
      self.sandbox = sandbox
      api = try RESTBackend(sandbox, account: ada, ["--account", bob])
      let rules = #"allow: [{ origin: "\#(api.url)", methods: ["POST", "PUT"] }]"#
      let profile = #"{ provider: "rest", baseUrl: "\#(api.url)", requests: { \#(rules), queue: { \#(queue) } } }"#
      configuration = try sandbox.configure("{ profiles: { shop: \(profile) }, \(others) }")
      guard isLoggedIn else { return }
      let owner = try sandbox.owner(configuration)
      try logIn(ada, try SocketWire(sandbox.socket))
      try owner.send(.terminate)
      try owner.wait()
    }

    func logIn(_ account: String, _ wire: SocketWire) throws { _ = try wire.call("login", account) }

    func start() throws -> (Program, SocketWire) {
      (try sandbox.owner(configuration), try SocketWire(sandbox.socket))
    }

    func queue(_ key: String, _ body: String, _ wire: SocketWire, path: String = "/effect") throws -> String {
      try wire.call("queueRequest", params(key, body, path)).required("requestId").string()
    }

    func params(_ key: String, _ body: String, _ path: String = "/effect") -> String {
      #"{"method":"POST","url":"/service\#(path)","body":"\#(body)","idempotencyKey":"\#(key)"}"#
    }

    /// The states in the order of the list, as `state` or `state reason`.
    func states(_ wire: SocketWire) throws -> [String] {
      try wire.call("listRequests").required("requests").elements().map { request in
        let more = try request["reason"]?.string() ?? request["kind"]?.string()
        return try request.required("state").string() + (more.map { " \($0)" } ?? "")
      }
    }

    func awaitEnd(_ wire: SocketWire) throws {
      let isOver = try Patience.wait { try states(wire).allSatisfy { $0.hasPrefix("completed") } }
      let last = try states(wire)
      try #require(isOver, "\(last)")
    }

    /// What the API has done, in order, each once.
    func effects() throws -> [String] {
      try api.ask("/ledger?event=effect").required("entries").elements().filter {
        try !$0.required("replayed").bool()
      }.map { try $0.required("body").string() }
    }
  }

  @Test func `changes that were queued while the API was away are made once, in their order, after kills`() async throws
  {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      var names: [String] = []
      for round in 1...3 {
        let (owner, wire) = try stage.start()
        for number in 1...5 {
          names.append("\(round)-\(number)")
          let id = try stage.queue("key-\(names.count)", names[names.count - 1], wire)
          #expect(try stage.queue("key-\(names.count)", names[names.count - 1], wire) == id)
        }
        // What is answered is durable: nothing is said to the process before its end.
        sandbox.bury(owner)
      }
      // Answers are lost, and the broker is killed once the API has done something.
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      for count in [2, 7, 11] {
        let lost = #"{"endpoint":"api","name":"drop-after-commit","times":2}"#
        _ = try stage.api.ask("/misbehave", lost)
        let (owner, _) = try stage.start()
        #expect(try Patience.wait { try stage.effects().count >= count })
        sandbox.bury(owner)
      }
      let (_, wire) = try stage.start()
      try stage.awaitEnd(wire)
      #expect(try stage.effects() == names)
      #expect(try wire.call("listRequests").required("requests").elements().count == 15)
    }
  }

  @Test(arguments: [
    #""name":"drop-after-commit""#, #""name":"drop-before-commit""#, #""name":"reset-after-commit""#,
    #""name":"status","status":500"#, #""name":"status","status":500,"commit":true"#, #""name":"status","status":503"#,
    #""name":"status","status":429,"headers":{"Retry-After":"1"}"#, #""name":"status","status":409"#,
  ]) func `whatever becomes of an answer, a change is made once`(_ fault: String) async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let (_, wire) = try stage.start()
      _ = try wire.call("subscribe", #"{"events":["requestCompleted"]}"#)
      _ = try stage.api.ask("/misbehave", #"{"endpoint":"api",\#(fault),"times":2}"#)
      let id = try stage.queue("key", "once", wire)
      let event = try wire.nextNode().required("params")
      #expect(try event.required("event").string() == "requestCompleted")
      #expect(try event.required("data").required("requestId").string() == id)
      #expect(try event.required("data").required("status").integer() == 201)
      #expect(try stage.effects() == ["once"])
      let got = try wire.call("getRequest", #"{"requestId":"\#(id)"}"#)
      let body = try got.required("answer").required("body").string()
      #expect(try JSONDocument(parsing: Array(body.utf8)).root.required("effect").integer() == 1)
      #expect(try got.required("request").required("state").string() == "completed")
    }
  }

  @Test func `what a user has queued is sent in no other user's session`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, isLoggedIn: false)
      let (_, wire) = try stage.start()
      #expect(try wire.refusal("queueRequest", stage.params("key", "early")) == "loginRequired")
      try stage.logIn(Self.ada, wire)
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("key", "ada", wire)
      let events = try SocketWire(sandbox.socket)
      _ = try events.call("subscribe", #"{"events":["queuePaused"]}"#)
      _ = try wire.call("logout")
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      try stage.logIn(Self.bob, wire)
      let paused = try events.nextNode().required("params").required("data")
      #expect(["otherUser", "loginRequired"].contains(try paused.required("reason").string()))
      #expect(try Patience.wait { try stage.states(wire) == ["queued otherUser"] })
      #expect(try stage.effects().isEmpty)
      _ = try wire.call("logout")
      try stage.logIn(Self.ada, wire)
      #expect(try Patience.wait { try stage.states(wire) == ["completed"] })
      #expect(try stage.effects() == ["ada"])
    }
  }

  @Test func `a logout drops what waits where the profile says so, also for the next start`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, queue: #"onLogout: "drop""#)
      let (owner, wire) = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("key", "ada", wire)
      _ = try wire.call("logout")
      sandbox.bury(owner)
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      let (_, again) = try stage.start()
      let rest = try stage.states(again)
      #expect(rest.isEmpty, "\(rest)")
      try stage.logIn(Self.ada, again)
      _ = try stage.queue("key", "new", again)
      try stage.awaitEnd(again)
      #expect(try stage.effects() == ["new"])
    }
  }

  @Test func `a token that the API refuses is replaced, and where that does not help the line waits`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let (_, wire) = try stage.start()
      _ = try wire.call("getAccessToken")
      _ = try stage.api.ask("/expire-access", "{}")
      _ = try stage.queue("one", "one", wire)
      try stage.awaitEnd(wire)
      #expect(try stage.api.refreshes().last == "rotated")
      _ = try stage.queue("two", "two", wire, path: "/status/401")
      #expect(try Patience.wait { try stage.states(wire).first == "queued unauthorized" })
      let id = try wire.call("listRequests").required("requests").elements()[0].required("requestId").string()
      let cancelled = try wire.call("cancelRequest", #"{"requestId":"\#(id)"}"#).required("request")
      #expect(try cancelled.required("kind").string() == "cancelled")
      // Other refusals are answers, and the line goes on.
      for status in [403, 404, 422] { _ = try stage.queue("s\(status)", "x", wire, path: "/status/\(status)") }
      _ = try stage.queue("three", "three", wire)
      #expect(try Patience.wait { try stage.effects() == ["one", "three"] })
    }
  }

  @Test func `what cannot be queued is refused, and says why`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, queue: "maxEntries: 2")
      let (_, wire) = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("one", "a", wire)
      func pointer(_ params: String) throws -> String {
        try wire.answer("queueRequest", params).required("error").required("data").required("pointer").string()
      }
      #expect(try pointer(stage.params("one", "b")) == "/idempotencyKey")
      #expect(try pointer(stage.params("", "b")) == "/idempotencyKey")
      #expect(try pointer(stage.params("a b", "b")) == "/idempotencyKey")
      #expect(
        try pointer(#"{"method":"POST","url":"/x","headers":{"idempotency-key":"x"},"idempotencyKey":"k"}"#)
          == "/headers/Idempotency-Key")
      #expect(try wire.refusal("queueRequest", #"{"method":"GET","url":"/x","idempotencyKey":"k"}"#) == "accessDenied")
      #expect(try wire.refusal("getRequest", #"{"requestId":"r"}"#) == "invalidParams")
      _ = try stage.queue("two", "a", wire)
      #expect(try wire.refusal("queueRequest", stage.params("three", "a")) == "overloaded")
      // The same one is not one more.
      _ = try stage.queue("one", "a", wire)
    }
  }

  @Test func `a client of a limited socket knows of its own requests alone`() async throws {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/use.sock"
      let others = #"sockets: { agent: { profiles: ["shop"], may: "use", path: "\#(path)" } }"#
      let stage = try Stage(sandbox, others: others)
      let (_, wire) = try stage.start()
      let agent = try SocketWire(path)
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      let own = try stage.queue("key", "owner", wire)
      let theirs = try stage.queue("other", "agent", agent)
      #expect(try stage.states(agent) == ["queued line"] && stage.states(wire).count == 2)
      #expect(try agent.refusal("cancelRequest", #"{"requestId":"\#(own)"}"#) == "invalidParams")
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      #expect(try Patience.wait { try stage.effects() == ["owner", "agent"] })
      #expect(try agent.call("getRequest", #"{"requestId":"\#(theirs)"}"#).required("request").kind == .object)
    }
  }

  @Test func `nothing of a request rests in the clear, and other keys keep it`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let (owner, wire) = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      let long = String(repeating: "markedbody", count: 50_000)
      let id = try stage.queue("markedkey", long, wire)
      try wire.prove()
      _ = try wire.call("rekey")
      _ = try wire.call("lock")
      #expect(try wire.refusal("getRequest", #"{"requestId":"\#(id)"}"#) == "vaultLocked")
      _ = try wire.call("unlock")
      sandbox.bury(owner)
      for name in Directory.names(in: sandbox.state) {
        guard let bytes = try? FileDescriptor.open(sandbox.state + "/" + name, .read).contents(limit: 1 << 26) else {
          continue
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("markedbody") && !text.contains("markedkey"), "\(name)")
      }
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      let (_, again) = try stage.start()
      try stage.awaitEnd(again)
      #expect(try stage.effects() == [long])
    }
  }

  @Test func `the command queues a request, shows and cancels it`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      let queued = try sandbox.command("request", "--queue", "key-1", "-d", "{}", "/service/effect")
      let id = String(queued.output.dropLast())
      #expect(queued.code == 0 && id.utf8.count == 12, "\(queued)")
      let list = try sandbox.command("queue", "list")
      #expect(list.output.contains(id) && list.output.contains("POST") && list.output.contains("key-1"))
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      #expect(try Patience.wait { try sandbox.command("queue", "show", id).output.contains("effect") })
      let unknown = try sandbox.command("queue", "cancel", "none")
      #expect(unknown.code == 2 && unknown.errors.contains("no request has the id none"), "\(unknown)")
    }
  }
}
