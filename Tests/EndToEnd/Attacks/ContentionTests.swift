import Glibc
import LinuxSystem
import Sealing
import TestSupport
import Testing

extension AttackTests {
  /// What takes long for one client, beside what others need.
  @Suite(.standardTimeLimit, .serialized) struct ContentionTests {
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
        var (kinds, time) = ([String](), Duration.zero)
        let memory = Measurement.usualMemory + Argon2Cost.passphrase.memoryKiB
        let measurement = try Measurement.take(
          flood.name, of: next.pid, on: sandbox.socket, asking: "ping", memory: memory
        ) {
          let tide = Flood.Tide(flood, on: sandbox.socket)
          let wire = try SocketWire(sandbox.socket)
          let start = BootClock.now
          while let kind = try wire.refusal("unlock", right), BootClock.now - start < .seconds(60) {
            kinds.append(kind)
          }
          time = BootClock.now - start
          return tide.end().sent
        }
        print("the owner's passphrase was taken after \(time) and \(kinds.count) refusals")
        #expect(time < AttackStage.patience, "\(kinds.suffix(5))")
        #expect(try !SocketWire(sandbox.socket).accessToken().isEmpty)
        Measurement.expectGood([measurement])
        try next.send(.terminate)
      }
    }
  }
}
