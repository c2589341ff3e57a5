import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Logins on their way to the store, as a value.
@Suite(.standardTimeLimit) struct LoginsBeingSavedTests {
  private func login(_ generation: UInt64) -> TokensBeingSaved {
    let start = SessionScript.start
    let session = LivingSession(
      tokens: ScriptedProvider.tokens(Int(generation), now: start.wall), user: nil, authTime: start.wall,
      issuedAt: start.wall, lastValidatedAt: start.wall)
    return TokensBeingSaved(session: session, generation: generation, since: start)
  }

  private func logins(_ generations: UInt64...) -> LoginsBeingSaved {
    var logins = LoginsBeingSaved()
    for generation in generations { logins.begin(login(generation)) }
    return logins
  }

  @Test func `the last login that has begun is the newest, and those before it are earlier ones`() {
    let logins = logins(1, 2, 3)
    #expect(logins.newest?.generation == 3 && logins.earlier.map(\.generation) == [1, 2])
    #expect(logins.tokens.count == 3)
    #expect(logins.contains(1) && logins.contains(3) && !logins.contains(4))
  }

  @Test func `each login is taken once, by the generation of its record`() {
    var logins = logins(1, 2)
    #expect(logins.take(9) == nil)
    #expect(logins.take(1)?.isNewest == false)
    #expect(logins.take(2)?.isNewest == true)
    #expect(logins.take(2) == nil && logins.newest == nil && logins.earlier.isEmpty)
  }

  @Test func `a refused login counts until a later record is durable, also where the others are dropped`() {
    var logins = logins(1, 2)
    _ = logins.take(1)
    logins.noteRefused(1)
    logins.drop()
    #expect(logins.newest == nil && logins.refused == 1)
    logins.noteSaved(1)
    #expect(logins.refused == 1)
    logins.noteSaved(2)
    #expect(logins.refused == nil)
  }
}
