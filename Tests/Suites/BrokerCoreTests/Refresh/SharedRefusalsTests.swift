import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Refusals that several profiles of a provider get at the same time.
@Suite(.standardTimeLimit) struct SharedRefusalsTests {
  private static let binding = ProviderBinding(type: "oidc", issuer: "https://op.example.com", clientID: "a")

  private func name(_ text: String) throws -> ProfileName { try #require(ProfileName(text)) }

  @Test func `what one profile gets alone is its own`() throws {
    var refusals = SharedRefusals()
    for second in 0..<5 { #expect(!refusals.note(try name("a"), of: Self.binding, at: .seconds(second * 40))) }
  }

  @Test func `what another profile of the provider gets within two minutes is shared, whatever its client`() throws {
    var (refusals, other) = (SharedRefusals(), Self.binding)
    other.clientID = "b"
    #expect(!refusals.note(try name("a"), of: Self.binding, at: .seconds(0)))
    #expect(refusals.note(try name("b"), of: other, at: .seconds(119)))
    #expect(refusals.note(try name("a"), of: Self.binding, at: .seconds(150)))
    // The other one has been answered well meanwhile, or is not asked any more.
    #expect(!refusals.note(try name("a"), of: Self.binding, at: .seconds(239)))
  }

  @Test func `other providers do not matter`() throws {
    var (refusals, other) = (SharedRefusals(), Self.binding)
    other.issuer = "https://other.example.com"
    #expect(!refusals.note(try name("a"), of: Self.binding, at: .seconds(0)))
    #expect(!refusals.note(try name("b"), of: other, at: .seconds(1)))
  }
}
