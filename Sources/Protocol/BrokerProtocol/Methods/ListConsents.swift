public import JSON

/// Returns the questions whether a client may have a token that wait for an answer, the oldest first.
///
/// A rule of the section access of the configuration asks them, by its member confirm.
///
/// - Throws: accessDenied.
public enum ListConsents: BrokerMethod {
  public static let name = "listConsents"
  public typealias Params = Empty

  public struct Result: ObjectCodable, Equatable {
    /// The questions.
    public var consents: [ConsentQuestion]

    public init(consents: [ConsentQuestion]) { self.consents = consents }

    public static let blank = Result(consents: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("consents", &consents)
    }
  }
}
