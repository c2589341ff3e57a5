import BrokerCore
import BrokerProtocol
import Glibc
import JSON
import LinuxSystem
import Sealing
import TestSupport
import Testing
import Vault

extension AttackTests {
  /// What takes long for one client, beside what others need.
  @Suite(.standardTimeLimit, .serialized) struct ContentionTests {
    @Test func `forty replays at once hold up neither a login nor a refresh`() async throws {
      try await Sandbox.run { sandbox in
        try Self.fillHistory(sandbox.state)
        let stage = try AttackStage(sandbox)
        let kept = try SocketWire(sandbox.socket).call("subscribe", #"{"since":0}"#)
        #expect(try kept["resync"]?.bool() != true, "the history is there to be replayed")
        var flood = Flood("replays", #""method":"subscribe","params":{"since":0}"#)
        flood.connections = 40
        flood.reconnects = true
        let tide = Flood.Tide(flood, on: sandbox.socket)
        var times: [Duration] = []
        var kinds: [String?] = []
        for _ in 0..<3 {
          let start = BootClock.now
          kinds.append(try SocketWire(sandbox.socket).refusal("login", AttackStage.credentials))
          kinds.append(try stage.refresh())
          times.append(BootClock.now - start)
        }
        #expect(tide.end() > 0)
        print("a login and a refresh beside forty replays: \(times)")
        #expect(kinds.allSatisfy { $0 == nil }, "\(kinds)")
        // A tenth of what a caller waits for a token at most.
        #expect(times.allSatisfy { $0 < .milliseconds(2500) }, "\(times)")
        try stage.expectNothingLost()
      }
    }

    /// Nearly as many events as a vault keeps: what comes during the test pushes none of them out.
    private static let eventCount: UInt64 = 9_000

    /// Makes a vault with these events.
    private static func fillHistory(_ state: String) throws {
      let now = Timestamp(milliseconds: WallClock.milliseconds)
      guard mkdir(state, 0o700) == 0 else { throw Errno(code: errno) }
      try TaskResult.waiting {
        try Sealing.initialize()
        let vault = try await Vault.open(
          path: state + "/vault.sqlite", settings: KeySourceSettings(keyFilePath: state + "/vault.key"))
        try await vault.unlock(nil)
        try await vault.reserveSequences(through: eventCount)
        for start in stride(from: 1, through: eventCount, by: 500) {
          try await vault.commit(
            (start..<(start + 500)).map { number in
              let payload = EventPayload.login(LoginEvent(userID: "user-\(number)", method: "password"))
              return .event(BrokerEvent(sequence: number, profile: .default, time: now, payload: payload))
            })
        }
        try await vault.close()
      }
    }

    @Test func `wrong passphrases of others do not keep the owner out`() async throws {
      try await Sandbox.run { sandbox in
        let arguments = try sandbox.configure(#"{ vault: { keySource: "passphrase" } }"#)
        let owner = try sandbox.owner(arguments)
        let right = #"{"passphrase":"correct horse battery"}"#
        _ = try SocketWire(sandbox.socket).call("unlock", right)
        try SocketWire(sandbox.socket).register()
        try owner.send(.terminate)
        #expect(try owner.wait(within: AttackStage.patience) == 0)
        let next = try sandbox.owner(arguments)
        var flood = Flood("wrong passphrases", #""method":"unlock","params":{"passphrase":"not the right one"}"#)
        flood.connections = 3
        let tide = Flood.Tide(flood, on: sandbox.socket)
        let wire = try SocketWire(sandbox.socket)
        let start = BootClock.now
        var kinds: [String] = []
        while let kind = try wire.refusal("unlock", right), BootClock.now - start < .seconds(60) { kinds.append(kind) }
        let time = BootClock.now - start
        _ = tide.end()
        print("the owner's passphrase was taken after \(time) and \(kinds.count) refusals")
        #expect(time < AttackStage.patience, "\(kinds.suffix(5))")
        #expect(try !SocketWire(sandbox.socket).accessToken().isEmpty)
        try next.send(.terminate)
      }
    }
  }
}
