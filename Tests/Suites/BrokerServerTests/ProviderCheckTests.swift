import BrokerCore
import BrokerProtocol
import BrokerServer
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Whether providers can be reached, as a client asks the broker.
@Suite(.standardTimeLimit) struct ProviderCheckTests {
  private static func call(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static let check = call("checkProviders")
  private static let place = ProviderProbe.Place(host: "api.example.test:8443", usesTLS: true)

  private static func result(_ members: String, profile: String = "default") -> String {
    #"{"jsonrpc":"2.0","id":9,"result":{"providers":[{"profile":"\#(profile)","provider":"scripted",\#(members)}]}}"#
  }

  private static let answered = #""reachable":true,"host":"api.example.test:8443","tls":true,"status":"#
  private static let failed = #""reachable":false,"host":"api.example.test:8443","tls":true,"errorKind":"#

  private static let elsewhere: ProviderProbe = {
    var probe = ProviderProbe(place, .answered(status: 200, roundTrip: .zero, clockSkew: .seconds(31)))
    probe.fault = .issuer
    return probe
  }()

  private static let outcomes: [(ProviderProbe, String)] = [
    (.nothingToReach, #""reachable":true,"message":"It is part of the broker: nothing to reach.""#),
    (
      ProviderProbe(place, .answered(status: 401, roundTrip: .milliseconds(84), clockSkew: .seconds(-30))),
      answered + #"401,"roundTripSeconds":0.084,"clockSkewSeconds":-30,"message":"It answers.""#
    ),
    (
      ProviderProbe(place, .answered(status: 200, roundTrip: .zero, clockSkew: .seconds(31))),
      answered + #"200,"roundTripSeconds":0,"clockSkewSeconds":31,"#
        + #""message":"It answers, and its clock is 31 s ahead of this machine's; set the clock.""#
    ),
    (
      ProviderProbe(place, .answered(status: 503, roundTrip: .zero, clockSkew: nil)),
      answered + #"503,"roundTripSeconds":0,"#
        + #""message":"It is unavailable (status 503); wait, or ask its operator.""#
    ),
    (
      elsewhere,
      answered + #"200,"roundTripSeconds":0,"clockSkewSeconds":31,"errorKind":"configInvalid","message":"#
        + "\"\(ConfigurationFault.issuer.message)\""
    ),
    (
      ProviderProbe(place, .failed(.transient(.tlsPinMismatch), advice: "Do this.")),
      failed + #""tlsPinMismatch","message":"Do this.""#
    ),
    (
      ProviderProbe(place, .failed(.outcomeUnknown(.timeout), advice: "Do that.")),
      failed + #""timeout","message":"Do that.""#
    ),
  ]

  @Test(arguments: outcomes.indices)
  func `what a probe finds is told, with what to do`(_ number: Int) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (probe, members) = Self.outcomes[number]
      harness.provider.setProbe(probe)
      #expect(try harness.connect().ask(Self.check) == [Self.result(members)])
    }
  }

  @Test func `every profile is told of in the order of the configuration, or the one that was named`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["work", "default", "a"])
      let client = try harness.connect()
      let all = client.ask(Self.check).first ?? ""
      let names = all.split(separator: "\"profile\":\"").dropFirst().map { $0.prefix { $0 != "\"" } }
      #expect(names == ["work", "default", "a"])
      let one = client.ask(Self.call("checkProviders", #"{"profile":"a"}"#))
      #expect(one == [Self.result(Self.outcomes[0].1, profile: "a")])
      let none = client.ask(Self.call("checkProviders", #"{"profile":"b"}"#)).first
      #expect(none?.contains(#""kind":"unknownProfile""#) == true)
    }
  }

  @Test func `neither a locked vault nor locking it stands in the way`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let (client, other) = (try harness.connect(), try harness.connect())
      harness.provider.hold()
      #expect(client.ask(Self.check).isEmpty)
      #expect(other.ask(Self.call("lock")) == [#"{"jsonrpc":"2.0","id":9,"result":{}}"#])
      #expect(harness.store.isLocked)
      harness.provider.release()
      #expect(client.lines() == [Self.result(Self.outcomes[0].1)])
      #expect(client.ask(Self.check) == [Self.result(Self.outcomes[0].1)])
    }
  }

  @Test func `all providers are asked at once, and nobody else waits for them`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["a", "b", "c"])
      let (client, other) = (try harness.connect(), try harness.connect())
      harness.provider.hold()
      #expect(client.ask(Self.check).isEmpty)
      Self.wait(for: 3, harness)
      #expect(harness.provider.waitingCalls == 3)
      #expect(other.ask(Self.call("ping")).count == 1)
      #expect(client.ask(Self.call("ping", "{}", 8)).count == 1)
      harness.provider.release()
      #expect(client.lines().count == 1)
    }
  }

  @Test func `more checks than four at a time are refused`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      for _ in 0..<4 { #expect(client.ask(Self.check).isEmpty) }
      #expect(client.ask(Self.check).first?.contains(#""kind":"overloaded""#) == true)
      harness.provider.release()
      #expect(client.lines().count == 4)
      #expect(client.ask(Self.check).first?.contains("result") == true)
    }
  }

  @Test func `a check that is taken back is answered so, once`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      harness.provider.hold()
      #expect(client.ask(Self.check).isEmpty)
      let cancelled = client.ask(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#)
      #expect(cancelled.count == 1 && cancelled.first?.contains("-32800") == true)
      harness.provider.release()
      #expect(client.lines().isEmpty)
    }
  }

  /// Calls come to the provider by way of other threads.
  private static func wait(for calls: Int, _ harness: ServerHarness) {
    // They queue behind all tests that were begun, as in `settle`.
    let deadline = Patience.end
    while harness.provider.waitingCalls < calls, BootClock.now < deadline {
      harness.settle()
      usleep(100)
    }
  }
}
