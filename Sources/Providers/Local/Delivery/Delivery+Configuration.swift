import BrokerProtocol
package import HTTP
import LinuxSystem
package import ProviderKit

extension Delivery {
  /// The clients and the environment that the channels work with.
  package struct Means: Sendable {
    /// Sends mails and nothing else: a mail server may keep its thread waiting.
    let mailClient: HTTPClient
    /// Sends forms.
    let formClient: HTTPClient
    /// Finds the passwords.
    let secrets: SecretFinder
    /// The environment, part of which a program gets.
    let environment: [String: String]

    /// Takes the given clients and environment.
    package init(
      mailClient: HTTPClient, formClient: HTTPClient, secrets: @escaping SecretFinder, environment: [String: String]
    ) {
      self.mailClient = mailClient
      self.formClient = formClient
      self.secrets = secrets
      self.environment = environment
    }
  }

  /// Sends messages as a configuration says, from now on; those under way stay on their ways.
  package func use(_ configuration: DeliveryConfiguration, with means: Means) {
    use([.email: configuration.email, .sms: configuration.sms].compactMapValues { Self.channel($0, with: means) })
  }

  private static func channel(_ configuration: ChannelConfiguration, with means: Means) -> (any MessageChannel)? {
    switch configuration {
    case .outbox: nil
    case .command(let command): UserProgram(command, environment: means.environment).map { CommandChannel($0) }
    case .smtp(let settings): SMTPChannel(settings, client: means.mailClient, secrets: means.secrets)
    case .sms(let settings): SMSChannel(settings, client: means.formClient, secrets: means.secrets)
    }
  }
}
