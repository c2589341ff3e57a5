import BrokerProtocol
import ConfigurationFile
import HTTP
import ProviderKit

extension OIDCPreset {
  /// The authorization server of a protected resource, such as a server of the Model Context Protocol.
  static let mcp = OIDCPreset(
    name: "mcp", title: "an MCP server or another API that names its own provider, by its URL",
    registration: ClientRegistration(
      nil,
      "none is needed where the server registers clients by itself; else ask its operator for a native (public) client with "
        + "the authorization code grant, PKCE and a redirect to http://127.0.0.1 with any port"),
    needsClient: false
  ) { section in
    section.require("resource", #"write resource: "https://…", the address of the server"#)
    // Its query is a part of its name, unlike that of a server's address.
    guard let resource = section.absoluteURI("resource") else { return nil }
    guard (try? HTTPURL(resource)) != nil else {
      section.report(
        "resource",
        "must be an https:// URL without user or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only)")
      return nil
    }
    var dialect = OIDCDialect(
      type: "mcp", issuer: resource, scopes: [], methods: LoginMethod.withoutPassword + [.clientCredentials])
    dialect.quirks.readsOAuthFirst = true
    dialect.quirks.needsProof = true
    return dialect
  }
}

extension ResourcePlan {
  /// Reads the keys of a profile.
  init(_ section: inout ConfigurationSection) {
    issuer = section.serverAddress("issuer")
    guard let address = section.serverAddress("clientMetadataUrl") else { return }
    // Its path tells it from the origin of a server (OAuth Client ID Metadata Document, section 3).
    guard let url = try? HTTPURL(address), url.scheme == .https, url.target != "/" else {
      section.report("clientMetadataUrl", "must be an https:// URL with a path")
      return
    }
    clientMetadataURL = address
  }
}
