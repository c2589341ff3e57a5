import HTTP
import JSON

/// The metadata of a protected resource, as far as a client that wants a token for it needs it (RFC 9728, section 2).
package struct ResourceMetadata: Sendable, Equatable {
  /// Its identifier, byte for byte: the value of `resource` (RFC 8707).
  package let resource: String
  /// The issuers of its authorization servers, in its order.
  package let issuers: [String]
  /// The scopes that are asked for to use it; empty where it names none.
  package internal(set) var scopes: [String]
  /// Whether the scopes are those of a refusal (RFC 6750, section 3), not of the document.
  package internal(set) var hasRefusalsScopes = false
  /// The address of the document.
  package let address: String

  /// The limits of a document: four times as deep as any.
  private static let limits = JSONLimits(depth: 16, byteCount: 1 << 20)
  /// More issuers or scopes than any resource has that people use.
  private static let mostEntries = 64

  /// Why a document is not taken.
  enum Refusal: Error, Equatable {
    /// It describes no protected resource.
    case malformed
    /// It describes another one (RFC 9728, section 3.3).
    case otherResource(String)
    /// It names no authorization server.
    case noIssuer
  }

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - bytes: the document.
  ///   - address: where it was read.
  ///   - asked: the resource that is wanted.
  /// - Throws: `Refusal`.
  init(_ bytes: [UInt8], from address: HTTPURL, for asked: HTTPURL) throws(Refusal) {
    guard let root = try? JSONDocument(parsing: bytes, limits: Self.limits).root, root.kind == .object,
      let name = root["resource"].flatMap({ try? $0.string() })
    else { throw .malformed }
    guard let url = try? HTTPURL(name), Self.covers(url, address, asked) else { throw .otherResource(name) }
    let servers = try Self.strings(root["authorization_servers"])
    // One that is spoken to in the clear cannot vouch for a resource that is not.
    issuers = servers.filter { server in
      guard let issuer = try? HTTPURL(server) else { return false }
      return issuer.scheme == .https || url.scheme == .http
    }
    guard !issuers.isEmpty else { throw .noIssuer }
    resource = name
    self.address = address.origin + address.target
    scopes = try Self.strings(root["scopes_supported"]).filter(Self.isScope)
  }

  /// Whether a document at an address may describe a resource: it names that resource, or one of the same server above
  /// it whose own address the document is at.
  private static func covers(_ named: HTTPURL, _ address: HTTPURL, _ asked: HTTPURL) -> Bool {
    if named == asked { return true }
    guard named.origin == asked.origin, ResourceDiscovery.address(of: named) == address, !named.target.contains("?")
    else { return false }
    return asked.target.hasPrefix(named.target.hasSuffix("/") ? named.target : named.target + "/")
  }

  /// A list of strings; empty where there is none.
  private static func strings(_ node: JSONNode?) throws(Refusal) -> [String] {
    guard let node else { return [] }
    guard let elements = try? node.elements(), elements.count <= mostEntries else { throw .malformed }
    var strings: [String] = []
    for element in elements {
      guard let text = try? element.string() else { throw .malformed }
      if !strings.contains(text) { strings.append(text) }
    }
    return strings
  }

  /// `scope-token` (RFC 6749, section 3.3).
  static func isScope(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
