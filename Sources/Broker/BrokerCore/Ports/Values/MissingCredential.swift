/// A credential of the client itself that could not be had, so that nothing was sent.
package struct MissingCredential: Sendable, Equatable {
  /// The credential and its place, as the beginning of a sentence, such as `The client's assertion in the file /run/token`.
  package let subject: String
  /// Why it cannot be used, as the end of that sentence; nothing of the credential is in it.
  package let reason: String

  /// A credential that is missing.
  package init(_ subject: String, _ reason: String) {
    self.subject = subject
    self.reason = reason
  }

  /// One plain sentence.
  var message: String { "\(subject) cannot be used: \(reason). Nothing was sent." }
}
