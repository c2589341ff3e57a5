import CLinux

/// One datagram of rtnetlink(7): messages one behind the other, each with a header and padded to four bytes (netlink(7)).
enum RouteMessages {
  /// The kinds of message that tell of a link, an address or a route that has come, changed or gone.
  ///
  /// One that has gone may bring a network back as well: the route that was shadowed by it, when a VPN ends.
  private static let changes: Set<UInt16> = [
    UInt16(RTM_NEWLINK), UInt16(RTM_DELLINK), UInt16(RTM_NEWADDR), UInt16(RTM_DELADDR), UInt16(RTM_NEWROUTE),
    UInt16(RTM_DELROUTE),
  ]
  /// Length, kind, flags, sequence and port (`struct nlmsghdr`).
  private static let headerSize = 16

  /// Whether any message of a datagram tells of a change.
  ///
  /// What is behind a length that cannot be is not looked at.
  static func tellOfChange(_ datagram: Span<UInt8>) -> Bool {
    var position = 0
    while datagram.count - position >= headerSize {
      let length = Int(word(datagram, position)) | Int(word(datagram, position + 2)) << 16
      if changes.contains(word(datagram, position + 4)) { return true }
      guard length >= headerSize, length <= datagram.count - position else { return false }
      position += (length + 3) / 4 * 4
    }
    return false
  }

  /// Two bytes, the lower one first, as on every machine that Swift runs on.
  private static func word(_ bytes: Span<UInt8>, _ position: Int) -> UInt16 {
    UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
  }
}
