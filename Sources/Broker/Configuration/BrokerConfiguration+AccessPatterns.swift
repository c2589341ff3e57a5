import BrokerCore
import ConfigurationFile

/// The patterns by which a rule knows the processes of its clients.
extension BrokerConfiguration {
  /// The systemd units of a rule's clients: a name with its suffix, in which `*` stands for any characters.
  static func unit(_ client: inout ConfigurationSection) -> NamePattern? {
    guard let text = client.string("unit", takesAny: false) else { return nil }
    let prefix = ClientPattern.userPrefix
    let name = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
    guard (1...256).contains(text.utf8.count), !name.isEmpty, name.utf8.allSatisfy(isOfUnit) else {
      client.report(
        "unit", "is no name of a systemd unit",
        "write a name such as backup.service, or user/editor-*.scope for a user's; * stands for any characters")
      return nil
    }
    guard name.hasSuffix("*") || suffixes.contains(where: { name.hasSuffix($0) }) else {
      client.report("unit", "has no suffix", "write \"\(text).service\"")
      return nil
    }
    return NamePattern(text)
  }

  /// The labels of a rule's clients.
  static func label(_ client: inout ConfigurationSection) -> NamePattern? {
    guard let text = client.string("label", takesAny: false) else { return nil }
    guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      client.report(
        "label", "must have 1 to 256 bytes without control characters",
        "write a label such as snap.editor.*; * stands for any characters")
      return nil
    }
    return NamePattern(text)
  }

  /// The suffixes of units that have processes.
  private static let suffixes = [".service", ".scope"]

  /// Whether a name of a unit, or a pattern for one, may have a byte (systemd.unit(5)).
  private static func isOfUnit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: ":_.-@\\*".utf8.contains(byte)
    }
  }
}
