import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What is known of an account, as a value.
@Suite(.standardTimeLimit) struct AccountCacheTests {
  @Test func `a description is fresh for as long as a caller wants it to be`() {
    var account = AccountCache()
    #expect(!account.isFresh(within: .seconds(1000), at: .seconds(10)))
    account.describedAt = .seconds(10)
    #expect(account.isFresh(within: .zero, at: .seconds(10)))
    #expect(account.isFresh(within: .seconds(5), at: .seconds(15)))
    #expect(!account.isFresh(within: .seconds(5), at: .seconds(16)))
  }
}
