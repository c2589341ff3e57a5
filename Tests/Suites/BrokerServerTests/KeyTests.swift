import BrokerCore
import BrokerProtocol
import BrokerServer
import SecretMemory
import TestSupport
import Testing

/// How keys are tried: one at a time, wrong ones later and later.
@Suite(.standardTimeLimit) struct KeyTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let done = #"{"jsonrpc":"2.0","id":9,"result":{}}"#
  private static let right = call("unlock", #"{"passphrase":"right"}"#)
  private static let wrong = call("unlock", #"{"passphrase":"wrong"}"#)

  private static func locked() throws -> (ServerHarness, TestClient) {
    let store = InMemoryStore()
    store.passphrase = ScriptedProvider.secret("right")
    let harness = try ServerHarness(store: store)
    let client = try harness.connect()
    _ = client.ask(call("lock"))
    return (harness, client)
  }

  @Test func `the answer to a wrong passphrase is kept back, each time longer`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      for wait in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
        #expect(client.ask(Self.wrong).isEmpty)
        harness.clock.advance(by: .milliseconds(wait - 1))
        #expect(client.lines().isEmpty, "\(wait)")
        harness.clock.advance(by: .milliseconds(1))
        #expect(client.lines().first?.contains(#""kind":"wrongPassphrase""#) == true, "\(wait)")
      }
      #expect(client.ask(Self.right) == [Self.done])
      _ = client.ask(Self.call("lock"))
      _ = client.ask(Self.wrong)
      harness.clock.advance(by: .milliseconds(100))
      #expect(client.lines().count == 1)
    }
  }

  @Test func `attempts are tried one at a time, and one of each connection waits`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      for _ in 0..<2 { #expect(client.ask(Self.wrong).isEmpty) }
      #expect(harness.store.tries == 1)
      #expect(client.ask(Self.wrong).first?.contains("overloaded") == true)
      harness.clock.advance(by: .milliseconds(100))
      #expect(client.lines().count == 1)
      #expect(harness.store.tries == 2)
    }
  }

  @Test func `wrong passphrases of three connections do not keep the right one out`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      let others = try (0..<3).map { _ in try harness.connect() }
      func flood() { for other in others { for _ in 0..<5 { _ = other.ask(Self.wrong) } } }
      for _ in 0..<4 {
        flood()
        harness.clock.advance(by: .seconds(10))
      }
      flood()
      let tries = harness.store.tries
      #expect(client.ask(Self.right).isEmpty)
      // The one that is being tried, and then the right one: those that wait have guessed before.
      harness.clock.advance(by: .seconds(10))
      #expect(client.lines() == [Self.done])
      #expect(harness.store.tries == tries + 1)
    }
  }

  @Test func `a connection that is closed does not cost the others its turn`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      let first = try harness.connect()
      let second = try harness.connect()
      _ = first.ask(Self.wrong)
      _ = second.ask(Self.wrong)
      second.close()
      harness.settle()
      #expect(client.ask(Self.right).isEmpty)
      harness.clock.advance(by: .milliseconds(100))
      #expect(client.lines() == [Self.done] && harness.store.tries == 2)
    }
  }

  @Test func `where too many wait, a connection that has guessed makes room for one that has not`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      let others = try (0..<66).map { _ in try harness.connect() }
      for other in others {
        _ = other.ask(Self.wrong)
        harness.clock.advance(by: .seconds(10))
        #expect(other.lines().count == 1)
      }
      for other in others.prefix(65) { #expect(other.ask(Self.wrong).isEmpty) }
      #expect(others[65].ask(Self.wrong).first?.contains("overloaded") == true)
      #expect(client.ask(Self.right).isEmpty)
      #expect(others.prefix(65).count { $0.lines().first?.contains("overloaded") == true } == 1)
      harness.clock.advance(by: .seconds(10))
      #expect(client.lines() == [Self.done])
    }
  }

  @Test(arguments: [1, 65])
  func `programs that connect again for each guess do not keep the right passphrase out`(_ processes: Int)
    async throws
  {
    try await OwnThread.run {
      let (harness, _) = try Self.locked()
      func guess(_ index: Int) throws -> TestClient {
        let guesser = try harness.connect(process: Int32(1 + index % processes))
        guesser.send(Self.wrong + "\n")
        return guesser
      }
      // One is being tried, and as many wait as may.
      var guessers = try (0..<65).map(guess)
      for _ in 0..<processes {
        harness.clock.advance(by: .seconds(10))
        harness.settle()
        for index in guessers.indices {
          guessers[index].pull()
          guard !guessers[index].received.isEmpty else { continue }
          guessers[index].close()
          guessers[index] = try guess(index)
        }
      }
      let owner = try harness.connect(process: 1000)
      #expect(owner.ask(Self.right).isEmpty)
      let tries = harness.store.tries
      harness.clock.advance(by: .seconds(10))
      #expect(owner.lines() == [Self.done])
      #expect(harness.store.tries == tries + 1)
    }
  }

  @Test func `a restart does not end the delay`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      for _ in 0..<5 {
        _ = client.ask(Self.wrong)
        harness.clock.advance(by: .seconds(2))
        #expect(client.lines().count == 1)
      }
      _ = client.ask(Self.wrong)
      // The answer would come after 3.2 s; the broker is ended before.
      let restarted = try ServerHarness(store: harness.store, clock: harness.clock)
      let again = try restarted.connect()
      let tries = harness.store.tries
      #expect(again.ask(Self.right).isEmpty && harness.store.tries == tries)
      restarted.clock.advance(by: .milliseconds(3199))
      #expect(again.lines().isEmpty)
      restarted.clock.advance(by: .milliseconds(1))
      #expect(again.lines() == [Self.done])
      #expect(harness.store.statusNow.passphraseFailures == .none)
    }
  }

  @Test func `rekey shares the delay of unlock`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      _ = client.ask(Self.right)
      let rekey = Self.call("rekey", #"{"passphrase":"wrong","newPassphrase":"other"}"#)
      for wait in [100, 200] {
        #expect(client.ask(rekey).isEmpty)
        harness.clock.advance(by: .milliseconds(wait))
        #expect(client.lines().first?.contains("wrongPassphrase") == true)
      }
      #expect(client.ask(Self.call("rekey", #"{"passphrase":"right","newPassphrase":"other"}"#)) == [Self.done])
      #expect(harness.store.passphrase == ScriptedProvider.secret("other"))
      #expect(client.ask(Self.call("rekey", #"{"keySource":"file","passphrase":"other"}"#)) == [Self.done])
      #expect(client.ask(Self.call("getStatus")).first?.contains(#""keySource":"file""#) == true)
    }
  }

  @Test func `a client learns what to do about each failure`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      let missing = client.ask(Self.call("unlock")).first ?? ""
      #expect(missing.contains(#""pointer":"/passphrase""#) && missing.contains(#""nextAction":"unlock""#))
      let table: [(KeyFailure, String, String?)] = [
        (.sourceUnavailable("The file is gone; put it back."), "keySourceUnavailable", "The file is gone"),
        (.passphraseUnsuitable("It is empty."), "invalidParams", #""pointer":"/passphrase""#),
        (.store(.tampered(profile: nil)), "vaultTampered", nil), (.store(.failed(context: "x")), "storeFailed", nil),
      ]
      for (failure, kind, text) in table {
        harness.store.keyFailure = failure
        let answer = client.ask(Self.right).first ?? ""
        #expect(answer.contains(#""kind":"\#(kind)""#) && answer.contains(text ?? ""), "\(answer)")
      }
      harness.store.keyFailure = nil
      #expect(client.ask(Self.right) == [Self.done])
      harness.store.keyFailure = .passphraseUnsuitable("It is empty.")
      let unsuitable = client.ask(Self.call("rekey", #"{"newPassphrase":""}"#)).first ?? ""
      #expect(unsuitable.contains(#""pointer":"/newPassphrase""#))
    }
  }

  @Test func `a passphrase that rekey misses is the new one where there is no present one`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.store.keyFailure = .passphraseMissing
      let answer = client.ask(Self.call("rekey", #"{"keySource":"passphrase"}"#)).first ?? ""
      #expect(answer.contains(#""pointer":"/newPassphrase""#) && !answer.contains("unlock"), "\(answer)")
      #expect(answer.contains("pass it as /newPassphrase"))
    }
  }

  @Test func `a lock that is asked for while a key is tried is done after it`() async throws {
    try await OwnThread.run {
      let (harness, client) = try Self.locked()
      _ = client.ask(Self.wrong)
      #expect(client.ask(Self.call("lock", "{}", 8)).first?.contains(#""id":8,"result":{}"#) == true)
      client.send(Self.call("unlock", #"{"passphrase":"right"}"#, 7) + "\n" + Self.call("lock", "{}", 6) + "\n")
      harness.clock.advance(by: .milliseconds(100))
      #expect(client.lines().count == 3)
      #expect(client.ask(Self.call("getStatus")).first?.contains(#""locked":"#) == true)
    }
  }

  @Test func `a check tells what was found`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      #expect(
        client.ask(Self.call("checkVault")) == [#"{"jsonrpc":"2.0","id":9,"result":{"ok":true,"findings":[]}}"#])
      harness.store.findings = [VaultFinding(.tampered, isError: true, "Log in again.", profile: .default)]
      let answer = client.ask(Self.call("checkVault", #"{"full":true}"#)).first ?? ""
      #expect(answer.contains(#""ok":false"#) && answer.contains(#""kind":"tampered","severity":"error""#))
    }
  }
}
