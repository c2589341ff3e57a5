import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// A trial of a provider, as a client runs it by way of the broker.
@Suite(.standardTimeLimit) struct ProviderTrialTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static let begin = call("tryProvider", #"{"email":"a@example.test","password":"right"}"#)
  private static func goOn(_ more: String = "") -> String {
    call("continueTrial", #"{"trialId":"handle-1"\#(more)}"#)
  }

  /// What a trial says until it waits for nobody but the user, or is over.
  private static func drive(_ client: TestClient, _ harness: ServerHarness) throws -> ProviderTrialState {
    var findings: [ProviderFinding] = []
    // Each answer brings a finding at least: more rounds than there are stages are a loop.
    for _ in 0..<40 {
      var answers = client.ask(goOn()) + client.lines()
      if answers.isEmpty {
        // Before a refresh the trial lets a second pass, the unit of every time in a token.
        harness.clock.advance(by: .milliseconds(1100))
        answers = client.lines()
      }
      let line = try #require(answers.first, "an answer is late")
      var state = try Self.state(line)
      findings += state.findings
      guard state.step == .provider else {
        state.findings = findings
        return state
      }
    }
    Issue.record("the trial does not end: \(findings)")
    return ProviderTrialState(trialID: "", findings: findings, step: .none)
  }

  private static func state(_ line: String) throws -> ProviderTrialState {
    let root = try JSONDocument(parsing: Array(line.utf8)).root
    return try ProviderTrialState(from: try #require(root["result"], "\(line)"))
  }

  @Test func `a trial goes to its end, and neither the profile nor the store learns of it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      _ = other.ask(Self.call("subscribe"))
      let before = client.ask(Self.call("getSession"))
      #expect(try Self.state(try #require(client.ask(Self.begin).first)).step == .provider)
      let state = try Self.drive(client, harness)
      #expect(state.step == .none)
      let ok = state.findings.filter { $0.level == .ok }.map(\.check)
      for check in ["login", "token.lifetime", "user", "refresh", "rotation", "refreshAgain", "logout"] {
        #expect(ok.contains(check), "\(check): \(state.findings)")
      }
      #expect(state.findings.allSatisfy { !$0.message.contains("access-") && !$0.message.contains("refresh-1") })
      #expect(harness.provider.logins == ["password a@example.test"] && harness.provider.revocations == 1)
      #expect(client.ask(Self.call("getSession")) == before && other.lines().isEmpty)
      #expect(client.ask(Self.goOn()).first?.contains(#""kind":"flowNotFound""#) == true)
    }
  }

  @Test func `a locked vault stands in no trial's way`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      #expect(client.ask(Self.call("lock")).first?.contains("result") == true)
      _ = client.ask(Self.begin)
      #expect(try Self.drive(client, harness).findings.contains { $0.check == "logout" && $0.level == .ok })
      #expect(client.ask(Self.call("checkProvider")).first?.contains(#""loginMethods":["password"]"#) == true)
    }
  }

  @Test func `a one-time code is asked for, again after a wrong one, and never told`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.setWantsCode(true)
      _ = client.ask(Self.begin)
      guard case .code(let challenge) = try Self.drive(client, harness).step else {
        Issue.record("a code is wanted")
        return
      }
      #expect(challenge.otpFlowID == "handle-1" && challenge.maskedDestination == "•••67")
      let wrong = try Self.state(try #require(client.ask(Self.goOn(#","code":"wrong""#)).first))
      guard case .code = wrong.step else {
        Issue.record("another code is wanted: \(wrong)")
        return
      }
      #expect(wrong.findings.map(\.level) == [.note] && wrong.findings.first?.message.contains("4 attempts") == true)
      #expect(client.ask(Self.goOn(#","code":"123456""#)).count == 1)
      let state = try Self.drive(client, harness)
      #expect(state.step == .none && harness.provider.revocations == 1)
    }
  }

  @Test func `another code is sent when one is asked for, and a backup code stands in`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.setWantsCode(true)
      _ = client.ask(Self.begin)
      _ = try Self.drive(client, harness)
      let early = try Self.state(try #require(client.ask(Self.goOn(#","resend":true"#)).first))
      #expect(early.findings.first?.message.contains("Another code cannot be sent before") == true)
      #expect(harness.provider.resends == 0)
      harness.clock.advance(by: .seconds(31))
      let sent = try Self.state(try #require(client.ask(Self.goOn(#","resend":true"#)).first))
      guard case .code = sent.step else {
        Issue.record("a code is waited for: \(sent)")
        return
      }
      #expect(sent.findings.map(\.message) == ["Another code was sent."] && harness.provider.resends == 1)
      let wrong = try Self.state(try #require(client.ask(Self.goOn(#","backupCode":"wrong""#)).first))
      #expect(wrong.findings.first?.message.contains("4 attempts") == true)
      #expect(client.ask(Self.goOn(#","backupCode":"backup""#)).count == 1)
      let state = try Self.drive(client, harness)
      #expect(state.step == .none && harness.provider.revocations == 1)
    }
  }

  @Test func `what is done in a browser is waited for`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.setLoginMethods([.browser])
      _ = client.ask(Self.call("tryProvider", #"{"method":"browser"}"#))
      guard case .user(let action) = try Self.drive(client, harness).step else {
        Issue.record("the user has to do something")
        return
      }
      #expect(action.kind == .browser && action.verificationURI == "https://id.example/authorize")
      #expect(client.ask(Self.goOn()).isEmpty, "nothing is new")
      harness.provider.redirect()
      let first = try Self.state(try #require(client.lines().first))
      #expect(first.findings.contains { $0.check == "login" && $0.level == .ok })
      #expect(try Self.drive(client, harness).step == .none && harness.provider.revocations == 1)
    }
  }

  @Test func `a trial that is stopped while the provider thinks ends the session that comes then`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      _ = client.ask(Self.begin)
      #expect(client.ask(Self.goOn(#","stop":true"#)).isEmpty)
      harness.provider.release()
      #expect(!client.lines().isEmpty)
      harness.settle()
      #expect(harness.provider.logins.count == 1 && harness.provider.revocations == 1)
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a trial that nobody asks about is ended, its session first`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      _ = client.ask(Self.begin)
      client.close()
      harness.clock.advance(by: .seconds(31))
      harness.provider.release()
      harness.settle()
      #expect(harness.provider.revocations == 1 && harness.provider.spentTokens.isEmpty)
      harness.clock.advance(by: .seconds(31))
      let other = try harness.connect()
      #expect(other.ask(Self.goOn()).first?.contains(#""kind":"flowNotFound""#) == true)
    }
  }

  @Test func `a trial that waits for a code lives as long as a person needs`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.setWantsCode(true)
      _ = client.ask(Self.begin)
      _ = try Self.drive(client, harness)
      harness.clock.advance(by: .seconds(290))
      #expect(client.ask(Self.goOn(#","code":"123456""#)).count == 1)
      #expect(try Self.drive(client, harness).step == .none)
      #expect(harness.provider.revocations == 1)
    }
  }

  @Test func `an answer with nothing new comes after the time that the client gives`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      _ = client.ask(Self.begin)
      #expect(client.ask(Self.goOn(#","timeoutSeconds":0.5"#)).isEmpty)
      harness.clock.advance(by: .milliseconds(500))
      let state = try Self.state(try #require(client.lines().first))
      #expect(state.findings.isEmpty && state.step == .provider)
      harness.provider.release()
    }
  }

  @Test func `more trials than four at a time are refused, and so is what cannot begin`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let missing = client.ask(Self.call("tryProvider", #"{"email":"a@example.test"}"#)).first ?? ""
      #expect(missing.contains("result") || missing.contains("missingCredential"))
      harness.provider.hold()
      let unsupported = client.ask(Self.call("tryProvider", #"{"method":"browser"}"#)).first
      #expect(unsupported?.contains(#""kind":"unsupportedByProvider""#) == true)
      let unknown = client.ask(Self.call("tryProvider", #"{"profile":"other"}"#)).first
      #expect(unknown?.contains(#""kind":"unknownProfile""#) == true)
      var refused = 0
      for _ in 0..<6 where client.ask(Self.begin).first?.contains(#""kind":"overloaded""#) == true { refused += 1 }
      #expect(refused == 2 || refused == 3)
      harness.provider.release()
    }
  }
}
