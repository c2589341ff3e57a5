/// How providers are reached.
package struct NetworkConfiguration: Sendable, Equatable {
  /// Through whom.
  package enum Proxy: Sendable, Equatable {
    /// Whom the environment names at the start (`https_proxy`, `no_proxy`).
    case environment
    /// Nobody.
    case none
    /// A proxy by its URL.
    case url(String)
  }

  /// Through whom providers are reached.
  package var proxy: Proxy

  /// How a proxy is spoken to.
  private static let schemes = ["http://", "https://", "socks5://", "socks5h://"]

  /// The defaults.
  init() {
    proxy = .environment
  }

  /// Reads the section, with the default of each setting that is absent.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    switch try section.text("proxy") {
    case nil, "environment": proxy = .environment
    case "none": proxy = .none
    case let url?:
      guard Self.schemes.contains(where: { url.hasPrefix($0) }), !url.contains("@"), ServerAddress.isAfterScheme(url)
      else {
        throw section.failure(
          "proxy",
          #"must be "environment", "none" or the URL of a proxy without a password; one with goes into https_proxy"#)
      }
      proxy = .url(url)
    }
    try section.refuseUnknownKeys()
  }
}
