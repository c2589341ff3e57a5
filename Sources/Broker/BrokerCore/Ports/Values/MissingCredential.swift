package import BrokerProtocol

/// A credential of the configuration that could not be had, so that nothing was sent.
package struct MissingCredential: Sendable, Equatable {
  /// The key of the configuration and the place that it names, as the beginning of a sentence, such as
  /// `clientAssertion in the file /run/token`.
  package let subject: String
  /// Why it cannot be used, as the end of that sentence; nothing of the credential is in it.
  package let reason: String
  /// The error that a client sees: `missingCredential` for what another party issues or a key signs, `configInvalid` for
  /// a password.
  package let kind: ErrorKind

  /// A credential that is missing.
  package init(_ subject: String, _ reason: String, kind: ErrorKind = .missingCredential) {
    self.subject = subject
    self.reason = reason
    self.kind = kind
  }

  /// One plain sentence.
  var message: String { "\(subject) cannot be used: \(reason). Nothing was sent." }
}
