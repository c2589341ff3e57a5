import JSON
import LinuxSystem
import TestSupport
import Testing

/// Requests that the broker sends for its clients, to an API that tells what came, refuses tokens and repeats them.
@Suite(.standardTimeLimit) struct RequestTests {
  private static let account = #"{"email":"ada@example.com","password":"example password 1"}"#

  /// A broker whose profile `shop` may be used for requests to the API, with a session.
  private struct Stage {
    let api: RESTBackend
    let wire: SocketWire
    let url: String

    init(_ sandbox: Sandbox, _ rule: String = "", profiles: String = "", others: String = "") throws {
      api = try RESTBackend(sandbox, account: account)
      url = api.url + "/service"
      let all = #"methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]"#
      let rules = #"{ origin: "\#(api.url)", \#(rule.isEmpty ? all : rule) }"#
      let profile = #"{ provider: "rest", baseUrl: "\#(api.url)", requests: { allow: [\#(rules)] } }"#
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { shop: \(profile), \(profiles) }, \(others) }"))
      wire = try SocketWire(sandbox.socket)
      _ = try wire.call("login", #"{"profile":"shop",\#(account.dropFirst())"#)
    }

    func send(_ method: String, _ path: String, _ more: String = "") throws -> JSONNode {
      try wire.call("sendRequest", #"{"method":"\#(method)","url":"\#(url)\#(path)"\#(more)}"#)
    }

    func refusal(_ method: String, _ url: String, _ more: String = "") throws -> JSONNode {
      let answer = try wire.answer("sendRequest", #"{"method":"\#(method)","url":"\#(url)"\#(more)}"#)
      return try answer.required("error").required("data")
    }

    /// How many requests have come to the API.
    var count: Int {
      get throws {
        try api.ask("/ledger?event=request").required("entries").elements().filter {
          try $0.required("endpoint").string() == "api"
        }.count
      }
    }
  }

  @Test func `a request has the token, and nothing of the answer has it`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let token = try stage.wire.accessToken()
      let fields = #","headers":{"X-A":"b","content-type":"text/plain","User-Agent":"mine"},"body":"caf\u00e9""#
      let answer = try stage.send("POST", "/echo/a%20b?x=%2F..", fields)
      #expect(try answer.required("status").integer() == 200)
      #expect(!String(decoding: answer.text, as: UTF8.self).contains(token))
      let headers = try answer.required("headers")
      #expect(try headers.required("x-token").string() == "[token]" && headers["set-cookie"] == nil)
      #expect(try headers.required("content-type").string() == "application/json")
      let seen = try JSONDocument(parsing: Array(answer.required("body").string().utf8)).root
      #expect(
        try seen.required("path").string() == "/service/echo/a%20b" && seen.required("query").string() == "x=%2F..")
      #expect(try seen.required("body").string() == "café" && seen.required("token").string() == "[token]")
      #expect(try seen.required("basic").string().contains("[token]"))
      let came = try seen.required("headers")
      #expect(try came.required("authorization").string() == "Bearer [token]")
      #expect(try came.required("user-agent").string() == "mine" && came.required("accept").string() == "*/*")
      #expect(try came.required("x-a").string() == "b" && came.required("content-type").string() == "text/plain")
      #expect(came["cookie"] == nil && came["expect"] == nil)
    }
  }

  @Test func `each method has its body, and each size of one goes both ways`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let body = try stage.send(method, "/echo", method == "GET" ? "" : #","body":"{}""#).required("body").string()
        let seen = try JSONDocument(parsing: Array(body.utf8)).root
        #expect(try seen.required("method").string() == method)
        #expect(try seen.required("body").string() == (method == "GET" ? "" : "{}"))
      }
      let head = try stage.send("HEAD", "/bytes/70000")
      #expect(try head.required("headers").required("content-length").string() == "70000")
      #expect(try head.required("body").string().isEmpty)
      for count in [0, 1, 255, 70_000, 524_288] {
        let answer = try stage.send("GET", "/bytes/\(count)")
        guard count > 128 else {
          #expect(try answer.required("body").string().utf8.count == count)
          continue
        }
        // Not all octets in a row are a text.
        let text = try answer.required("bodyBase64").string()
        #expect(text.utf8.count == (count + 2) / 3 * 4)
        let back = try stage.send("PUT", "/status/200", #","bodyBase64":"\#(text)""#)
        #expect(try back.required("status").integer() == 200)
        let entries = try stage.api.ask("/ledger?event=request").required("entries").elements()
        #expect(try entries.last?.required("bodyBytes").integer() == Int64(count))
      }
      #expect(try stage.refusal("GET", stage.url + "/bytes/524289").required("kind").string() == "invalidResponse")
      let longer = #","body":"\#(String(repeating: "x", count: 524_289))""#
      let refused = try stage.refusal("POST", stage.url + "/echo", longer)
      #expect(try refused.required("pointer").string() == "/body")
    }
  }

  @Test func `a token that the API refuses is replaced, once`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let before = try stage.wire.call("getAccessToken").required("tokenId").string()
      _ = try stage.api.ask("/expire-access", "{}")
      #expect(try stage.send("POST", "/echo", #","body":"once""#).required("status").integer() == 200)
      #expect(try stage.wire.call("getAccessToken").required("tokenId").string() != before)
      #expect(try stage.api.refreshes() == ["rotated"] && stage.count == 2)
      // One that refuses every token has its answer passed on.
      let count = try stage.count
      let refused = try stage.send("GET", "/status/401")
      #expect(try refused.required("status").integer() == 401 && stage.count == count + 2)
      #expect(try stage.api.refreshes() == ["rotated", "rotated"])
    }
  }

  @Test func `the status is the API's, and a redirect is not followed`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      for status in [201, 204, 302, 307, 400, 403, 404, 409, 422, 429, 500, 503] {
        let answer = try stage.send("GET", "/status/\(status)")
        #expect(try answer.required("status").integer() == Int64(status))
        let location = try answer.required("headers")["location"]?.string()
        #expect(location == (status / 100 == 3 ? "https://other.invalid/" : nil))
      }
      #expect(try stage.count == 12)
      #expect(try stage.send("GET", "/gzip").required("body").string().hasPrefix("unpacked unpacked"))
      // The token could be in there.
      #expect(try stage.refusal("GET", stage.url + "/br").required("kind").string() == "invalidResponse")
    }
  }

  @Test func `no token goes where no rule says so, and none to where tokens are made`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox, #"methods: ["GET", "POST"], paths: ["/service/echo/**", "/auth/**"]"#)
      let origin = stage.api.url
      let other = "http://localhost:1/service/echo"
      let wrong = [
        ("GET", origin + "/service/status/200", "profiles.shop.requests.allow[0]"),
        ("DELETE", origin + "/service/echo/a", "profiles.shop.requests.allow[0]"),
        ("GET", other, "profiles.shop.requests.allow"), ("GET", "https://example.com/", "profiles.shop.requests.allow"),
        ("POST", origin + "/auth/refresh", "provider"), ("POST", origin + "/auth/login?x", "provider"),
        ("POST", origin + "/auth/%6cogout", "provider"),
      ]
      let before = try stage.api.ask("/ledger?event=request").required("entries").elements().count
      for (method, url, rule) in wrong {
        for named in [#","profile":"shop""#, ""] {
          let data = try stage.refusal(method, url, named)
          #expect(try data.required("kind").string() == "accessDenied" && data["rule"]?.string() == rule, "\(url)")
        }
      }
      for url in ["/service/echo/../status/200", "/service/echo/%2e%2e/x", "/service/echo//x", "/service/echo%2fx"] {
        #expect(try stage.refusal("GET", origin + url).required("pointer").string() == "/url")
      }
      #expect(try stage.api.ask("/ledger?event=request").required("entries").elements().count == before)
      #expect(try stage.send("GET", "/echo/x").required("status").integer() == 200)
    }
  }

  @Test func `a client that may only use a profile has requests sent, and gets no token`() async throws {
    try await Sandbox.run { sandbox in
      let socket = sandbox.root + "/use.sock"
      let sockets = #"sockets: { agent: { profiles: ["shop"], may: "use", path: "\#(socket)" } }"#
      let stage = try Stage(sandbox, others: sockets)
      let agent = try SocketWire(socket)
      let error = try agent.answer("getAccessToken", "{}").required("error").required("data")
      #expect(try error.required("kind").string() == "accessDenied")
      #expect(try error.required("nextAction").string() == "useRequests")
      let params = #"{"method":"GET","url":"\#(stage.url)/echo"}"#
      #expect(try agent.call("sendRequest", params).required("status").integer() == 200)
      try stage.wire.prove()
      var entry: JSONNode?
      _ = try Patience.wait {
        let entries = try stage.wire.call("readAudit").required("entries").elements()
        entry = try entries.first { try $0["method"]?.string() == "sendRequest" }
        return entry != nil
      }
      #expect(try entry?["kind"]?.string() == "grant" && entry?["client"]?["socket"]?.string() == "agent")
    }
  }

  @Test func `a request and a door that name no profile have the only one whose rules fit`() async throws {
    try await Sandbox.run { sandbox in
      let rule = #"{ origin: "https://api.example.com" }"#
      let stage = try Stage(
        sandbox,
        profiles: ##"""
          default: { provider: "local" },
          two: { provider: "local", requests: { allow: [\##(rule), \##(rule)] } }
          """##)
      // The path is at a server of two profiles, and whole addresses at one of each.
      #expect(try stage.send("GET", "/status/200").required("status").integer() == 200)
      let door = try stage.wire.call("openDoor", #"{"origin":"\#(stage.api.url)"}"#)
      let id = try door.required("doorId").string()
      #expect(try stage.wire.call("closeDoor", #"{"doorId":"\#(id)"}"#).kind == .object)
      let path = try stage.refusal("GET", "/service/status/200")
      #expect(try path.required("kind").string() == "invalidParams" && path.required("pointer").string() == "/profile")
      #expect(try stage.wire.refusal("openDoor") == "invalidParams")
      // Only one has this method.
      let posted = try stage.wire.call("sendRequest", #"{"method":"POST","url":"/service/echo","body":"x"}"#)
      #expect(try posted.required("status").integer() == 200)
      let malformed = try stage.refusal("GET", "/service//echo")
      #expect(
        try malformed.required("kind").string() == "invalidParams" && malformed.required("pointer").string() == "/url")
      let none = try stage.refusal("GET", "https://example.org/")
      #expect(
        try none.required("kind").string() == "accessDenied"
          && none.required("rule").string() == "profiles.*.requests.allow")
      let off = try stage.refusal("GET", "/service/echo", #","profile":"default""#)
      #expect(try off.required("rule").string() == "profiles.default.requests.allow")
    }
  }

  @Test func `an API that is away, hangs or is lost is told, and the session goes on`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.api.ask("/misbehave", #"{"name":"drop-after-commit","endpoint":"api"}"#)
      let lost = try stage.refusal("POST", stage.url + "/echo", #","body":"x""#)
      #expect(try lost.required("kind").string() == "networkUnavailable" && lost.required("retryable").bool() == false)
      _ = try stage.api.ask("/misbehave", #"{"name":"hold-before-commit","endpoint":"api"}"#)
      let late = try stage.refusal("GET", stage.url + "/echo", #","timeoutSeconds":0.2"#)
      #expect(try ["deadlineExceeded", "timeout"].contains(late.required("kind").string()))
      _ = try stage.api.ask("/release", "{}")
      _ = try stage.api.ask("/listen", #"{"open":false}"#)
      _ = try stage.api.ask("/end-connections", "{}")
      #expect(try stage.refusal("GET", stage.url + "/echo").required("kind").string() == "networkUnavailable")
      _ = try stage.api.ask("/listen", "{}")
      #expect(try stage.send("GET", "/echo").required("status").integer() == 200)
      #expect(try stage.wire.call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test func `the command prints what came, and its exit code tells the status`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      func run(_ arguments: String...) throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "request"] + arguments)
      }
      let shown = try run("/service/status/200", "--include")
      #expect(
        shown.code == 0 && shown.output.hasPrefix("HTTP/1.1 200\n") && shown.output.hasSuffix(#"{"status": 200}"#))
      #expect(shown.output.contains("content-type: application/json\n"))
      for (status, code) in [(302, 0), (401, 3), (403, 6), (404, 1), (429, 5), (503, 5)] as [(Int, Int32)] {
        let outcome = try run("\(stage.url)/status/\(status)")
        #expect(outcome.code == code && outcome.output == #"{"status": \#(status)}"#, "\(status) \(outcome)")
      }
      let posted = try run("-X", "put", "-H", "X-A: b", "-d", #"{"a":1}"#, stage.url + "/echo")
      #expect(posted.output.contains(#""method": "PUT""#) && posted.output.contains(#""x-a": "b""#))
      #expect(posted.output.contains(#""content-type": "application/json""#))
      let file = sandbox.root + "/octets"
      #expect(try run(stage.url + "/bytes/300", "-o", file).output.isEmpty)
      #expect(try FileDescriptor.open(file, .read).contents(limit: 1000).count == 300)
      #expect(try run("-d", "@" + file, stage.url + "/status/200").code == 0)
      let refused = try run("https://example.com/")
      #expect(refused.code == 6 && refused.errors.contains("profiles.shop.requests.allow"), "\(refused)")
      #expect(try run(stage.url, "-H", "none").code == 2 && run("-d", "@/nowhere", stage.url).code == 1)
      #expect(try run(stage.url + "/echo", "-H", "Authorization: Bearer x").code == 2)
    }
  }
}
