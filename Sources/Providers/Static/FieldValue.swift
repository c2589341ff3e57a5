package import SecretMemory

/// The value of a field of an HTTP request (RFC 9110, section 5.5), where it is a secret.
package enum FieldValue {
  /// Why a secret cannot be one, as the end of a sentence that has nothing of it; nil where it can.
  ///
  /// A line end would begin another field, so nothing is cut off or replaced; a blank at an end would be lost on the way, and
  /// bytes beyond ASCII are read in different ways.
  package static func flaw(of secret: Secret) -> String? {
    secret.withBytes { bytes in
      guard let first = bytes.indices.first, let last = bytes.indices.last else { return "it is empty" }
      guard bytes.indices.allSatisfy({ bytes[$0] >= 0x20 && bytes[$0] != 0x7F }) else {
        return "it has a control character"
      }
      guard bytes.indices.allSatisfy({ bytes[$0] < 0x7F }) else { return "it has a character that is not ASCII" }
      let blank = UInt8(ascii: " ")
      return bytes[first] == blank || bytes[last] == blank ? "it begins or ends with a blank" : nil
    }
  }
}
