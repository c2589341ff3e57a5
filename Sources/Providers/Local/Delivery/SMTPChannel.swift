import HTTP
import ProviderKit
import SecretMemory

/// Sends messages as mails through a mail server.
struct SMTPChannel: MessageChannel {
  let name = DeliveryConfiguration.Channel.smtp
  private let settings: SMTPConfiguration
  private let transport: MailTransport
  private let secrets: SecretFinder

  /// A channel through the server of a configuration.
  ///
  /// - Parameters:
  ///   - settings: where the server is, and who sends.
  ///   - client: sends the mails and nothing else (see ``MailTransport``).
  ///   - secrets: finds the user's password.
  init(_ settings: SMTPConfiguration, client: HTTPClient, secrets: @escaping SecretFinder) {
    self.settings = settings
    self.secrets = secrets
    transport = MailTransport(client, policy: settings.tls ?? TLSPolicy())
  }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) {
    guard let recipient = MailAddress(message.recipient) else {
      throw .refused("the recipient's e-mail address cannot be used with SMTP")
    }
    let login = try await login()
    let content: Secret
    do throws(SecretMemoryExhausted) {
      content = try MailText.written(message, from: settings.sender, to: recipient)
    } catch { throw DeliveryFailure(.secretMemoryExhausted, at: settings.server.text) }
    // Where a policy was configured, it is meant to count: on this machine, too.
    let mail = Mail(
      via: settings.server, from: settings.sender, to: recipient, content: content, login: login,
      startsTLS: settings.tls != nil)
    do throws(HTTPFailure) { try await transport.send(mail) } catch {
      throw DeliveryFailure(error, at: settings.server.text)
    }
  }

  private func login() async throws(DeliveryFailure) -> Mail.Login? {
    guard let account = settings.account else { return nil }
    return Mail.Login(user: account.user, password: try await account.password(secrets))
  }
}
