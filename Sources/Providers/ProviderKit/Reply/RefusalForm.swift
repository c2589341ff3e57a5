package import HTTP
import TextCoding

/// A refusal that came as a form (RFC 6749, appendix B) in the place of a JSON object.
package struct RefusalForm {
  /// The name of the error.
  package private(set) var error = ""
  /// The description of the error.
  package private(set) var description = ""

  /// The longest form that is read: no refusal needs more.
  private static let longest = 4096

  /// Reads a body; nil where it is no form, or has a token in it: only the error is copied.
  package init?(_ response: HTTPResponse) {
    let isRead = response.body.withArray { bytes in
      guard bytes.count <= Self.longest, let end = bytes.lastIndex(where: { $0 > 0x20 }) else { return false }
      return read(bytes[...end])
    }
    guard isRead, !error.isEmpty else { return nil }
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>) -> Bool {
    // The name alone is one as well.
    if bytes.elementsEqual("invalid_grant".utf8) { error = "invalid_grant" }
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      guard name.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "<") }), !name.suffix(6).elementsEqual("_token".utf8)
      else { return false }
      let value = pair.dropFirst(name.count + 1)
      if name.elementsEqual("error".utf8) { error = Self.decoded(value) }
      if name.elementsEqual("error_description".utf8) { description = Self.decoded(value) }
    }
    return true
  }

  /// A value in plain words; as it stands where its encoding is none.
  private static func decoded(_ value: ArraySlice<UInt8>) -> String {
    String(decoding: PercentEncoding.decoded(value, as: .form) ?? Array(value), as: UTF8.self)
  }
}

extension HTTPResponse {
  /// The authentication schemes of proxies and other middleboxes, which no token endpoint asks for (RFC 4559; RFC
  /// 7616).
  private static let foreign: Set<String> = ["negotiate", "ntlm", "kerberos", "digest"]

  /// Whether it wants credentials of a kind that the request never had (RFC 9110, section 11.6.1): a machine before the
  /// provider wants them.
  ///
  /// - Parameter sentBasic: whether the client made itself known by `Basic`; then that is no sign.
  /// - Returns: false for every status but 401.
  package func challengesForOthers(sentBasic: Bool) -> Bool {
    guard status == 401 else { return false }
    let schemes = fields("www-authenticate").map { field in
      field.prefix { $0 != " " && $0 != "," }.lowercased()
    }
    return !schemes.isEmpty
      && schemes.allSatisfy { Self.foreign.contains($0) || $0 == "basic" && !sentBasic }
  }
}
