public import JSON

/// Reads the configuration again without losing a session.
///
/// - Throws: accessDenied, configInvalid.
public enum ReloadConfiguration: BrokerMethod {
  public static let name = "reloadConfig"

  public typealias Params = Empty

  public struct Result: ObjectCodable, Equatable {
    /// The configured profiles.
    public var profiles: [ProfileName]

    public init(profiles: [ProfileName]) {
      self.profiles = profiles
    }

    public static let blank = Result(profiles: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profiles", &profiles)
    }
  }
}
