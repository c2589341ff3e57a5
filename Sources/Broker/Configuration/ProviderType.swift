package import BrokerCore
import ConfigurationFile
import FirebaseProvider
import OIDCProvider
package import ProviderKit
import RESTProvider
import StaticProvider

/// A type of provider that a profile can name.
package struct ProviderType: Sendable {
  /// Its name in the configuration, in sessions and in capabilities.
  package let name: String
  /// Its name for people.
  package let title: String
  /// The keys that a person who sets up a profile is asked for, in order.
  let askedKeys: [String]
  /// The way to obtain a client, or a key; nil where a profile needs neither.
  package let registration: ClientRegistration?
  /// The abilities of such a provider in its default configuration, listed as long as no profile uses the type.
  ///
  /// A provider itself says what it can do, see ``AuthProvider/capabilities``; a test holds the two equal.
  package let abilities: Set<ProviderAbility>
  /// Reads the provider's settings in a profile's section; nil where a setting is missing or faulty that has no
  /// default.
  let read: @Sendable (inout ConfigurationSection) -> ProfileConfiguration.Provider?
  /// Whether its profiles have sessions, and the settings that are about them.
  var hasSessions: Bool { name != StaticProvider.type }

  private static let everything = Set(ProviderAbility.allCases)

  /// All types, in the order in which capabilities list them.
  package static let all: [ProviderType] =
    [
      ProviderType(
        name: "local", title: "accounts on this machine (the embedded provider)", askedKeys: [], registration: nil,
        abilities: everything.subtracting([.awaitLogin, .createProof])
      ) { _ in .local },
      ProviderType(
        name: RESTProvider.type, title: "a REST backend, by its base URL", askedKeys: ["baseUrl"], registration: nil,
        abilities: everything.subtracting([.generateBackupCodes, .awaitLogin, .createProof])
      ) { section in
        RESTProfileConfiguration(&section).map { .remote($0) }
      },
    ]
    + OIDCPreset.all.map { preset in
      ProviderType(
        name: preset.name, title: preset.title,
        askedKeys: preset.keys + ["clientId", "clientSecret", "redirectUri"], registration: preset.registration,
        abilities: preset.abilities
      ) { section in
        OIDCProfileConfiguration(preset, &section).map { .remote($0) }
      }
    } + [
      ProviderType(
        name: FirebaseProvider.type, title: "Firebase Authentication", askedKeys: ["apiKey"],
        registration: FirebaseProvider.registration,
        abilities: everything.subtracting([
          .resendOtp, .verifyBackupCode, .generateBackupCodes, .awaitLogin, .createProof,
        ])
      ) { section in
        FirebaseProfileConfiguration(&section).map { .remote($0) }
      },
      ProviderType(
        name: StaticProvider.type, title: "an API key or access token that you have", askedKeys: ["secret", "header"],
        registration: nil, abilities: []
      ) { section in
        StaticProfileConfiguration(&section).map { .remote($0) }
      },
    ]

  /// The type with a name; nil where there is none.
  static func named(_ name: String) -> ProviderType? { all.first { $0.name == name } }
}
