import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// What is known of the methods without calling them.
@Suite(.standardTimeLimit) struct MethodsTests {
  @Test func `every name stands once`() {
    let names = Methods.all.map { $0.name }
    #expect(Set(names).count == names.count)
  }

  @Test func `methods whose parameters are secrets say so by themselves`() {
    let carrying = Methods.all.filter { $0.mayCarrySecret }.map { $0.name }
    #expect(
      Set(carrying) == [
        "reportRejected", "login", "verifyOtp", "resendOtp", "register", "verifyBackupCode", "verifyEmail",
        "forgotPassword", "resetPassword", "changePassword", "updateProfile", "generateBackupCodes", "deleteAccount",
        "reauthenticate", "unlock", "rekey", "tryProvider", "continueTrial",
        "completeLogin", "addLocalUser", "resetLocalUser", "introspectLocalToken",
      ])
  }

  @Test func `a session with every member set has each of its members`() throws {
    #expect(try Samples.fullSession.encoded().root.members().map(\.name) == Session.members.names)
  }
}
