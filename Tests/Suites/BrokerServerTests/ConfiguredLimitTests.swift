import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Limits of calls and of work under way, as a configuration sets them: the one beyond is refused with an error that names
/// the limit, and `getStatus` counts it.
@Suite(.standardTimeLimit) struct ConfiguredLimitTests {
  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func login(_ password: String) -> String {
    call("login", #"{"email":"a@example.test","password":"\#(password)"}"#)
  }

  private static let mail = call("forgotPassword", #"{"email":"a@example.test"}"#)
  private static let mailToken = call("resetPassword", #"{"token":"t","password":"p"}"#)
  private static let change = call("updateProfile", #"{"changes":{"name":"B"}}"#)
  private static let read = call("getCurrentUser", #"{"maxAgeSeconds":0}"#)
  private static let probe = call("checkProviders")

  /// A harness with one other limit.
  private static func harness(
    _ limit: Limit, _ value: Int, store: InMemoryStore = InMemoryStore(), prepare: (ScriptedProvider) -> Void = { _ in }
  ) throws -> ServerHarness {
    var limits = ServerHarness.patientLimits
    limits[limit] = value
    return try ServerHarness(limits: limits, store: store, prepare: prepare)
  }

  /// Whether an answer is the error of a limit.
  private static func isRefusal(_ answer: String?, _ limit: Limit, _ value: Int) -> Bool {
    guard let answer, let kind = limit.row.error else { return false }
    return answer.contains(#""kind":"\#(kind.rawValue)""#)
      && answer.contains("The limit \(limit.row.name) (\(value)) is exceeded.")
  }

  /// Checks what `getStatus` tells of a limit.
  private static func expect(
    _ limit: Limit, value: Int, used: Int? = nil, refused: Int, by client: TestClient,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let status = client.ask(call("getStatus")).first ?? ""
    let use = used.map { #","used":\#($0)"# } ?? ""
    let line =
      #"{"name":"\#(limit.row.name)","scope":"\#(limit.row.scope.rawValue)","value":\#(value)\#(use),"refused":\#(refused)}"#
    #expect(status.contains(line), "\(line) in \(status)", sourceLocation: location)
  }

  /// The limits of each kind of call, what makes it, and whether that needs a session.
  private static let calls: [([Limit], String, Bool)] = [
    ([.connectionLogins, .accountLogins, .providerLogins], login("wrong"), false),
    ([.connectionMails, .accountMails, .providerMails], mail, false),
    ([.connectionMailTokens, .providerMailTokens], mailToken, false),
    ([.connectionChanges, .accountChanges, .providerChanges], change, true),
    ([.connectionReads, .accountReads, .providerReads], read, true),
    ([.connectionProbes, .providerProbes], probe, false),
  ]

  @Test(arguments: calls)
  func `where two calls are configured the third is refused and counted`(
    _ limits: [Limit], _ line: String, _ needsSession: Bool
  ) async throws {
    try await OwnThread.run {
      for limit in limits {
        let harness = try Self.harness(limit, 2)
        let client = try harness.connect()
        if needsSession {
          _ = client.ask(Self.login("right"))
          // A user that is known would be told from memory.
          harness.provider.setAccountFailure(.refused(.invalidCredentials))
        }
        harness.clock.advance(by: .seconds(3600))
        harness.settle()
        for number in 1...2 {
          let answer = client.ask(line).first ?? ""
          #expect(!answer.isEmpty && !answer.contains("rateLimited"), "\(limit) \(number): \(answer)")
        }
        let refused = client.ask(line).first
        #expect(Self.isRefusal(refused, limit, 2), "\(limit): \(refused ?? "")")
        #expect(refused?.contains("retryAfterSeconds") == true && refused?.contains("was not asked") == true)
        Self.expect(limit, value: 2, refused: 1, by: client)
      }
    }
  }

  @Test(arguments: [Limit.connectionSentCodes, .accountSentCodes, .providerSentCodes])
  func `where two codes may be sent the third login is refused and counted`(_ limit: Limit) async throws {
    try await OwnThread.run {
      let harness = try Self.harness(limit, 2) { $0.setWantsCode(true) }
      let client = try harness.connect()
      for _ in 1...2 { #expect(client.ask(Self.login("right")).first?.contains("otpRequired") == true) }
      let refused = client.ask(Self.login("right")).first
      #expect(Self.isRefusal(refused, limit, 2), "\(refused ?? "")")
      Self.expect(limit, value: 2, refused: 1, by: client)
    }
  }

  @Test(arguments: [Limit.connectionCodes, .providerCodes, .accountWrongCodes, .providerWrongCodes])
  func `where two codes may be tried the third is refused and counted`(_ limit: Limit) async throws {
    try await OwnThread.run {
      let harness = try Self.harness(limit, 2) { provider in
        provider.setWantsCode(true)
        provider.setWrongCode(.refused(.otpInvalid))
      }
      let client = try harness.connect()
      let answer = client.ask(Self.login("right")).first ?? ""
      let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
      let flow = try String(#require(parts.last?.split(separator: "\"").first))
      func check(_ code: String) -> String? {
        client.ask(Self.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)).first
      }
      for code in ["000001", "000002"] { #expect(check(code)?.contains("otpInvalid") == true) }
      let refused = check("000003")
      let isHardStop = limit.row.error == .tooManyAttempts
      if isHardStop {
        // It ends the login, as the last wrong code of one does; the next login is told of the limit.
        #expect(refused?.contains(#""kind":"tooManyAttempts""#) == true && refused?.contains("86400") == true)
        #expect(Self.isRefusal(client.ask(Self.login("right")).first, limit, 2))
      } else {
        #expect(Self.isRefusal(refused, limit, 2), "\(refused ?? "")")
      }
      Self.expect(limit, value: 2, refused: isHardStop ? 2 : 1, by: client)
      #expect(harness.provider.codes.count == 2)
    }
  }

  @Test func `a limit of calls that is configured anew holds at once`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.accountLogins, 2)
      let client = try harness.connect()
      for _ in 1...2 { #expect(client.ask(Self.login("wrong")).first?.contains("invalidCredentials") == true) }
      #expect(Self.isRefusal(client.ask(Self.login("wrong")).first, .accountLogins, 2))
      var limits = ServerHarness.patientLimits
      limits[.accountLogins] = 3
      harness.server.assumeIsolated { [limits] in $0.setLimits(limits) }
      #expect(client.ask(Self.login("wrong")).first?.contains("invalidCredentials") == true)
      #expect(Self.isRefusal(client.ask(Self.login("wrong")).first, .accountLogins, 3))
      Self.expect(.accountLogins, value: 3, refused: 2, by: client)
    }
  }

  @Test func `where two targets are configured the third is refused and counted`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness(.targets, 2) { $0.setTargetAnswer(.succeeds(lifetime: .seconds(900))) }
      let client = try harness.connect()
      _ = client.ask(Self.login("right"))
      func ask(_ audience: String) -> String? {
        client.ask(Self.call("getAccessToken", #"{"audience":"\#(audience)"}"#)).first
      }
      for audience in ["urn:a", "urn:b"] { #expect(ask(audience)?.contains("accessToken") == true) }
      #expect(Self.isRefusal(ask("urn:c"), .targets, 2))
      Self.expect(.targets, value: 2, refused: 1, by: client)
    }
  }

  @Test(arguments: [
    (Limit.loginsUnderWay, [login("one"), login("two")]), (.providerChecks, [probe, probe]),
    (
      .trials,
      [
        call("tryProvider", #"{"email":"a@example.test","password":"a"}"#),
        call("tryProvider", #"{"email":"b@example.test","password":"b"}"#),
      ]
    ),
  ])
  func `where one may be under way the second is refused and counted`(_ limit: Limit, _ lines: [String]) async throws {
    try await OwnThread.run {
      let harness = try Self.harness(limit, 1)
      let (client, other) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.call("ping"))
      harness.provider.hold()
      _ = client.ask(lines[0])
      let refused = other.ask(lines[1]).first
      #expect(Self.isRefusal(refused, limit, 1), "\(refused ?? "")")
      let used = limit.row.scope == .broker ? 1 : nil
      Self.expect(limit, value: 1, used: used, refused: 1, by: other)
      harness.provider.release()
      harness.settle()
    }
  }

  @Test func `where one request may wait for the vault's key the second is refused and counted`() async throws {
    try await OwnThread.run {
      let store = InMemoryStore()
      store.passphrase = ScriptedProvider.secret("right")
      let harness = try Self.harness(.keyAttempts, 1, store: store)
      let clients = try (0..<3).map { _ in try harness.connect() }
      _ = clients[0].ask(Self.call("lock"))
      let wrong = Self.call("unlock", #"{"passphrase":"wrong"}"#)
      // One is being tried, one waits.
      for client in clients.prefix(2) { #expect(client.ask(wrong).isEmpty) }
      let refused = clients[2].ask(wrong).first
      #expect(Self.isRefusal(refused, .keyAttempts, 1), "\(refused ?? "")")
      Self.expect(.keyAttempts, value: 1, used: 1, refused: 1, by: clients[2])
      harness.clock.advance(by: .seconds(60))
      harness.settle()
      Self.expect(.keyAttempts, value: 1, used: 0, refused: 1, by: clients[2])
    }
  }
}
