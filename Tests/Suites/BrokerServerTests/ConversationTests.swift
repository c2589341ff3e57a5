import BrokerServer
import TestSupport
import Testing

/// Requests and answers over a real socket pair.
@Suite(.standardTimeLimit) struct ConversationTests {
  private static let login =
    #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"email":"a@example.test","password":"right"}}"#

  @Test func `ping is answered with its id as it was written`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      for id in ["1", "\"a\"", "null", "1.50", "-0", "\"\\u0041\""] {
        #expect(
          client.ask(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#) == [
            #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#
          ]
        )
      }
    }
  }

  @Test func `a token is given after a login, and then from the cache`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let refused = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"#)
      #expect(refused.first?.contains(#""kind":"loginRequired""#) == true)
      #expect(client.ask(Self.login).first?.contains(#""status":"authenticated""#) == true)
      let first = client.ask(#"{"jsonrpc":"2.0","id":2,"method":"getAccessToken"}"#)
      #expect(
        first.first?.hasPrefix(#"{"jsonrpc":"2.0","id":2,"result":{"accessToken":"access-1","tokenType":"Bearer""#)
          == true)
      let second = client.ask(#"{"jsonrpc":"2.0","id":2,"method":"getAccessToken"}"#)
      #expect(first == second)
      #expect(harness.provider.spentTokens.isEmpty)
    }
  }

  @Test func `a subscriber gets its answer first, then events`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (watcher, client) = (try harness.connect(), try harness.connect())
      let answer = watcher.ask(#"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"#)
      #expect(answer.first?.contains(#""subscriptionId":"s1""#) == true)
      _ = client.ask(Self.login)
      _ = client.ask(#"{"jsonrpc":"2.0","id":3,"method":"getAccessToken","params":{"forceRefresh":true}}"#)
      let events = watcher.lines()
      #expect(events.count == 2)
      #expect(events.first?.contains(#""event":"login""#) == true)
      #expect(events.last?.contains(#""event":"tokenRefreshed""#) == true)
      #expect(events.allSatisfy { !$0.contains("access-") && !$0.contains("refresh-") })
    }
  }

  @Test func `a logout that is read before a token request is done before it`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(Self.login)
      _ = client.ask(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"#)
      let answers = client.ask(
        #"{"jsonrpc":"2.0","id":2,"method":"logout"}"# + "\n" + #"{"jsonrpc":"2.0","id":3,"method":"getAccessToken"}"#)
      #expect(answers.count == 2)
      #expect(answers.contains { $0.contains(#""id":3"#) && $0.contains("loginRequired") })
      #expect(answers.contains { $0.contains(#""serverRevoked":"yes""#) })
    }
  }

  @Test func `a cancelled request is answered once, and the refresh goes on`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      _ = client.ask(Self.login)
      harness.provider.hold()
      let force = #"{"jsonrpc":"2.0","id":9,"method":"getAccessToken","params":{"forceRefresh":true}}"#
      #expect(client.ask(force).isEmpty)
      let answers = client.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#)
      #expect(answers.count == 1)
      #expect(answers.first?.contains("-32800") == true)
      harness.provider.release()
      #expect(client.lines().isEmpty)
      #expect(harness.provider.spentTokens == ["refresh-1"])
      let after = client.ask(#"{"jsonrpc":"2.0","id":10,"method":"getAccessToken"}"#)
      #expect(after.first?.contains("access-2") == true, "\(after)")
    }
  }

  @Test func `a batch is answered as one array, and a batch of notifications not at all`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let one = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
      #expect(
        client.ask("[\(one),\(one)]").first
          == #"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]"#)
      #expect(client.ask(#"[{"jsonrpc":"2.0","method":"ping"}]"#).isEmpty)
      let mixed = client.ask("[1,\(one)]")
      #expect(mixed.first?.contains("-32600") == true)
      #expect(mixed.first?.contains(#""result":{}"#) == true)
    }
  }

  @Test func `after half of the connection is closed the answers still come`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
      client.finishSending()
      #expect(client.hasEnded)
      #expect(client.lines() == [#"{"jsonrpc":"2.0","id":1,"result":{}}"#])
    }
  }

  @Test func `both framings live side by side`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (lines, headers) = (try harness.connect(), try harness.connect())
      let body = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
      headers.send("Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      headers.read()
      #expect(
        String(decoding: headers.received, as: UTF8.self)
          == "Content-Length: 36\r\n\r\n" + #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
      #expect(lines.ask(body).count == 1)
    }
  }

  @Test func `a request cut at every byte is one request`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let line = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n"
      for cut in 1..<line.utf8.count {
        client.send(Array(line.utf8.prefix(cut)))
        #expect(client.lines().isEmpty)
        client.send(Array(line.utf8.dropFirst(cut)))
        #expect(client.lines().count == 1)
      }
    }
  }
}
