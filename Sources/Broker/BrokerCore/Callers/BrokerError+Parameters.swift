package import BrokerProtocol

extension BrokerError {
  /// The error of a parameter that does not fit.
  ///
  /// - Parameters:
  ///   - pointer: the parameter (RFC 6901).
  ///   - sentence: what it must be, as the end of a sentence.
  /// - Returns: `invalidParams`.
  package static func unfit(_ pointer: String, _ sentence: String) -> BrokerError {
    BrokerError(.invalidParams, "The parameter \(pointer) \(sentence).", pointer: pointer)
  }
}
