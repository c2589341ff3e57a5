import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Who may change what an account could be taken over with, and whose session a proof must bring.
@Suite(.standardTimeLimit) struct RecentProofTests {
  private static func changes(_ names: String...) -> ProfileChanges {
    ProfileChanges(names.map { .init(name: $0, value: RawJSON(text: Array("true".utf8))) })
  }

  @Test(arguments: [(0.0, false), (300, false), (300.01, true), (86_400, true), (-4, false), (-3600, true)])
  func `a proof is good for five minutes, and none of the future is`(_ age: Double, _ isMissing: Bool) {
    let now = LoginSample.start
    for name in ["email", "phoneNumber", "twoFactor"] {
      let changes = Self.changes("name", name)
      #expect(RecentProof.isWanted(for: changes), "\(name)")
    }
    #expect(!RecentProof.isWanted(for: Self.changes("name", "newsletter")))
    #expect(RecentProof.isRecent(now + .seconds(-age), at: now) != isMissing)
  }

  @Test func `a user is the same by the provider's name, and by the address where there is none`() throws {
    let known = try #require(ExpectedUser(id: "u1", email: "a@b.example"))
    #expect(known.isSame(as: User(id: "u1", email: "new@b.example")))
    #expect(!known.isSame(as: User(id: "u2", email: "a@b.example")) && !known.isSame(as: nil))
    let address = try #require(ExpectedUser(id: nil, email: "a@b.example"))
    #expect(address.isSame(as: User(id: "u9", email: "a@b.example")) && !address.isSame(as: User(id: "u9")))
    #expect(ExpectedUser(id: nil, email: nil) == nil)
  }
}
