import JSON
import LinuxSystem
import TestSupport
import Testing

/// Requests that are queued, at an API that does each thing once for its Idempotency-Key, and tells what it has done.
@Suite(.standardTimeLimit) struct QueueTests {
  private typealias Stage = QueueStage

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
      try stage.logIn(QueueStage.ada, wire)
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("key", "ada", wire)
      let events = try SocketWire(sandbox.socket)
      _ = try events.call("subscribe", #"{"events":["queuePaused"]}"#)
      _ = try wire.call("logout")
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      try stage.logIn(QueueStage.bob, wire)
      let paused = try events.nextNode().required("params").required("data")
      #expect(["otherUser", "loginRequired"].contains(try paused.required("reason").string()))
      #expect(try Patience.wait { try stage.states(wire) == ["queued otherUser"] })
      #expect(try stage.effects().isEmpty)
      _ = try wire.call("logout")
      try stage.logIn(QueueStage.ada, wire)
      #expect(try Patience.wait { try stage.states(wire) == ["completed"] })
      #expect(try stage.effects() == ["ada"])
    }
  }

  @Test func `where nobody is named, what was queued is sent in no other login`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, mapping: #"reply: { user: "absent" }"#)
      let (_, wire) = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("key", "ada", wire)
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      _ = try wire.call("logout")
      try stage.logIn(QueueStage.bob, wire)
      #expect(try Patience.wait { try stage.states(wire) == ["queued otherUser"] })
      _ = try stage.queue("bob", "bob", wire)
      let id = try wire.call("listRequests").required("requests").elements()[0].required("requestId").string()
      _ = try wire.call("cancelRequest", #"{"requestId":"\#(id)"}"#)
      #expect(try Patience.wait { try stage.effects() == ["bob"] })
    }
  }

  @Test func `a logout drops what its own user has queued, and nothing of another's`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, queue: #"onLogout: "drop""#)
      let (_, wire) = try stage.start()
      _ = try stage.queue("key", "ada", wire, path: "/status/401")
      #expect(try Patience.wait { try stage.states(wire) == ["queued unauthorized"] })
      // The session ends by itself.
      _ = try stage.api.ask("/revoke", #"{"email":"ada@example.com"}"#)
      _ = try stage.api.ask("/expire-access", "{}")
      #expect(try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) == "sessionExpired")
      try stage.logIn(QueueStage.bob, wire)
      _ = try stage.queue("bob", "bob", wire)
      #expect(try stage.states(wire).count == 2)
      _ = try wire.call("logout")
      #expect(try Patience.wait { try stage.states(wire).count == 1 })
      let left = try wire.call("listRequests").required("requests").elements()[0]
      #expect(try left.required("idempotencyKey").string() == "key")
      // Who logs out without a session takes nothing along.
      _ = try wire.call("logout")
      try stage.logIn(QueueStage.ada, wire)
      #expect(try Patience.wait { try stage.states(wire) == ["queued unauthorized"] })
    }
  }

  @Test func `what no rule allows any more has failed, also where the rules went before a start`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let (owner, wire) = try stage.start()
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.queue("key", "ada", wire)
      sandbox.bury(owner)
      _ = try stage.api.ask("/listen", #"{"open":true}"#)
      let bare = try sandbox.configure(#"{ profiles: { shop: { provider: "rest", baseUrl: "\#(stage.api.url)" } } }"#)
      _ = try sandbox.owner(bare)
      let again = try SocketWire(sandbox.socket)
      #expect(try Patience.wait { try stage.states(again) == ["failed accessDenied"] })
      #expect(try stage.effects().isEmpty)
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
      try stage.logIn(QueueStage.ada, again)
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
