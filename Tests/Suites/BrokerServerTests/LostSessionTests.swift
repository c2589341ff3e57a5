import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What is said of a session that a lost reply has ended, where a user would look for a mistake of their own.
@Suite(.standardTimeLimit) struct LostSessionTests {
  private static let login = call("login", #"{"email":"a@example.test","password":"right"}"#)
  private static let sentence =
    "The reply to a refresh was lost before its tokens were saved, and the provider does not"

  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  /// Where a client is told of it: in the session, and instead of a token.
  private func expectSentences(_ client: TestClient) {
    let session = client.ask(Self.call("getSession")).first ?? ""
    #expect(session.contains(#""loginRequiredReason":"refreshOutcomeUnknown""#), "\(session)")
    #expect(session.contains(#""loginRequiredMessage":"\#(Self.sentence)"#), "\(session)")
    let refusal = client.ask(Self.call("getAccessToken")).first ?? ""
    #expect(refusal.contains(#""kind":"sessionExpired""#), "\(refusal)")
    #expect(refusal.contains(#""message":"\#(Self.sentence)"#) && refusal.contains("Log in again."), "\(refusal)")
  }

  @Test func `where a token's fate is unknown, only a report about the current access token spends it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.setRefresh(.fails(.outcomeUnknown(.timeout)))
      _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
      #expect(harness.provider.spentTokens == ["refresh-1"])
      for params in [
        #"{"accessToken":"access-0"}"#, #"{"tokenId":"id-0"}"#, #"{"accessToken":"access-1","status":403}"#,
      ] {
        #expect(client.ask(Self.call("reportRejected", params)).first?.contains("access-1") == true)
      }
      #expect(harness.provider.spentTokens == ["refresh-1"])
      // It counts as ended; what is not answered is asked again with pauses, however often it is reported.
      for _ in 0..<20 { _ = client.ask(Self.call("reportRejected", #"{"tokenId":"id-1"}"#)) }
      #expect(harness.provider.spentTokens == ["refresh-1", "refresh-1"])
    }
  }

  @Test func `everyone is told in a sentence that a reply was lost, after a restart too`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let first = try ServerHarness(store: store, clock: clock)
      let (client, watcher) = (try first.connect(), try first.connect())
      _ = client.ask(Self.login)
      _ = watcher.ask(Self.call("subscribe"))
      first.provider.setRefresh(.fails(.outcomeUnknown(.timeout)))
      let lost = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#)).first
      #expect(lost?.contains(#""kind":"refreshOutcomeUnknown""#) == true)
      first.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      // The access token has had its time, so that the spent refresh token is tried once more for whoever asks.
      clock.advance(by: .seconds(901))
      _ = client.ask(Self.call("getAccessToken"))
      expectSentences(client)
      let event = watcher.lines().first { $0.contains(#""event":"sessionExpired""#) } ?? ""
      #expect(event.contains(#""reason":"refreshOutcomeUnknown""#), "\(event)")
      #expect(event.contains(#""message":"\#(Self.sentence)"#), "\(event)")
      expectSentences(try ServerHarness(store: store, clock: clock).connect())
    }
  }

  @Test func `where the reason says it all there is no sentence beside it`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, watcher) = (try harness.connect(), try harness.connect())
      _ = client.ask(Self.login)
      _ = watcher.ask(Self.call("subscribe"))
      harness.provider.setRefresh(.fails(.sessionEnded(.refreshRejected)))
      _ = client.ask(Self.call("getAccessToken", #"{"forceRefresh":true}"#))
      let event = watcher.lines().first { $0.contains(#""event":"sessionExpired""#) } ?? ""
      #expect(event.contains(#""reason":"refreshRejected""#) && !event.contains(#""message""#), "\(event)")
      let session = client.ask(Self.call("getSession")).first ?? ""
      #expect(session.contains(#""loginRequiredReason":"refreshRejected""#), "\(session)")
      #expect(!session.contains("loginRequiredMessage"), "\(session)")
    }
  }
}
