package import BrokerProtocol
package import JSON

/// Roles and further attributes that a provider gives of a user, as clients see them.
package enum UserClaims {
  /// The most bytes of all together: the contract's number.
  package static let byteLimit = 16 << 10
  /// The most levels of nesting: roles of a client are two objects down at most providers.
  private static let depth = 6
  /// The names that have members of their own in ``User``, or are the token's and not the user's (OpenID Connect Core,
  /// sections 2 and 5.1; RFC 7519, section 4.1; RFC 9068, section 2.2).
  private static let ownNames: Set<String> = [
    "email", "email_verified", "emailVerified", "name", "phone_number", "phone_number_verified", "phoneNumber", "phone",
    "iss", "aud", "exp", "iat", "nbf", "jti", "nonce", "azp", "at_hash", "c_hash", "s_hash", "acr", "amr", "auth_time",
    "sid", "typ", "client_id", "scope", "session_state", "twoFactor",
  ]
  /// The parts of names whose values must not be shown: secrets, and telephone numbers, which are shown masked.
  private static let hiddenParts = [
    "token", "secret", "password", "passwd", "passphrase", "credential", "cookie", "hash", "apikey", "phone", "mobile",
  ]

  /// The members of an object that have no place of their own; nil where there is none.
  ///
  /// Members that would exceed the limit are left out, and so are possible secrets. Strings are sanitised.
  package static func claims(of root: JSONNode, besides names: Set<String> = []) -> RawJSON? {
    var members: [(name: String, value: [UInt8])] = []
    var rest = byteLimit - 2
    for (name, node) in (try? root.members()) ?? [] {
      guard !names.contains(name), !ownNames.contains(name), let value = text(of: node, named: name, depth) else {
        continue
      }
      // Quotes, colon and comma.
      let byteCount = name.utf8.count + value.count + 4
      guard byteCount <= rest else { continue }
      rest -= byteCount
      members.append((name, value))
    }
    guard !members.isEmpty else { return nil }
    var writer = JSONWriter()
    writer.object { writer in
      for member in members {
        writer.key(member.name)
        writer.raw(member.value)
      }
    }
    return RawJSON(text: writer.bytes)
  }

  private static func text(of node: JSONNode, named name: String, _ depth: Int) -> [UInt8]? {
    guard mayShow(name), !node.isNull else { return nil }
    var writer = JSONWriter()
    return write(node, to: &writer, depth) ? writer.bytes : nil
  }

  /// Whether a member's name can be shown, and does not say that its value must not be.
  private static func mayShow(_ name: String) -> Bool {
    guard SanitizedText(name).isUnchanged, !name.isEmpty else { return false }
    let small = name.lowercased()
    return !hiddenParts.contains { small.includes($0) }
  }

  private static func write(_ node: JSONNode, to writer: inout JSONWriter, _ depth: Int) -> Bool {
    guard depth > 0 else { return false }
    if let text = try? node.string() {
      writer.string(SanitizedText(text).text)
    } else if let flag = try? node.bool() {
      writer.bool(flag)
    } else if let elements = try? node.elements() {
      let parts = elements.compactMap { text(of: $0, named: "element", depth - 1) }
      writer.array { writer in
        for part in parts { writer.raw(part) }
      }
    } else if let members = try? node.members() {
      let parts = members.compactMap { name, node in text(of: node, named: name, depth - 1).map { (name, $0) } }
      writer.object { writer in
        for (name, part) in parts {
          writer.key(name)
          writer.raw(part)
        }
      }
    } else if node.isNull {
      return false
    } else {
      writer.raw(compacting: node.text)
    }
    return true
  }
}
