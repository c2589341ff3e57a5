import HTTP
import JSON
import ProviderKit
import SecretMemory

/// Sends messages as SMS through a service that takes a form over HTTP, as Twilio does
/// (https://www.twilio.com/docs/messaging/api/message-resource): 2xx is success.
struct SMSChannel: MessageChannel {
  /// The statuses, beside 5xx, that say nothing of the message (RFC 9110, section 15.5.9; RFC 6585, section 4).
  private static let passingStatuses = [408, 429]
  /// Error codes of services have up to five digits; what is longer is none.
  private static let errorCodes = 1...999_999

  let name = DeliveryConfiguration.Channel.sms
  private let settings: SMSConfiguration
  private let transport: PublicTransport
  private let secrets: SecretFinder

  /// A channel through the service of a configuration; `secrets` finds the user's password.
  init(_ settings: SMSConfiguration, client: HTTPClient, secrets: @escaping SecretFinder) {
    self.settings = settings
    self.secrets = secrets
    transport = PublicTransport(client, policy: settings.tls ?? TLSPolicy())
  }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) {
    let credentials = try await credentials()
    let response: HTTPResponse
    do throws(HTTPFailure) {
      let form = FormEncoder()
      form.append(settings.fields.to, message.recipient)
      if let sender = settings.sender { form.append(settings.fields.from, sender) }
      form.append(settings.fields.body, message.body)
      let body = try form.finish(for: .interactive)
      response = try await transport.send(
        HTTPRequest(.post, settings.url, body: body, purpose: "message"), as: credentials)
    } catch { throw DeliveryFailure(error, at: settings.url.origin) }
    guard !(200...299).contains(response.status) else { return }
    throw failure(response)
  }

  private func credentials() async throws(DeliveryFailure) -> ClientCredentials? {
    guard let account = settings.account else { return nil }
    return ClientCredentials(id: account.user, secret: try await account.password(secrets), encoding: .plain)
  }

  /// Tells the status and the service's own error code, but none of its words, which may quote the recipient.
  private func failure(_ response: HTTPResponse) -> DeliveryFailure {
    let code = response.body.withArray { bytes in
      (try? JSONDocument(parsing: bytes))?.root["code"].flatMap { try? $0.integer() }
    }
    let detail = code.flatMap { Self.errorCodes.contains(Int($0)) ? ", error \($0)" : nil } ?? ""
    let text = "\(settings.url.origin): the service answered with status \(response.status)\(detail)"
    let isPassing = response.status >= 500 || Self.passingStatuses.contains(response.status)
    return isPassing ? .unreachable(text) : .refused(text)
  }
}
