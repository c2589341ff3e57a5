import BrokerProtocol
import BrokerServer
import JSON
import JSONRPC
import SecretMemory
import TestSupport
import Testing

/// The documents in `Schemas` and the Swift types say the same.
@Suite(.standardTimeLimit) struct SchemaTests {
  private let openRPC: JSONNode
  private let events: JSONNode
  private let errors: JSONNode

  init() throws {
    openRPC = try SchemaFile.document("openrpc.json").root
    events = try SchemaFile.document("events.json").root
    errors = try SchemaFile.document("errors.json").root
  }

  private func methods() throws -> [(check: MethodCheck, description: JSONNode)] {
    try zip(MethodCheck.all, openRPC.required("methods").elements()).map { ($0, $1) }
  }

  /// The params of an example as they stand on the wire.
  private func params(of example: JSONNode) throws -> JSONDocument {
    var writer = JSONWriter()
    let members = try example.required("params").elements()
    for member in members { _ = try member.required("name").string() }
    writer.object { writer in
      for member in members {
        writer.key((try? member["name"]?.string()) ?? "")
        writer.raw(member["value"]?.text ?? [])
      }
    }
    return try JSONDocument(parsing: writer.bytes)
  }

  @Test func `every method is described once, in order`() throws {
    let names = try openRPC.required("methods").elements().map { try $0.required("name").string() }
    #expect(names == MethodCheck.all.map(\.name))
    #expect(try openRPC.required("openrpc").string() == "1.3.2")
    for (_, method) in try methods() {
      #expect(try method.required("paramStructure").string() == "by-name")
      #expect(try !method.required("summary").string().isEmpty)
      #expect(try !method.required("examples").elements().isEmpty)
    }
  }

