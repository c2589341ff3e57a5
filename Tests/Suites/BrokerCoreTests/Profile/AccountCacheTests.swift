import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What is known of an account, as a value.
@Suite(.standardTimeLimit) struct AccountCacheTests {
  @Test func `an account is answered from memory for as long as the caller takes it`() {
    var account = AccountCache()
    #expect(account.user(notOlderThan: .seconds(60), at: .seconds(100)) == nil)
    account.note(User(id: "u"), at: .seconds(100))
    #expect(account.user(notOlderThan: .seconds(60), at: .seconds(160)) == User(id: "u"))
    #expect(account.user(notOlderThan: .seconds(60), at: .seconds(161)) == nil)
    #expect(account.user == User(id: "u"))
  }

  @Test func `another session's account is not known, and its backup codes are`() {
    var account = AccountCache()
    account.note(User(id: "u"), at: .seconds(100))
    account.backupCodesRemaining = 3
    account.forgetUser()
    #expect(account.user == nil && account.user(notOlderThan: .seconds(60), at: .seconds(100)) == nil)
    #expect(account.backupCodesRemaining == 3)
    account.note(nil, at: .seconds(100))
    #expect(account.user(notOlderThan: .seconds(60), at: .seconds(100)) == nil)
  }
}
