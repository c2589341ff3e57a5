import BrokerCore
import BrokerProtocol
import TestSupport
import Testing
import Transport

/// The places that `getStatus` tells: the addresses of providers, and the file in which the tokens rest.
@Suite(.standardTimeLimit) struct StatusPlacesTests {
  private static let file = #""path":"/state/vault.sqlite""#

  /// A stage whose profile has a provider with this issuer.
  private static func stage(_ issuer: String) throws -> ParkedStage {
    let stage = try ParkedStage()
    let loop = stage.harness.loop
    stage.configure(
      ScriptedProvider(clock: stage.harness.clock, gate: GateExecutor { loop.post($0) }, issuer: issuer))
    return stage
  }

  @Test(arguments: ["", " token=https://b.example/t revocation=https://c.example"])
  func `the address of a profile's provider is told, without the endpoints beside it`(_ endpoints: String) async throws
  {
    try await OwnThread.run {
      let status = try Self.stage("https://a.example/realms/x" + endpoints).call("getStatus")
      let addresses = #""addresses":[{"profile":"default","address":"https://a.example/realms/x"}]"#
      #expect(status.contains(addresses), "\(status)")
    }
  }

  @Test func `a provider without an address has none, and the vault has its file`() async throws {
    try await OwnThread.run {
      let status = try Self.stage("").call("getStatus")
      #expect(status.contains(#""addresses":[]"#) && status.contains(Self.file), "\(status)")
    }
  }

  @Test func `the file is not for a client to which profiles are hidden`() async throws {
    try await OwnThread.run {
      let stage = try HiddenProfileStage(isBusy: true)
      #expect(stage.act("getStatus", "{}").contains(Self.file))
      #expect(stage.ask("getStatus").allSatisfy { !$0.contains("vault.sqlite") && $0.contains("schemaVersion") })
    }
  }
}
