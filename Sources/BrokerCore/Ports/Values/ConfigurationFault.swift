/// What of a profile's configuration its provider does not accept: nothing that is tried again mends it, and no login.
package enum ConfigurationFault: Sendable, Equatable, CaseIterable {
  /// Who the client is, or how it proves that (RFC 6749, section 5.2, `invalid_client`).
  case client
  /// What the client does, which it is not allowed at the provider (`unauthorized_client`, `unsupported_grant_type`).
  case grant
  /// What the tokens shall be good for (`invalid_scope`), or for whom (RFC 8707, section 2, `invalid_target`).
  case scopes
  /// How it is asked (`invalid_request`).
  case request
  /// Where the provider is: nothing there tells of its endpoints.
  case address
  /// Who the provider is: it describes itself under another issuer (RFC 8414, section 3.3).
  case issuer
  /// Which project is meant, by the key that names it.
  case project
  /// The client's password, or the key of the project: its source does not give it.
  case secret
  /// Where a browser comes back to: the port cannot be had (bind(2)).
  case redirectPort
  /// The embedded provider's own files: damaged, or sealed for another vault.
  case embeddedFiles

  /// One plain sentence that says where to look, without a word of the provider.
  package var message: String {
    switch self {
    case .client:
      "The provider does not accept the client; look at clientId, clientSecret and clientAuth in the configuration."
    case .grant:
      "The provider does not let this client do that; look at clientId and methods in the configuration, and at what the "
        + "provider allows the client."
    case .scopes:
      "The provider does not give this client what is asked for; look at scopes, audience and resource in the "
        + "configuration, and at the request's own scopes."
    case .request:
      "The provider does not understand the request; look at clientAuth, scopes, redirectUri and endpoints in the "
        + "configuration."
    case .address:
      "Nothing at the provider's address tells of its endpoints; look at the address in the configuration, or give "
        + "endpoints there."
    case .issuer:
      "The provider describes itself under another issuer; look at issuer (or baseUrl, realm, domain, tenant) in the "
        + "configuration; provider-check shows the line to change."
    case .project:
      "The provider does not accept the project; look at apiKey in the configuration, and at what the project allows."
    case .secret:
      "A secret of the profile cannot be had; look at the file, the variable or the command that its clientSecret or apiKey "
        + "names."
    case .embeddedFiles:
      "The embedded provider's files are damaged, or were sealed for another vault; look at what authbroker doctor says of "
        + "them."
    case .redirectPort:
      "The port of redirectUri is not free on this computer; end the login or the program that has it, or look at redirectUri "
        + "in the configuration: port 0 is any free one, where the provider allows it."
    }
  }
}
