import JSON
import JSONRPC

/// The ordinary form of a `getAccessToken` request, read off the tape without a copy.
struct CachedQuestion {
  /// The bytes of the profile's name in the text; empty for the default profile.
  private(set) var profile = 0..<0
  /// How long the token must still live, in milliseconds; nil means the profile's skew.
  private(set) var minValidity: Int64?

  /// Reads the parameters; nil where there is anything but a plain profile and a whole number of seconds.
  init?(_ envelope: Envelope, _ tape: borrowing JSONTape, _ text: Span<UInt8>) {
    guard let index = envelope.parameters else { return }
    guard tape[index].kind == .object else { return nil }
    let end = Int(tape[index].next)
    var name = index + 1
    while name < end {
      guard read(tape[name], tape[name + 1], text) else { return nil }
      name = Int(tape[name + 1].next)
    }
  }

  private mutating func read(_ name: JSONTape.Entry, _ value: JSONTape.Entry, _ text: Span<UInt8>) -> Bool {
    guard name.kind == .string else { return false }
    if text.matches("profile", name.range) {
      profile = value.range
      return value.kind == .string && !profile.isEmpty
    }
    if text.matches("minValiditySeconds", name.range), value.kind == .integer, value.range.count <= 7 {
      return readSeconds(value, text)
    }
    return false
  }

  /// Seven digits are more than a hundred days; longer numbers are the general path's business.
  private mutating func readSeconds(_ value: JSONTape.Entry, _ text: Span<UInt8>) -> Bool {
    var seconds: Int64 = 0
    for position in value.range {
      let digit = text[position]
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return false }
      seconds = seconds * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    minValidity = seconds * 1000
    return true
  }
}
