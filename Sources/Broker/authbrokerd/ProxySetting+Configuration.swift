import Configuration
import HTTP

/// The proxy of a configuration.
extension ProxySetting {
  /// The setting that a configuration asks for; `environment` is what the process was started with.
  ///
  /// - Throws: `HTTPFailure.invalidURL` for what is no proxy's URL, `.secretMemoryExhausted`.
  init(_ configuration: NetworkConfiguration, _ environment: [String: String]) throws(HTTPFailure) {
    switch configuration.proxy {
    case .environment: self = try .environment(environment)
    case .none: self = .none
    case .url(let url):
      let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
      guard exceptions.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .invalidURL }
      self = .proxy(try ProxyURL(url), exceptions: exceptions)
    }
  }
}
