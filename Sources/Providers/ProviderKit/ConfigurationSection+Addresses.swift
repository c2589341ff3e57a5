package import ConfigurationFile
package import HTTP
import JSON

/// Settings that are addresses of servers, by the rule of the HTTP module itself: an accepted address can be called.
extension ConfigurationSection {
  /// The rule for an address, as a clause of the message.
  private static let rule =
    "must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only)"

  /// The longest URI: the least that everybody should understand (RFC 9110, section 4.1).
  private static let longest = 8000

  /// The address of a server, maybe with a path; nil where it is absent or faulty.
  package mutating func serverURL(_ key: String) -> HTTPURL? {
    guard let text = string(key, takesAny: false) else { return nil }
    if let url = try? HTTPURL(text), !url.target.contains("?") { return url }
    report(key, Self.rule, urlSuggestion(key))
    return nil
  }

  /// The same, as it is written: an issuer is compared byte by byte.
  package mutating func serverAddress(_ key: String) -> String? {
    serverURL(key) == nil ? nil : string(key)
  }

  /// One segment of a path; nil where it is absent or faulty.
  package mutating func pathSegment(_ key: String, _ rule: String) -> String? {
    guard let text = string(key, takesAny: false) else { return nil }
    if !text.isEmpty, !text.contains("/"), Self.isPath("/" + text) { return text }
    report(key, rule)
    return nil
  }

  /// A path below the address of a server, without a query, which servers would log; nil where it is absent or faulty.
  package mutating func path(_ key: String) -> String? {
    guard let text = string(key, takesAny: false) else { return nil }
    if Self.isPath(text) { return text }
    report(key, "must begin with / and have no query", text.hasPrefix("/") ? nil : "begin it with /")
    return nil
  }

  /// Reads an absolute URI (RFC 3986, section 4.3) that is only sent along as a name, and never called.
  package mutating func absoluteURI(_ key: String) -> String? {
    guard let text = string(key, takesAny: false) else { return nil }
    let scheme = text.prefix { $0 != ":" }
    let isURI =
      text.utf8.count <= Self.longest && text.utf8.count > scheme.utf8.count + 1
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
      && scheme.first.map { $0.isASCII && $0.isLetter } == true
      && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-._".contains($0)) }
    if isURI { return text }
    report(key, "must be an absolute URI without a fragment (RFC 8707)")
    return nil
  }

  private static func isPath(_ text: String) -> Bool {
    guard let host = try? HTTPURL("https://host"), (try? host.appending(path: text)) != nil else { return false }
    return text.hasPrefix("/") && !text.contains { "?@%#".contains($0) }
  }

  /// The host of a server, maybe with a port; nil where it is absent or faulty.
  package mutating func serverName(_ key: String, _ rule: String) -> String? {
    guard let text = string(key, takesAny: false) else { return nil }
    if !text.contains("/"), !text.contains("?"), (try? HTTPURL("https://" + text)) != nil { return text }
    report(key, rule)
    return nil
  }

  /// Suggests the address that was meant; nil where nothing is near.
  ///
  /// An address with a variable or with a user is not quoted.
  private func urlSuggestion(_ key: String) -> String? {
    guard let text = node(at: key).flatMap({ try? $0.string() }), !text.contains("@"), !text.contains("$") else {
      return nil
    }
    let rest = text.lowercased().hasPrefix("http://") ? String(text.dropFirst("http://".utf8.count)) : text
    if let url = try? HTTPURL("https://" + rest), !url.target.contains("?"), !rest.includes(":/") {
      return "write \"https://\(rest)\""
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return "it has blanks, or characters that are not ASCII"
    }
    let mark = text.firstOccurrence(of: "://")
    let authority = mark.map { text[$0.upperBound...].prefix { $0 != "/" && $0 != "?" } } ?? ""
    guard !authority.isEmpty else { return text.hasSuffix("://") ? "the host is missing" : nil }
    let host = authority.prefix { $0 != ":" }
    if (try? HTTPURL("https://" + authority)) == nil, (try? HTTPURL("https://" + host)) != nil {
      return "the port must be a number from 1 to 65535"
    }
    return host.first?.isNumber == true ? "write an IP address in full, as in 127.0.0.1" : nil
  }
}
