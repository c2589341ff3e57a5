import BrokerCore

extension OIDCProvider {
  func beginBrowser(_ scopes: [String]) async throws(ProviderFailure) -> ProviderUserAction { throw .unsupported }
}
