import BrokerProtocol

/// The name of a row of which a profile has several: the profile's, which has no stroke in it, and a number behind one.
struct NumberedName {
  /// The profile.
  let profile: ProfileName
  /// The number.
  let number: UInt64

  /// The name of a row.
  init(_ profile: ProfileName, _ number: UInt64) { (self.profile, self.number) = (profile, number) }

  /// Reads a name in its one spelling; nil for another text.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let profile = ProfileName(String(parts[0])), let number = UInt64(parts[1]) else {
      return nil
    }
    self.init(profile, number)
    guard self.text == text else { return nil }
  }

  /// The name as a text.
  var text: String { "\(profile)/\(number)" }
}
