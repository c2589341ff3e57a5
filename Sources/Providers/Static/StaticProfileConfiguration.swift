package import BrokerCore
package import ConfigurationFile
package import HTTP
package import ProviderKit
import SecretMemory

/// A profile whose token is a secret that the configuration refers to.
package struct StaticProfileConfiguration: Sendable, Equatable {
  /// The key that names the secret.
  package static let secretKey = "secret"

  /// The reference to the secret.
  package var secret: SecretReference
  /// The field of a request that carries it.
  package var field: ConfiguredField

  /// A profile.
  package init(
    secret: SecretReference, field: ConfiguredField = ConfiguredField(name: "Authorization", scheme: "Bearer")
  ) {
    self.secret = secret
    self.field = field
  }

  /// Reads the secret from a profile's section.
  ///
  /// - Returns: nil where a setting is missing or faulty that has no default.
  package init?(_ section: inout ConfigurationSection) {
    section.require(Self.secretKey, "write where it is: \(SecretReference.forms)")
    let secret = SecretReference.read(Self.secretKey, in: &section)
    let field = Self.field(&section)
    guard let secret, let field else { return nil }
    self.init(secret: secret, field: field)
  }

  private static func field(_ section: inout ConfigurationSection) -> ConfiguredField? {
    let standard = "Authorization"
    var name = section.string("header") ?? standard
    if section.has("header"), let flaw = FieldName.flaw(of: name) {
      section.report("header", flaw.reason, flaw.advice)
    }
    if name.lowercased() == standard.lowercased() { name = standard }
    let scheme = section.string("scheme")
    if let scheme, !scheme.isEmpty, !FieldName.isToken(scheme) {
      section.report(
        "scheme", "must be one word of at most \(FieldName.longest) letters, digits and signs",
        #"write "Bearer", another scheme, or "" for the secret alone"#)
    }
    if section.has("scheme"), name != standard {
      section.report("scheme", "goes with the header Authorization alone", "remove it: \(name) has the secret alone")
    }
    guard !section.isFaulty("header"), !section.isFaulty("scheme") else { return nil }
    return ConfiguredField(name: name, scheme: scheme ?? "Bearer")
  }

  /// All that tells its token from that of another secret.
  var mark: String {
    let place =
      switch secret.place {
      case .file(let path): "file \(path)"
      case .environment(let name): "env \(name)"
      case .command(let command): "command \(command.joined(separator: "\u{0}"))"
      }
    return "\(field.name):\(field.scheme) \(place)"
  }
}

extension StaticProfileConfiguration: RemoteConfiguration {
  package var type: String { StaticProvider.type }

  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder
  ) throws(HTTPFailure) -> any AuthProvider {
    do throws(SecretMemoryExhausted) { return try StaticProvider(self, secrets: secrets) } catch {
      throw .secretMemoryExhausted
    }
  }
}
