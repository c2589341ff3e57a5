import ConfigurationFile
import HTTP
import JSON

/// The section `network`: proxies, certificate authorities and time limits for providers.
package struct NetworkConfiguration: Sendable, Equatable {
  /// The proxy that requests go through.
  package enum Proxy: Sendable, Equatable {
    /// The proxy that the environment names at the start (`https_proxy`, `no_proxy`).
    case environment
    /// Directly, without a proxy.
    case none
    /// A proxy by its URL.
    case url(String)
  }

  /// The proxy for requests to providers.
  package var proxy: Proxy
  /// PEM certificates of authorities that are trusted beside the system's, for every profile that names none of its own.
  package var caFile: String?

  /// The defaults.
  init() {
    proxy = .environment
  }

  /// Reads the section, with the default of each setting that is absent.
  init(_ section: inout ConfigurationSection) {
    proxy = Self.proxy(&section)
    caFile = section.authorityFile("caFile")
    section.finish()
  }

  /// Reads the proxy by the HTTP module's own rule for its URL; a password would be a secret in the configuration.
  private static func proxy(_ section: inout ConfigurationSection) -> Proxy {
    switch section.string("proxy", takesAny: false) {
    case nil, "environment": return .environment
    case "none": return .none
    case let url?:
      if url.includes("://"), !url.contains("@"), isProxy(url) { return .url(url) }
      section.report(
        "proxy", #"must be "environment", "none" or the URL of a proxy (http, https, socks5 or socks5h)"#,
        suggestion(url))
      return .environment
    }
  }

  private static func suggestion(_ url: String) -> String? {
    guard !url.contains("@") else { return "a proxy with a password goes into the variable https_proxy" }
    return url.includes("://") ? nil : "begin it with the scheme, as in http://proxy.example.com:8080"
  }

  /// Whether the HTTP module accepts it; that there is no room for it now does not count.
  private static func isProxy(_ url: String) -> Bool {
    do throws(HTTPFailure) {
      _ = try ProxyURL(url)
      return true
    } catch .invalidURL {
      return false
    } catch {
      return true
    }
  }
}
