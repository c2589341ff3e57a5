/// Whether an issuer named by a document, token or reply is the configured one.
struct IssuerCheck: Sendable {
  private let dialect: OIDCDialect

  /// The placeholder of the tenant in an issuer of many tenants.
  private static let tenantMark = "{tenantid}"

  /// The check of a provider.
  init(_ dialect: OIDCDialect) {
    self.dialect = dialect
  }

  /// Whether metadata of this issuer are the provider's own: byte for byte, or by the rule for tenants.
  func isOwn(metadata issuer: String) -> Bool {
    switch dialect.quirks.issuerRule {
    case .exact: issuer.utf8.elementsEqual(dialect.issuer.utf8)
    case .tenant: tenant(of: issuer).map { $0 == Self.tenantMark || isAllowed($0) } ?? false
    }
  }

  /// Whether an ID token of this issuer is the provider's own; `tenant` is the tenant that the token names.
  func isOwn(token issuer: String, tenant named: String?) -> Bool {
    switch dialect.quirks.issuerRule {
    case .exact:
      return issuer.utf8.elementsEqual(dialect.issuer.utf8) || dialect.quirks.otherIssuers.contains(issuer)
    case .tenant:
      guard let tenant = tenant(of: issuer) else { return false }
      return isAllowed(tenant) && tenant == named
    }
  }

  /// A tenant's id; the configured one, if that is an id itself.
  private func isAllowed(_ tenant: String) -> Bool {
    guard Self.isID(tenant) else { return false }
    guard let configured = self.tenant(of: dialect.issuer), Self.isID(configured) else { return true }
    return tenant.lowercased() == configured.lowercased()
  }

  /// The tenant between the provider's own address and the version.
  private func tenant(of issuer: String) -> String? {
    let parts = issuer.split(separator: "/", omittingEmptySubsequences: false)
    let own = dialect.issuer.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == own.count, parts.count == 5, parts[..<3] == own[..<3], parts[4] == own[4] else { return nil }
    return String(parts[3])
  }

  /// 32 hexadecimal digits in five groups (RFC 9562, section 4).
  private static func isID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && groups.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF) } }
  }
}
