/// The challenge for an access token among those of a `WWW-Authenticate` (RFC 9110, section 11.6.1; RFC 6750, section 3;
/// RFC 9449, section 7.1).
package struct BearerChallenge: Equatable {
  /// The parameters, their names in lower case; of two with the same name the first.
  package private(set) var parameters: [String: String] = [:]

  /// Finds the first one; nil where there is none.
  ///
  /// - Parameters:
  ///   - fields: the values of all fields of that name, in their order.
  ///   - wanted: the scheme, in lower case.
  package init?(_ fields: [String], scheme wanted: String = "bearer") {
    for field in fields {
      var rest = Array(field.utf8)[...]
      while !rest.isEmpty {
        guard let scheme = Self.word(&rest) else { break }
        let parameters = Self.parameters(&rest)
        guard scheme.lowercased() == wanted else { continue }
        self.parameters = parameters
        return
      }
    }
    return nil
  }

  /// The parameters of one challenge, up to the word that begins the next one.
  private static func parameters(_ rest: inout ArraySlice<UInt8>) -> [String: String] {
    var parameters: [String: String] = [:]
    while true {
      var next = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
      guard let name = word(&next) else {
        // What is no list of parameters, such as `token68`, ends all.
        rest = next.isEmpty ? next : []
        return parameters
      }
      next = next.drop(while: isBlank)
      guard next.first == UInt8(ascii: "=") else { return parameters }
      next = next.dropFirst().drop(while: isBlank)
      guard let value = next.first == UInt8(ascii: "\"") ? quoted(&next) : word(&next) else {
        rest = []
        return parameters
      }
      if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
      rest = next
    }
  }

  /// A token (RFC 9110, section 5.6.2), behind white space and commas.
  private static func word(_ rest: inout ArraySlice<UInt8>) -> String? {
    let start = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
    let token = start.prefix { byte in
      (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
    guard !token.isEmpty else { return nil }
    rest = start[token.endIndex...]
    return String(decoding: token, as: UTF8.self)
  }

  /// A quoted string (RFC 9110, section 5.6.4); nil where its end is missing.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String? {
    var value: [UInt8] = []
    var next = rest.dropFirst()
    while let byte = next.popFirst() {
      if byte == UInt8(ascii: "\"") {
        rest = next
        return String(decoding: value, as: UTF8.self)
      }
      guard byte == UInt8(ascii: "\\") else {
        value.append(byte)
        continue
      }
      guard let escaped = next.popFirst() else { return nil }
      value.append(escaped)
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
