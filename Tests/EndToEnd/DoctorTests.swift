import JSON
import LinuxSystem
import TestSupport
import Testing

/// The doctor on a real broker with profiles on real backends.
@Suite(.standardTimeLimit) struct DoctorTests {
  private func configuration(_ members: String) -> String {
    "{ profiles: { own: { provider: \"local\" }, \(members) } }"
  }

  private func rest(_ url: String, _ more: String = "") -> String {
    "{ provider: \"rest\", baseUrl: \"\(url)\"\(more) }"
  }

  /// One blank where there are several, so that the width of the table does not matter.
  private func words(_ text: String) -> String {
    text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "\n")
  }

  @Test func `a provider is looked at from the broker: reached, with a wrong clock, away`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox)
      let secure = try RESTBackend(sandbox, ["--tls"])
      let tls = ", tls: { caFile: \"\(secure.caFile)\", pins: [\"\(secure.pins[0])\", \"\(secure.pins[1])\"] }"
      _ = try sandbox.owner(
        try sandbox.configure(configuration("shop: \(rest(backend.url)), work: \(rest(secure.url, tls))")))
      let doctor = { (arguments: [String]) in
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "doctor"] + arguments)
      }
      let well = try doctor([])
      #expect(well.code == 0, "\(well.output)\(well.errors)")
      #expect(words(well.output).contains("ok own it is part of the broker: nothing to reach"), "\(well.output)")
      #expect(words(well.output).contains("answers over TLS in "), "\(well.output)")
      #expect(words(well.output).contains("answers without TLS in "), "\(well.output)")
      _ = try backend.ask("/misbehave", #"{"endpoint":"getCurrentUser","name":"date-behind"}"#)
      let skewed = try doctor(["--profile", "shop"])
      #expect(skewed.code == 0 && words(skewed.output).contains("warning shop "), "\(skewed.output)")
      #expect(skewed.output.contains(" s behind this machine's; set the clock\n"), "\(skewed.output)")
      _ = try backend.ask("/listen", #"{"open":false}"#)
      let away = try doctor(["--json"])
      #expect(away.code == 5, "\(away.output)")
      let errors = try JSONDocument(parsing: Array(away.output.utf8)).root.required("findings").elements().filter {
        try $0.required("status").string() == "error"
      }
      #expect(try errors.map { try $0.required("check").string() } == ["providers.reachable"])
      #expect(try errors.first?.required("profile").string() == "shop")
      let requests = try secure.ask("/ledger?event=request").required("entries").elements().count
      #expect(try doctor(["--no-network"]).code == 0)
      #expect(try secure.ask("/ledger?event=request").required("entries").elements().count == requests)
    }
  }

  @Test func `a certificate or a key that is not trusted is named, and a locked vault comes first`() async throws {
    try await Sandbox.run { sandbox in
      let expired = try RESTBackend(sandbox, ["--tls", "expired"])
      let pinned = try RESTBackend(sandbox, ["--tls"])
      let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
      let pins = ", tls: { caFile: \"\(pinned.caFile)\", pins: [\"\(wrong)\", \"\(pinned.pins[1])\"] }"
      let old = ", tls: { caFile: \"\(expired.caFile)\" }"
      _ = try sandbox.owner(
        try sandbox.configure(configuration("old: \(rest(expired.url, old)), pin: \(rest(pinned.url, pins))")))
      let open = try sandbox.command("doctor")
      #expect(open.code == 5 && open.output.contains("\n2 errors"), "\(open.output)")
      #expect(open.output.contains(": the provider's certificate has expired or is not valid yet;"), "\(open.output)")
      #expect(open.output.contains(": its key matches none of tls.pins;"), "\(open.output)")
      #expect(try sandbox.command("lock").code == 0)
      let locked = try sandbox.command("doctor")
      #expect(locked.code == 7 && locked.output.contains(": its key matches none of tls.pins;"), "\(locked.output)")
      #expect(try pinned.ask("/ledger?event=request").required("entries").elements().isEmpty)
    }
  }

  @Test func `each step from a resource to its tokens is told`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      let origin = String(backend.issuer.prefix(backend.issuer.count - "/o".count))
      let mcp = "notes: { provider: \"mcp\", resource: \"\(origin)/api\", clientId: \"cli\" }"
      _ = try sandbox.owner(try sandbox.configure(configuration(mcp)))
      let run = try sandbox.command("doctor")
      let text = words(run.output)
      #expect(text.contains("ok notes resource \(origin)/.well-known/oauth-protected-resource"), "\(run.output)")
      #expect(text.contains("ok notes resource.issuer it names the authorization server \(backend.issuer)"))
      #expect(text.contains("ok notes client.known the client is the configured one"), "\(run.output)")
    }
  }

  @Test func `a broker that was started on demand keeps sessions alive only until it ends, which is said`() async throws
  {
    try await Sandbox.run { sandbox in
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      #expect(try sandbox.command("call", "register", "-", input: account).code == 0)
      let run = try sandbox.command("doctor")
      #expect(
        run.output.contains("the broker was started on demand and ends some time after its last use"), "\(run.output)")
      #expect(try sandbox.command("stop").code == 0)
    }
  }
}