  @Test func `examples fit their schemas`() throws {
    let checker = SchemaChecker(root: openRPC)
    for (check, method) in try methods() {
      let params = try method.required("params").elements()
      for example in try method.required("examples").elements() {
        for given in try example.required("params").elements() {
          let name = try given.required("name").string()
          let described = try #require(try params.first { try $0["name"]?.string() == name }, "\(check.name).\(name)")
          let problems = try checker.problems(of: given.required("value"), against: described.required("schema"))
          #expect(problems == [], "\(check.name)")
        }
        for described in params where described["required"]?.kind == .true {
          let name = try described.required("name").string()
          #expect(try self.params(of: example).root[name] != nil, "\(check.name).\(name)")
        }
        guard check.name != "rpc.discover" else { continue }
        let result = try example.required("result").required("value")
        #expect(
          try checker.problems(of: result, against: method.required("result").required("schema")) == [], "\(check.name)"
        )
      }
    }
  }

  @Test func `examples decode into the Swift types and encode as they stand`() throws {
    for (check, method) in try methods() {
      for example in try method.required("examples").elements() {
        let params = try params(of: example)
        #expect(try params.root.isPart(of: check.roundTripParams(params.root).root), "\(check.name)")
        let result = try example.required("result").required("value")
        let encoded = try check.roundTripResult(result).root
        #expect(result.isSame(as: encoded), "\(check.name): \(String(decoding: encoded.text, as: UTF8.self))")
      }
    }
  }

  @Test func `the Swift types read exactly the params that are described`() throws {
    for (check, method) in try methods() {
      for described in try method.required("params").elements() {
        let name = try described.required("name").string()
        // A value of no type that any parameter has: whoever reads the parameter must refuse it.
        let others = try params(of: method.required("examples").elements()[0]).root.members().filter { $0.name != name }
        var writer = JSONWriter()
        writer.object { writer in
          for (other, value) in others {
            writer.key(other)
            writer.raw(value.text)
          }
          writer.key(name)
          writer.raw(Array(#"[{"?":0}]"#.utf8))
        }
        let document = try JSONDocument(parsing: writer.bytes)
        let error = #expect(throws: JSONMismatch.self, "\(check.name).\(name)") {
          try check.roundTripParams(document.root)
        }
        #expect(error?.pointer.description.hasPrefix("/\(name)") == true, "\(check.name).\(name)")
      }
    }
  }

  @Test func `the parameters are those that are described, in order`() throws {
    for (method, (_, description)) in try zip(Methods.all, methods()) {
      let described = try description.required("params").elements().map { try $0.required("name").string() }
      #expect(method.parameterNames == described, "\(method.name)")
    }
  }

  @Test func `encoded results fit their schemas`() throws {
    let secret = try Samples.secret("x")
    let checker = SchemaChecker(root: openRPC)
    func check(_ schema: String, _ value: some JSONEncodable) throws {
      let described = try openRPC.required("components").required("schemas").required(schema)
      #expect(try checker.problems(of: value.encoded().root, against: described) == [], "\(schema)")
    }
    for session in Samples.sessions {
      try check("Session", session)
      try check("LoginResult", LoginResult(.authenticated(session), clientContext: "c"))
    }
    try check("LoginResult", LoginResult(.otpRequired(Samples.challenge), clientContext: "c"))
    for action in [Samples.action, Samples.browserAction] {
      try check("UserAction", action)
      try check("LoginResult", LoginResult(.userActionRequired(action)))
    }
    try check("LoginResult", LoginResult(.emailVerificationRequired))
    // To others, who have not begun the login, the address is not told: as an error's or an event's, and never as a result.
    var veiled = Samples.browserAction
    veiled.verificationURI = nil
    try check("UserAction", veiled)
    let result = try openRPC.required("components").required("schemas").required("LoginResult")
    let answer = try LoginResult(.userActionRequired(veiled)).encoded().root
    #expect(try checker.problems(of: answer, against: result) == [" matches 0 of the alternatives"])
    try check(
      "LoginResult",
      LoginResult(.authenticated(Samples.fullSession), backupCodesRemaining: 0))
    for form in Samples.loginForms { try check("LoginForm", form) }
    try check("Profile", Initialize.Profile(profile: .default, provider: "rest", login: Samples.loginForms))
    try check("FactorEnrolment", try Samples.enrolment())
    try check("OtpChallenge", Samples.challenge)
    try check("User", Samples.user)
    try check("User", User(id: "u"))
    for (end, isOffline) in [(Samples.time, true), (nil, false)] {
      let token = AccessToken(
        accessToken: secret, expiresAt: end, scopes: ["a"], profile: .default, tokenID: "t", isOffline: isOffline)
      try check("AccessToken", token)
    }
    for revoked in LogoutOutcome.ServerRevoked.allCases {
      try check("LogoutOutcome", LogoutOutcome(profile: .default, serverRevoked: revoked))
    }
    try check("VaultStatus", GetStatus.VaultStatus(locked: true, keySource: "file", schemaVersion: 1))
    for finding in Samples.findings { try check("VaultFinding", finding) }
    for report in Samples.reports { try check("ProviderReport", report) }
    for finding in Samples.providerFindings { try check("ProviderFinding", finding) }
    for state in Samples.trialStates { try check("ProviderTrialState", state) }
    for user in Samples.localUsers { try check("LocalUser", user) }
    try check("LocalSession", Samples.localSession)
    for message in try Samples.localMessages() { try check("LocalMessage", message) }
    try check("JsonWebKey", JSONWebKey(keyID: "k", publicKey: "x"))
    for introspection in [TokenIntrospection(isActive: false), Samples.introspection] {
      try check("TokenIntrospection", introspection)
    }
    for record in Samples.auditRecords { try check("LocalAuditRecord", record) }
    try check("Error", Samples.fullError)
    for kind in ErrorKind.allCases { try check("Error", BrokerError(kind)) }
  }

  @Test func `the words of the types are those of the schemas`() throws {
    let schemas = try openRPC.required("components").required("schemas")
    func words(_ schema: String, _ member: String) throws -> [String] {
      try schemas.required(schema).required("properties").required(member).required("enum").elements().map {
        try $0.string()
      }
    }
    #expect(try words("Session", "state") == Session.State.allCases.map(\.rawValue))
    #expect(try words("OtpChallenge", "method") == OTPChallenge.Method.allCases.map(\.rawValue))
    #expect(try words("UserAction", "kind") == UserAction.Kind.allCases.map(\.rawValue))
    let login = try openRPC.required("methods").elements().first { try $0["name"]?.string() == "login" }
    let ways = try login?["params"]?.elements().first { try $0["name"]?.string() == "method" }?["schema"]?["enum"]
    #expect(try ways?.elements().map { try $0.string() } == LoginMethod.allCases.map(\.rawValue))
    #expect(try words("LoginForm", "method") == LoginMethod.allCases.map(\.rawValue))
    #expect(try words("LogoutOutcome", "serverRevoked") == LogoutOutcome.ServerRevoked.allCases.map(\.rawValue))
    #expect(try words("ErrorData", "kind") == ErrorKind.allCases.map(\.rawValue))
    #expect(try words("ErrorData", "nextAction") == NextAction.allCases.map(\.rawValue))
    #expect(try words("ProviderFinding", "level") == ProviderFinding.Level.allCases.map(\.rawValue))
    #expect(try words("VaultFinding", "kind") == VaultFinding.Kind.allCases.map(\.rawValue))
    #expect(try words("LocalUser", "twoFactor") == LocalUser.SecondFactor.allCases.map(\.rawValue))
    #expect(try words("LocalMessage", "method") == OTPChallenge.Method.allCases.map(\.rawValue))
    let sources = try openRPC.required("methods").elements().first { try $0["name"]?.string() == "rekey" }
    let words = try sources?["params"]?.elements().first?["schema"]?["enum"]?.elements().map { try $0.string() }
    #expect(words == KeySourceName.allCases.map(\.rawValue))
    let framings = try schemas.required("Capabilities").required("properties").required("framings").required("items")
    #expect(
      try framings.required("enum").elements().map { try $0.string() } == [Framing.lines.name, Framing.headers.name])
  }

  @Test func `errors are those of the kinds, in both documents`() throws {
    let listed = try errors.required("errors").elements()
    let components = try openRPC.required("components").required("errors").members()
    #expect(listed.count == ErrorKind.allCases.count && components.count == ErrorKind.allCases.count)
    for (kind, (entry, component)) in zip(ErrorKind.allCases, zip(listed, components)) {
      #expect(try entry.required("kind").string() == kind.rawValue)
      #expect(try entry.required("code").integer() == Int64(kind.code))
      #expect(try entry.required("nextAction").string() == kind.nextAction.rawValue)
      #expect(try entry.required("retryable").bool() == kind.isRetryable)
      #expect(try entry.required("message").string() == kind.message)
      #expect(component.name == kind.rawValue)
      #expect(try BrokerError(kind).encoded().root.isSame(as: component.value))
    }
  }

  @Test func `methods name only errors that there are`() throws {
    let prefix = "#/components/errors/"
    for (check, method) in try methods() {
      let names = try method.required("errors").elements().map { try $0.required("$ref").string() }
      #expect(Set(names).count == names.count, "\(check.name)")
      for name in names {
        #expect(ErrorKind(rawValue: String(name.dropFirst(prefix.count))) != nil, "\(check.name): \(name)")
      }
    }
  }

  @Test func `events are those of the types`() throws {
    let listed = try events.required("events").elements()
    #expect(try listed.map { try $0.required("event").string() } == EventName.allCases.map(\.rawValue))
    let checker = SchemaChecker(root: events)
    for (name, entry) in zip(EventName.allCases, listed) {
      #expect(try entry.required("kept").bool() == !name.isTransient)
      let example = try entry.required("example")
      let params = try example.required("params")
      let event = try #require(try BrokerEvent.read(from: params))
      #expect(event.payload.name == name)
      #expect(
        try JSONDocument(parsing: event.notification(for: "s1", event.details())).root.isSame(as: example), "\(name)")
      #expect(try checker.problems(of: params.required("data"), against: entry.required("data")) == [], "\(name)")
      #expect(try checker.problems(of: example, against: events.required("notification")) == [], "\(name)")
    }
    #expect(Set(Samples.payloads.map(\.name)) == Set(EventName.allCases))
    for payload in Samples.payloads {
      let schema = try #require(try listed.first { try $0["event"]?.string() == payload.name.rawValue }).required(
        "data")
      #expect(try checker.problems(of: payload.encoded().root, against: schema) == [], "\(payload.name)")
    }
  }

  @Test func `the words of events are those of the schemas`() throws {
    let expected: [String: [String]] = [
      "logout": LogoutEvent.Reason.allCases.map(\.rawValue),
      "sessionExpired": SessionExpiredEvent.Reason.allCases.map(\.rawValue),
      "securityAlert": SecurityAlertEvent.Kind.allCases.map(\.rawValue),
      "refreshFailed": ErrorKind.allCases.map(\.rawValue), "loginFailed": ErrorKind.allCases.map(\.rawValue),
    ]
    for entry in try events.required("events").elements() {
      let name = try entry.required("event").string()
      let properties = try entry.required("data")["properties"]
      let words = try (properties?["reason"] ?? properties?["kind"])?["enum"]?.elements().map { try $0.string() }
      #expect(words == expected[name], "\(name)")
    }
    for (name, schema) in try events.required("components").required("schemas").members() {
      #expect(try schema.isSame(as: openRPC.required("components").required("schemas").required(name)), "\(name)")
    }
  }
}

extension BrokerMethod {
  fileprivate static var parameterNames: [String] { Params.members.names }
}
