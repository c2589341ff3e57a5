public import JSON

extension GetStatus {
  /// The address that a profile's sessions belong to: its tokens go there, and nowhere else.
  public struct ProfileAddress: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The issuer or base URL of its provider.
    public var address: String

    public init(profile: ProfileName, address: String) {
      self.profile = profile
      self.address = address
    }

    public static let blank = ProfileAddress(profile: .default, address: "")

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("address", &address)
    }
  }
}
