import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

@Suite(.standardTimeLimit) struct ProviderConditionTests {
  @Test(
    arguments: [
      (nil, .accepting), (.transient(.networkUnavailable), nil), (.outcomeUnknown(.timeout), nil),
      (.transient(.tlsFailed), nil), (.credentialMissing(MissingCredential("x", "y")), nil), (.unsupported, nil),
      (.transient(.providerUnavailable, retryAfter: .seconds(9)), .reached), (.transient(.invalidResponse), .reached),
      (.outcomeUnknown(.providerUnavailable), .reached), (.refused(.rateLimited), .reached),
      (.refused(.invalidCredentials), .serving), (.sessionEnded(.refreshRejected), .serving),
      (.reauthenticationRequired, .serving), (.tokenRefused, .serving), (.misconfigured(.client), .serving),
    ] as [(ProviderFailure?, ProviderCondition?)])
  func `a call tells how well the provider is by how it failed`(
    _ failure: ProviderFailure?, _ condition: ProviderCondition?
  ) {
    #expect(ProviderCondition(failure) == condition)
  }

  @Test(
    arguments: [
      (.transient(.networkUnavailable), .reached), (.transient(.timeout), .reached), (.transient(.tlsFailed), .reached),
      (.transient(.providerUnavailable), .serving), (.transient(.rateLimited), .serving),
      (.transient(.invalidResponse), .serving), (.misconfigured(.client), .accepting),
      (.credentialMissing(MissingCredential("x", "y")), nil), (.transient(.overloaded), nil),
      (.transient(.providerUnavailable, retryAfter: .seconds(9)), nil),
    ] as [(ProviderFailure, ProviderCondition?)])
  func `a failure ends with a better condition than it shows itself`(
    _ failure: ProviderFailure, _ end: ProviderCondition?
  ) {
    #expect(failure.endsWith == end)
    if let end, let shown = ProviderCondition(failure) { #expect(shown < end) }
  }
}

@Suite(.standardTimeLimit) struct ProviderRestTests {
  private static let (mine, others) = (
    SlotID(profile: .default, number: 0), SlotID(profile: .default, number: 1)
  )

  /// States, events, and until when, in seconds, the profile that has failed and the others wait then.
  private static let table: [(String, [ProviderRest.Event], ProviderRest.Event, Int, Int)] = {
    let failed = ProviderRest.Event.failed(mine, retryAfter: nil, jitter: 1)
    let wished = ProviderRest.Event.failed(mine, retryAfter: .seconds(600), jitter: 1)
    return [
      ("well", [], .recovered, 0, 0), ("well", [], .asked(mine), 0, 0), ("well", [], failed, 0, 101),
      ("well", [], wished, 0, 700), ("well", [], .failed(mine, retryAfter: .seconds(86_400), jitter: 0), 0, 3700),
      ("failed", [failed], .recovered, 0, 0), ("failed", [failed], failed, 0, 102),
      ("failed", [failed], .asked(mine), 0, 125), ("failed", [failed], .asked(others), 125, 0),
      ("failed", [failed], .failed(others, retryAfter: nil, jitter: 1), 102, 0),
      ("failed", [failed], wished, 0, 700),
      ("failed often", Array(repeating: failed, count: 9), failed, 0, 130),
      ("failed often", Array(repeating: failed, count: 9), .asked(others), 125, 0),
      ("failed often", Array(repeating: failed, count: 9), .recovered, 0, 0),
    ]
  }()

  @Test(arguments: table.indices) func `one profile at a time asks a provider that is not well`(_ row: Int) {
    let (_, before, event, mine, others) = Self.table[row]
    var rest = ProviderRest()
    for event in before + [event] { rest.handle(event, at: .seconds(100)) }
    #expect(rest.end(for: Self.mine) == .seconds(mine))
    #expect(rest.end(for: Self.others) == .seconds(others))
  }
}
