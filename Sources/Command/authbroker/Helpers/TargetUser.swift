import JSON
import TextCoding

/// The user name that a tool asks for, as a part of the address: a target may be for one user alone.
enum TargetUser {
  /// The address with the name of a user.
  ///
  /// It stays as it is where it names one already, and for a name that some reader of the address could take for a host
  /// (RFC 3986, section 3.2): such a name is compared with the target's `username` alone.
  static func named(_ user: String?, in address: String) -> String {
    guard let user, !user.isEmpty, let mark = address.firstOccurrence(of: "://"),
      !address[mark.upperBound...].prefix(while: { $0 != "/" }).contains("@"),
      user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && !"@:/?#[]%\\".utf8.contains($0) })
    else { return address }
    return address[..<mark.upperBound] + PercentEncoding.encoded(user) + "@" + address[mark.upperBound...]
  }

  /// The address without the name of a user.
  static func removed(from address: String) -> String {
    guard let mark = address.firstOccurrence(of: "://") else { return address }
    let authority = address.utf8[mark.upperBound...].prefix { !"/?#".utf8.contains($0) }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return address }
    return String(address[..<mark.upperBound]) + address[address.utf8.index(after: at)...]
  }
}
