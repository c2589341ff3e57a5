import TextCoding

/// The user name that a tool asks for, as a part of the address: a target may be for one user alone.
package enum TargetUser {
  /// The address with the name of a user.
  ///
  /// It stays as it is where it names one already, and for a name that some reader of the address could take for a host
  /// (RFC 3986, section 3.2): such a name is compared with the target's `username` alone.
  package static func named(_ user: String?, in address: String) -> String {
    guard let user, !user.isEmpty, let start = start(ofAuthority: address),
      !authority(of: address, from: start).contains(UInt8(ascii: "@")),
      user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && !"@:/?#[]%\\".utf8.contains($0) })
    else { return address }
    return address[..<start] + PercentEncoding.encoded(user) + "@" + address[start...]
  }

  /// The address without the name of a user.
  package static func removed(from address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: "@")), let start = start(ofAuthority: address),
      let at = authority(of: address, from: start).lastIndex(of: UInt8(ascii: "@"))
    else { return address }
    return String(address[..<start]) + address[address.utf8.index(after: at)...]
  }

  private static func start(ofAuthority address: String) -> String.Index? {
    let bytes = address.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    return bytes.index(colon, offsetBy: 3)
  }

  private static func authority(of address: String, from start: String.Index) -> Substring.UTF8View {
    address.utf8[start...].prefix { !"/?#".utf8.contains($0) }
  }
}
