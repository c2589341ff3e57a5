import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What a principal is shown of the profiles.
@Suite(.standardTimeLimit) struct ViewTests {
  private static func view(_ configured: [String], _ visible: [String]?, isAdministrative: Bool = false) -> View {
    let clock = ManualClock()
    let provider = ScriptedProvider(clock: clock, gate: GateExecutor { _ in })
    let settings = configured.compactMap { ProfileName($0) }.map { ProfileSettings(name: $0, provider: provider) }
    let permissions = visible.map { Permissions(only: $0.compactMap { ProfileName($0) }) } ?? .all
    let principal = Principal(
      client: ClientID(1), process: nil, permissions, isAdministrative: isAdministrative)
    return View(of: principal, Profiles(settings) { Broker.machine(for: $0, SimulatedEntropy(seed: 1)) })
  }

  private static func error(_ body: () throws(BrokerError) -> Void) -> BrokerError? {
    do throws(BrokerError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  private static let work = ProfileName("work")

  @Test func `it has the configured profiles that are visible, in the order of the configuration`() {
    let configured = ["a", "shop", "work", "default"]
    #expect(Self.view(configured, nil).slots.map(\.name.description) == configured)
    #expect(Self.view(configured, ["work", "gone", "a"]).slots.map(\.name.description) == ["a", "work"])
    #expect(Self.view(configured, []).slots.isEmpty)
    #expect(Self.view(configured, ["a"], isAdministrative: true).slots.map(\.name.description) == configured)
  }

  @Test func `a hidden profile has the error of one that does not exist, which names those that are visible`() throws {
    let work = try #require(Self.work)
    let hidden = Self.error { () throws(BrokerError) in
      _ = try Self.view(["a", "shop", "work"], ["a", "shop"]).slot(for: work)
    }
    let absent = Self.error { () throws(BrokerError) in _ = try Self.view(["a", "shop"], nil).slot(for: work) }
    #expect(hidden == absent && hidden?.message.hasSuffix("it has a, shop.") == true)
    let none = Self.error { () throws(BrokerError) in _ = try Self.view(["a", "work"], []).slot(for: work) }
    #expect(none?.message == "There is no profile work in the configuration.")
  }

  @Test func `a request without a name is refused in the words of what is visible`() {
    let words: ([String]?) -> String? = { visible in
      Self.error { () throws(BrokerError) in _ = try Self.view(["a", "b", "work"], visible).slot(for: nil) }?.message
    }
    #expect(words(["a", "work"])?.contains("(a, work)") == true && words(["b"]) == nil)
    #expect(words([]) == "No profile is configured.")
  }
}
