package import BrokerProtocol
package import HTTP

extension TargetAddress {
  /// Whether it is the address of one of these, whatever their queries are.
  package func isAny(of urls: [HTTPURL]) -> Bool {
    urls.contains { url in
      guard let other = try? TargetAddress(url.origin + url.target) else { return false }
      return other.origin == origin && other.path == path
    }
  }
}
