import JSON
import LinuxSystem
import TestSupport
import Testing

/// Doors: what passes them, what does not, and when they end.
@Suite(.standardTimeLimit) struct DoorTests {
  @Test(arguments: [#","port":0"#, ""])
  func `a request gets the token, and its client never sees it`(_ place: String) async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, place)
      let token = try stage.wire.accessToken()
      let answer = try stage.ask("POST", "/service/echo/a?b=c", stage.slot + "X-A: b\r\n", body: "hello")
      #expect(answer.status == 200 && !answer.head.contains(token), "\(answer.head)")
      #expect(answer.head.contains("x-token: [token]") && !answer.head.contains("set-cookie"))
      let seen = try JSONDocument(parsing: Array(answer.body.utf8)).root
      #expect(try seen.required("token").string() == token && seen.required("body").string() == "hello")
      #expect(try seen.required("path").string() == "/service/echo/a" && seen.required("query").string() == "b=c")
      let fields = try seen.required("headers")
      #expect(try fields.required("x-a").string() == "b")
      #expect(try fields.required("host").string() == String(stage.api.url.dropFirst("http://".count)))
      #expect(!String(decoding: fields.text, as: UTF8.self).contains(stage.placeholder))
      // Basic credentials hold it as well, as those of git and pip.
      let pair = Self.base64("x:" + stage.placeholder)
      #expect(try stage.ask("GET", "/service/echo", "Authorization: Basic \(pair)\r\n").status == 200)
      #expect(try stage.ask("GET", "/service/echo", "authorization: token \(stage.placeholder)\r\n").status == 200)
    }
  }

  /// A text as base64 (RFC 4648, section 4).
  private static func base64(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let bytes = Array(text.utf8)
    var (result, index) = ("", 0)
    while index < bytes.count {
      let group = (0..<3).reduce(0) { $0 << 8 | (index + $1 < bytes.count ? Int(bytes[index + $1]) : 0) }
      let count = min(3, bytes.count - index) + 1
      for place in 0..<4 { result.append(place < count ? alphabet[group >> (18 - 6 * place) & 63] : "=") }
      index += 3
    }
    return result
  }

  @Test func `who has no placeholder, or comes from a browser, is refused`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      let wrong = [
        "", "Authorization: Bearer x\r\n", "Authorization: Bearer \(stage.placeholder)x\r\n",
        "Authorization: \(stage.placeholder.dropLast())\r\n", stage.slot + "Origin: https://evil.test\r\n",
        stage.slot + "Sec-Fetch-Site: cross-site\r\n",
      ]
      for fields in wrong {
        let answer = try stage.ask("GET", "/service/echo", fields)
        #expect(answer.status == 403 && answer.body.contains(#""kind":"accessDenied""#), "\(fields) \(answer.body)")
      }
      // A name that a page in a browser has had resolved to this machine.
      let lured = try stage.exchange("GET /service/echo HTTP/1.1\r\nHost: evil.test\r\n\(stage.slot)\r\n")
      #expect(lured.hasPrefix("HTTP/1.1 403 "), "\(lured)")
      #expect(try stage.count == 0)
    }
  }

  @Test func `a socket takes its clients without a placeholder, and no other credential`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      #expect(try stage.ask("GET", "/service/echo", "").status == 200)
      for field in [
        "Authorization: Bearer own", "Cookie: a=b", "X-Api-Key: k", "Proxy-Authorization: Basic eA==", "DPoP: x",
        // Of another kind: with these some servers do something else than what was judged.
        "X-HTTP-Method-Override: DELETE", "X-Original-URL: /other",
      ] {
        let answer = try stage.ask("GET", "/service/echo", field + "\r\n")
        #expect([400, 403].contains(answer.status), "\(field) \(answer.body)")
      }
      #expect(try stage.count == 1)
    }
  }

  /// Messages that two servers could understand differently, and such as a proxy would take (RFC 9112, section 11).
  private static let smuggled = [
    "GET /service/echo HTTP/1.1\nHost: H\n\n", "GET /service/echo HTTP/1.1\r\nHost: H\r\nX-A: b\n\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nX-A: b\r\n c\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nX-A : b\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nHost: H\r\n\r\n", "GET /service/echo HTTP/1.1\r\n\r\n",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nContent-Length: 1, 1\r\n\r\nx",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nContent-Length: +1\r\n\r\nx",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: identity\r\n\r\n",
    "POST /service/echo HTTP/1.1\r\nHost: H\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "POST /service/echo HTTP/1.0\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET https://evil.test/service/echo HTTP/1.1\r\nHost: H\r\n\r\n",
    "GET http://H/service/echo HTTP/1.1\r\nHost: H\r\n\r\n",
    "CONNECT evil.test:443 HTTP/1.1\r\nHost: H\r\n\r\n", "TRACE /service/echo HTTP/1.1\r\nHost: H\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: H\r\n\r\n", "GET /service/echo HTTP/2.0\r\nHost: H\r\n\r\n",
    "GET /service/echo\r\n\r\n",
    "GET /service/../auth/me HTTP/1.1\r\nHost: H\r\n\r\n", "GET /service/%2e%2e/x HTTP/1.1\r\nHost: H\r\n\r\n",
    "GET /service%2fecho HTTP/1.1\r\nHost: H\r\n\r\n", "GET //evil.test/service HTTP/1.1\r\nHost: H\r\n\r\n",
    "GET /service\\echo HTTP/1.1\r\nHost: H\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nConnection: authorization\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nExpect: something\r\n\r\n",
    "GET /service/echo HTTP/1.1\r\nHost: H\r\nX-A: b\u{0}c\r\n\r\n",
  ]

  @Test func `what could be understood in two ways is refused, and closes the connection`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      for message in Self.smuggled {
        let text = message.replacing("Host: H", with: "Host: \(stage.host)").replacing("//H/", with: "//\(stage.host)/")
        // With its placeholder, so that nothing else is wrong with it; and a request behind it that must not be served.
        let whole = text.replacing("Host: ", with: stage.slot + "Host: ", maxReplacements: 1)
        let answer = try stage.exchange(
          whole + "GET /service/echo HTTP/1.1\r\nHost: \(stage.host)\r\n\(stage.slot)\r\n")
        let status = Int(answer.dropFirst(9).prefix(3)) ?? 0
        #expect([400, 405, 501].contains(status), "\(message.debugDescription): \(answer.prefix(300))")
        #expect(answer.contains("Connection: close") && !answer.contains("HTTP/1.1 200"), "\(message.debugDescription)")
      }
      let twice = try stage.ask("GET", "/service/echo", stage.slot + stage.slot)
      #expect(twice.status == 400)
      #expect(try stage.count == 0)
    }
  }

  @Test func `no path or method passes that no rule allows, and none at which tokens are made`() async throws {
    try await Sandbox.run { sandbox in
      let rule = #"methods: ["GET", "POST"], paths: ["/service/echo/**", "/auth/**"]"#
      let stage = try DoorStage(sandbox, #","port":0"#, rule: rule)
      for (method, path) in [("GET", "/service/status/200"), ("DELETE", "/service/echo/a"), ("POST", "/auth/refresh")] {
        let answer = try stage.ask(method, path)
        #expect(answer.status == 403 && answer.body.contains(#""rule":""#), "\(path) \(answer.body)")
      }
      #expect(try stage.count == 0 && stage.ask("GET", "/service/echo/a").status == 200)
      // An answer to HEAD has no body, so that the next request on the connection is answered as itself.
      let head = "Host: \(stage.host)\r\n\(stage.slot)"
      let both = try stage.exchange(
        "HEAD /service/status/200 HTTP/1.1\r\n\(head)\r\nGET /service/echo/a HTTP/1.1\r\n\(head)Connection: close\r\n\r\n"
      )
      #expect(both.hasPrefix("HTTP/1.1 403 ") && !both.contains("accessDenied") && both.contains("HTTP/1.1 200 "))
      let door = try stage.wire.call("listDoors").required("doors").elements()[0]
      #expect(try door.required("forwarded").integer() == 2 && door.required("refused").integer() == 4)
    }
  }

  @Test func `a token that the API refuses is replaced, and what no token heals is no 401`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      _ = try stage.api.ask("/expire-access", "{}")
      let healed = try stage.ask("POST", "/service/echo", body: "once")
      #expect(healed.status == 200 && healed.body.contains("once"))
      #expect(try stage.count == 2 && stage.api.refreshes() == ["rotated"])
      let refused = try stage.ask("GET", "/service/status/401")
      #expect(refused.status == 502 && refused.body.contains(#""nextAction":"login""#), "\(refused.body)")
      let passing = try stage.wire.call("openDoor", #"{"profile":"shop","port":0,"unauthorized":"pass"}"#)
      let url = try passing.required("url").string()
      let placeholder = try passing.required("placeholder").string()
      let host = url.dropFirst("http://".count)
      let connection = try LoopbackSocket.connect(
        to: .ipv4, port: try #require(url.split(separator: ":").last.flatMap { UInt16($0) }))
      try connection.sendAll(
        "GET /service/status/401 HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(placeholder)\r\nConnection: close\r\n\r\n"
          .utf8.span)
      var buffer = [UInt8](repeating: 0, count: 4096)
      guard case .bytes(let count) = connection.read(into: &buffer) else { throw TestFailure("no answer") }
      #expect(String(decoding: buffer[..<count], as: UTF8.self).hasPrefix("HTTP/1.1 401 "))
    }
  }

  @Test func `bodies pass by in pieces, one request after the other`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      let head = "Host: \(stage.host)\r\n\(stage.slot)"
      // Chunks with an extension and a trailer, then a request in the same bytes.
      let first =
        "POST /service/echo HTTP/1.1\r\n\(head)Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
      let answers = try stage.exchange(first + "GET /service/bytes/3 HTTP/1.1\r\n\(head)Connection: close\r\n\r\n")
      #expect(answers.contains(#""body": "abcde""#) && answers.components("HTTP/1.1 200 ") == 2, "\(answers)")
      // More than is held: it is passed on as it comes.
      let large = String(repeating: "x", count: (1 << 20) + 1)
      let echoed = try stage.ask("PUT", "/service/status/200", body: large)
      #expect(echoed.status == 200)
      let entries = try stage.api.ask("/ledger?event=request").required("entries").elements()
      #expect(try entries.last?.required("bodyBytes").integer() == Int64(large.utf8.count))
      let down = try stage.ask("GET", "/service/bytes/300000")
      #expect(down.head.contains("content-length: 300000"))
      let nothing = try stage.ask("HEAD", "/service/bytes/70")
      #expect(nothing.status == 200 && nothing.head.contains("content-length: 70") && nothing.body.isEmpty)
      #expect(try stage.ask("GET", "/service/status/204").body.isEmpty)
      let old = try stage.exchange("GET /service/echo HTTP/1.0\r\n\(head)\r\n")
      #expect(old.hasPrefix("HTTP/1.1 200 ") && !old.lowercased().contains("chunked"))
    }
  }

  @Test func `a door ends with its connection, its time and closeDoor`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox)
      let path = String(stage.url.dropFirst("unix:".count))
      let other = try SocketWire(sandbox.socket)
      #expect(try other.refusal("closeDoor", #"{"doorId":"door-none"}"#) == "invalidParams")
      let short = try other.call("openDoor", #"{"profile":"shop","lifetimeSeconds":0.05}"#)
      let gone = try String(short.required("url").string().dropFirst("unix:".count))
      #expect(Patience.wait { (try? FileStatus.ofLink(gone)) == nil })
      #expect(try stage.wire.call("listDoors").required("doors").elements().count == 1)
      let second = try other.call("openDoor", #"{"profile":"shop","port":0}"#)
      _ = try other.call("closeDoor", #"{"doorId":"\#(try second.required("doorId").string())"}"#)
      #expect(try other.call("listDoors").required("doors").elements().count == 1)
      // A path of one's own, and none at which something is.
      let own = sandbox.root + "/door.sock"
      let third = try other.call("openDoor", #"{"profile":"shop","path":"\#(own)"}"#)
      #expect(try third.required("url").string() == "unix:\(own)")
      #expect(try other.refusal("openDoor", #"{"profile":"shop","path":"\#(own)"}"#) == "invalidParams")
      try stage.wire.finishSending()
      #expect(Patience.wait { (try? FileStatus.ofLink(path)) == nil })
    }
  }

  @Test func `a locked vault, an API that is away and a client that leaves end nothing else`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try DoorStage(sandbox, #","port":0"#)
      _ = try stage.api.ask("/misbehave", #"{"name":"hold-before-commit","endpoint":"api"}"#)
      do {
        let leaving = try stage.connect()
        try leaving.sendAll("GET /service/echo HTTP/1.1\r\nHost: \(stage.host)\r\n\(stage.slot)\r\n".utf8.span)
        #expect(try Patience.wait { try stage.api.ask("/held").required("held").elements().count == 1 })
      }
      #expect(
        try Patience.wait {
          try stage.wire.call("listDoors").required("doors").elements()[0].required("connections").integer() == 0
        })
      _ = try stage.api.ask("/release", "{}")
      #expect(try stage.ask("GET", "/service/echo").status == 200)
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.api.ask("/end-connections", "{}")
      #expect(try stage.ask("GET", "/service/echo").status == 502)
      _ = try stage.api.ask("/listen", "{}")
      try stage.wire.prove()
      _ = try stage.wire.call("lock")
      let locked = try stage.ask("GET", "/service/echo")
      #expect(locked.status == 503 && locked.body.contains("vaultLocked"))
    }
  }

  @Test func `a client of a limited socket has its door where the broker makes it`() async throws {
    try await Sandbox.run { sandbox in
      let api = try RESTBackend(sandbox, account: RESTBackend.account)
      let socket = sandbox.root + "/use.sock"
      let profile =
        #"{ provider: "rest", baseUrl: "\#(api.url)", requests: { allow: [{ origin: "\#(api.url)" }] } }"#
      let sockets = #"sockets: { agent: { profiles: ["shop"], may: "use", path: "\#(socket)" } }"#
      _ = try sandbox.owner(
        try sandbox.configure("{ profiles: { shop: \(profile), other: { provider: \"local\" } }, \(sockets) }"))
      let agent = try SocketWire(socket)
      for params in [#"{"profile":"shop","port":0}"#, #"{"profile":"shop","path":"/tmp/x.sock"}"#] {
        #expect(try agent.refusal("openDoor", params) == "invalidParams")
      }
      #expect(try agent.refusal("openDoor", #"{"profile":"other"}"#) == "unknownProfile")
      #expect(try agent.refusal("openDoor", #"{"profile":"shop","origin":"https://evil.test"}"#) == "accessDenied")
      #expect(try agent.call("openDoor", #"{"profile":"shop"}"#).required("url").string().hasPrefix("unix:"))
    }
  }
}

extension String {
  /// How often a text is in it.
  fileprivate func components(_ text: String) -> Int {
    ranges(of: text).count
  }
}
