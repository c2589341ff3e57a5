package import BrokerCore
import BrokerProtocol
import HTTP
import JOSE
import JSON
import ProviderKit
package import SecretMemory

/// Logins at another device (RFC 8628).
extension OIDCProvider: DeviceLoginProvider {
  /// The lifetime of codes where the provider names none.
  private static let standardLifetime = Duration.seconds(600)
  /// The longest plausible lifetime and interval: no user types a code in after an hour, or waits minutes.
  private static let longestLifetime = Duration.seconds(3600)
  private static let longestInterval = Duration.seconds(60)

  /// Asks for a code (section 3.1).
  func beginDevice(_ scopes: [String]) async throws(ProviderFailure) -> ProviderUserAction {
    let url = try await endpoint(.deviceAuthorization)
    let sentAt = clock()
    var form = wishes(scopes)
    // Who the client is stands in the form, however it proves that (section 3.1): some look for it there only.
    if clientAuthentication == .basic { form.append(("client_id", .text(clientID))) }
    let key = try newKey()
    let reply = try await ask(.deviceAuthorization, url, form)
    return try await reply.read { reader throws(SecretMemoryExhausted) in
      try Self.action(reader.root, scopes, key, sentAt)
    }
  }

  /// Asks once whether the user has been there (section 3.4).
  ///
  /// - Throws: `.refused` with `consentDenied`, with `otpExpired` for a code that is over, with `flowNotFound` for one that
  ///   is unknown; `.transient` and `.outcomeUnknown` for what went wrong on the way.
  package func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress {
    guard case .device(let code, let scopes, let key) = try pendingFlow(flow) else { throw .refused(.flowNotFound) }
    let form: TokenCaller.Form = [
      ("grant_type", .text("urn:ietf:params:oauth:grant-type:device_code")), ("device_code", .secret(code)),
    ]
    let reply = try await ask(.device, try await tokenEndpoint(), form, key: key)
    switch reply.refusal?.code {
    case "authorization_pending": return .pending(slowsDown: false)
    case "slow_down": return .pending(slowsDown: true)
    case nil where reply.isStillPending: return .pending(slowsDown: false)
    default: return .authenticated(try await session(reply, scopes))
    }
  }

  /// The user action of a reply; nil where the reply has none, or one that must not be shown.
  private static func action(
    _ root: JSONNode, _ scopes: [String], _ key: ProofKey?, _ sentAt: Timestamp
  ) throws(SecretMemoryExhausted) -> ProviderUserAction? {
    // Google calls it by the name that it had in drafts.
    guard let code = try root["device_code"]?.foundSecret(), code.byteCount > 0,
      let userCode = root["user_code"].flatMap(text),
      let address = (root["verification_uri"] ?? root["verification_url"]).flatMap(address)
    else { return nil }
    let flow = try PendingFlow.device(code: code, scopes: scopes, key: key).handle()
    let lifetime = root["expires_in"].flatMap { seconds($0, atMost: longestLifetime) } ?? standardLifetime
    let interval =
      root["interval"].flatMap { seconds($0, atMost: longestInterval) } ?? ProviderUserAction.standardInterval
    return ProviderUserAction(
      flow: flow, kind: .deviceCode, verificationURI: address,
      verificationURIComplete: (root["verification_uri_complete"] ?? root["verification_url_complete"])
        .flatMap(Self.address),
      userCode: userCode, expiresAt: sentAt + lifetime, interval: interval)
  }

  /// A number of seconds, cut to a plausible one; nil for anything else.
  private static func seconds(_ node: JSONNode, atMost longest: Duration) -> Duration? {
    guard let seconds = NumericDate.number(node), seconds >= 1 else { return nil }
    return seconds < longest.inSeconds ? .milliseconds(Int64(seconds * 1000)) : longest
  }

  /// A short text that is fit to be seen as it is.
  private static func text(_ node: JSONNode) -> String? {
    let digits = node.kind == .integer ? String(decoding: node.text, as: UTF8.self) : nil
    guard let text = digits ?? (try? node.string()), (1...64).contains(text.utf8.count), SanitizedText(text).isUnchanged
    else {
      return nil
    }
    return text
  }

  /// An address that may be shown: one that could be called, too.
  private static func address(_ node: JSONNode) -> String? {
    guard let text = try? node.string(), (try? HTTPURL(text)) != nil else { return nil }
    return text
  }
}
