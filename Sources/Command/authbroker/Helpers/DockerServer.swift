import BrokerProtocol
import JSON

/// A registry as docker names it: with or without a scheme, or docker's own address of Docker Hub.
struct DockerServer: Equatable, Sendable {
  /// The text by which docker recognises that there are no credentials, and goes on without (credentials/error.go).
  static let notFound = "credentials not found in native keychain"
  /// The protocol's text for a missing address.
  static let noServer = "no credentials server URL"
  /// The user name that makes docker take a secret for a refresh token.
  static let refreshTokenUsername = "<token>"
  /// Docker's address of Docker Hub.
  private static let hub = "https://index.docker.io/v1/"

  /// The name as docker wrote it.
  let text: String

  /// A name, without the white space around it; nil where there is none, or it can be no address.
  init?(_ text: String) {
    let blanks: [Character] = [" ", "\t", "\r", "\n", "\r\n"]
    let trimmed = text.drop { blanks.contains($0) }
    self.text = String(trimmed.prefix(trimmed.count - trimmed.reversed().prefix { blanks.contains($0) }.count))
    guard !self.text.isEmpty, HelperAnswer.isVisible(self.text) else { return nil }
  }

  /// The name that docker uses for a target; nil for a server that is no registry, and for a target that docker, which
  /// names neither users nor several servers, cannot ask for.
  init?(listing url: String) {
    guard !url.contains("*"), !url.contains("@") else { return nil }
    if Self.isHub(url) {
      text = Self.hub
      return
    }
    guard let scheme = ["https://", "http://"].first(where: url.hasPrefix) else { return nil }
    let rest = url.dropFirst(scheme.utf8.count)
    text = String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    guard !text.isEmpty else { return nil }
  }

  /// The addresses under which it may stand among the targets, the likeliest first.
  ///
  /// Docker Hub has one address here, which the targets know by all of its names. A registry on this machine may be one
  /// without TLS, which its name does not tell.
  var urls: [String] {
    if Self.isHub(text.includes("://") ? text : "https://\(text)") { return [Self.hub] }
    guard !text.includes("://") else { return [text] }
    let host = text.prefix { $0 != "/" }
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
    let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(String(name))
    return ["https://\(text)"] + (isLocal ? ["http://\(text)"] : [])
  }

  /// Whether an address is one of Docker Hub's; the others, which are most, are seen at a glance.
  private static func isHub(_ url: String) -> Bool {
    url.lowercased().includes("docker.io") && (try? TargetAddress(url))?.isDockerHub == true
  }
}
