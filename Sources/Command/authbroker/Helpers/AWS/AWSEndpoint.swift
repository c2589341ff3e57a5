import LinuxSystem

/// The address of the Security Token Service.
struct AWSEndpoint: Equatable, Sendable {
  /// The whole address.
  let url: String
  /// Whether it is spoken to without TLS, which only this machine is.
  let isPlain: Bool

  private static let longest = 2048

  /// Reads an address.
  ///
  /// - Returns: nil for what is no `https://` address, and no `http://` address of this machine; nil too for one with a
  ///   user name, a query or a fragment.
  init?(_ url: String) {
    let isPlain = url.hasPrefix("http://")
    guard isPlain || url.hasPrefix("https://"), url.utf8.count <= Self.longest, HelperAnswer.isVisible(url),
      !url.utf8.contains(where: { "\"\\@?#<>{}".utf8.contains($0) })
    else { return nil }
    let rest = url.dropFirst(isPlain ? 7 : 8)
    let authority = rest.prefix { $0 != "/" }
    guard !authority.isEmpty, !authority.hasPrefix(":") else { return nil }
    guard !isPlain || Self.isThisMachine(authority) else { return nil }
    self.url = rest.contains("/") ? url : url + "/"
    self.isPlain = isPlain
  }

  /// Whether a host, with or without a port, is this machine by its name or number: nothing is looked up.
  private static func isThisMachine(_ authority: Substring) -> Bool {
    if authority.hasPrefix("[") { return authority == "[::1]" || authority.hasPrefix("[::1]:") }
    let host = authority.prefix { $0 != ":" }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return host == "localhost" || (numbers.count == 4 && numbers[0] == 127 && numbers.allSatisfy { $0 != nil })
  }

  /// The address that AWS's tools would speak to in an environment; nil for a region that cannot be one.
  ///
  /// Without a region it is the service for all of them (AWS SDKs and Tools Reference Guide, "Service-specific
  /// endpoints", "AWS STS Regional endpoints").
  static func standard(_ environment: EnvironmentVariables) -> String? {
    let set = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let url = set("AWS_ENDPOINT_URL_STS") ?? set("AWS_ENDPOINT_URL") { return url }
    guard let region = set("AWS_REGION") ?? set("AWS_DEFAULT_REGION") else { return "https://sts.amazonaws.com/" }
    let isName =
      region.utf8.count <= 64
      && region.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-")
      }
    guard isName else { return nil }
    return "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
  }
}
