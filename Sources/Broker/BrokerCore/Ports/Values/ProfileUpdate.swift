package import BrokerProtocol

/// What came of a change of an account.
package struct ProfileUpdate: Sendable {
  /// What is known of the account now.
  package var user: User
  /// The second factor that is not changed yet: it wants a first code.
  package var enrolment: ProviderEnrolment?

  /// A change that was made, but for what an enrolment still wants.
  package init(user: User, enrolment: ProviderEnrolment? = nil) {
    self.user = user
    self.enrolment = enrolment
  }
}
