public import JSON

/// Lists which servers the configuration gives which profile's token (section targets), or finds the entry for one
/// address.
public enum ListTargets: BrokerMethod {
  public static let name = "listTargets"

  public struct Params: MethodParams, Equatable {
    /// The address whose entry is wanted: the one with the longest prefix, by scheme, host, port and segments of the
    /// path; user information, query and fragment are ignored.
    ///
    /// Every entry where absent.
    public var url: String?

    public init(url: String? = nil) { self.url = url }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("url", &url, .text(atMost: ParameterLength.url))
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The entries, in the order of the configuration; one at most where an address was given.
    public var targets: [Target]

    public init(targets: [Target]) { self.targets = targets }

    public static let blank = Result(targets: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("targets", &targets)
    }
  }
}
