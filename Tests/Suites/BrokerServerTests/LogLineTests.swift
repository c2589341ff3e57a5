import BrokerCore
import BrokerProtocol
import Logging
import Synchronization
import TestSupport
import Testing

/// What the log says at its usual level of what happens to sessions, and of calls that fail.
@Suite(.standardTimeLimit) struct LogLineTests {
  /// The lines of a log.
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var log: Logger {
      Logger(level: .info) { [self] line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    }

    /// Those with a word in them, since the last time.
    func take(with word: String) -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines.filter { $0.contains(word) }
      }
    }
  }

  @Test func `sessions that begin and end, and a vault that is locked, have a line each`() async throws {
    try await OwnThread.run {
      let lines = Lines()
      let harness = try ServerHarness(log: lines.log)
      let client = try harness.connect()
      let call = { (method: String, params: String) in _ = client.ask(LoginStage.line(method, params)) }
      call("login", LoginStage.credentials)
      #expect(lines.take(with: " info: a session began profile=default method=password").count == 1)
      call("getAccessToken", "{}")
      #expect(lines.take(with: "").isEmpty)
      call("logout", "{}")
      #expect(lines.take(with: " info: a session was signed out profile=default reason=user").count == 1)
      call("login", LoginStage.credentials)
      _ = lines.take(with: "")
      let word = ProviderLastWord(status: 400, error: "invalid_grant")
      harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected, said: word)))
      call("getAccessToken", #"{"forceRefresh":true}"#)
      let end = " info: a session ended profile=default reason=refreshRejected status=400 error=invalid_grant"
      #expect(lines.take(with: end).count == 1)
      call("lock", "{}")
      #expect(lines.take(with: " info: the vault was locked").count == 1)
      call("unlock", "{}")
      #expect(lines.take(with: " info: the vault was unlocked").count == 1)
    }
  }

  @Test(arguments: [
    ("getAccessToken", "{}", "loginRequired"), ("getAccessToken", #"{"profile":"nobody"}"#, "unknownProfile"),
    ("login", #"{"email":"a@example.test","password":"wrong"}"#, "invalidCredentials"),
    ("getCurrentUser", #"{"maxAgeSeconds":"x"}"#, "invalidParams"),
  ])
  func `the name of an error leads to its line`(_ method: String, _ params: String, _ kind: String) async throws {
    try await OwnThread.run {
      let lines = Lines()
      let client = try ServerHarness(log: lines.log).connect()
      let answer = client.ask(LoginStage.line(method, params)).first ?? ""
      let id = try #require(answer.split(separator: #""correlationId":""#).last?.split(separator: "\"").first)
      let line = lines.take(with: "call failed method=\(method) kind=\(kind) ").first
      #expect(line?.contains("correlationId=\(id)") == true)
    }
  }

  @Test func `a client that asks what it must prove has failed in nothing, one that cannot prove it has a line`()
    async throws
  {
    try await OwnThread.run {
      let lines = Lines()
      let client = try ServerHarness(log: lines.log).connect()
      #expect(client.askBare(ProofGiving.request).first?.contains("accessDenied") == true)
      #expect(lines.take(with: "").isEmpty)
      #expect(client.askBare(ProofGiving.request).first?.contains("accessDenied") == true)
      #expect(lines.take(with: "a call failed method=prove kind=accessDenied").count == 1)
      client.prove()
      #expect(client.askBare(ProofGiving.request).first?.contains(#""result":{}"#) == true)
    }
  }

  @Test func `a login's code is in no line, whoever is told it`() async throws {
    try await OwnThread.run {
      let lines = Lines()
      let harness = try ServerHarness(log: lines.log) { $0.setLoginMethods([.deviceCode]) }
      let client = try harness.connect()
      client.prove()
      _ = client.ask(LoginStage.line("login", #"{"method":"deviceCode"}"#))
      _ = lines.take(with: "")
      let change = #"{"oldPassword":"right","newPassword":"other"}"#
      #expect(client.ask(LoginStage.line("changePassword", change)).first?.contains("AB-CD") == true)
      let written = lines.take(with: "")
      #expect(written.count == 1 && !written[0].contains("AB-CD") && written[0].contains("waiting"), "\(written)")
    }
  }

  @Test func `a program that fails in a loop keeps no person's line out`() async throws {
    try await OwnThread.run {
      let lines = Lines()
      let client = try ServerHarness(log: lines.log).connect()
      for _ in 0..<200 { _ = client.ask(LoginStage.line("getAccessToken")) }
      #expect((1...60).contains(lines.take(with: "call failed").count))
      _ = client.ask(LoginStage.line("login", #"{"email":"a@example.test","password":"wrong"}"#))
      #expect(lines.take(with: "kind=invalidCredentials").count == 1)
    }
  }
}
