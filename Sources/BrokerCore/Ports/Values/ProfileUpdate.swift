package import BrokerProtocol

/// What a change of an account has led to.
package struct ProfileUpdate: Sendable {
  /// What is known of the account now.
  package var user: User
  /// What is still to be confirmed by a code; nil: nothing.
  package var enrolment: ProviderEnrolment?

  /// The outcome of a change.
  package init(user: User, enrolment: ProviderEnrolment? = nil) {
    self.user = user
    self.enrolment = enrolment
  }
}
