import CCurl

/// Failures of a mail's transfer, in this module's terms.
extension HTTPFailure {
  /// Names the failure of a mail's transfer.
  ///
  /// - Parameters:
  ///   - end: how it ended.
  ///   - reply: the server's last reply code; 0 where it has said nothing.
  init(mail end: TransferEnd, reply: Int) {
    switch end.code {
    case CURLE_LOGIN_DENIED: self = .mailRefused(MailRefusal(step: .login, code: reply))
    case CURLE_USE_SSL_FAILED: self = .tlsFailed(.protocolVersion)
    // libcurl's own limit, 300 KiB, for which it has no code before 8.6.
    case CURLE_RECV_ERROR where end.words.hasPrefix("Too large response"): self = .responseTooLarge
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED:
      guard reply >= 400 else {
        self = end.code == CURLE_WEIRD_SERVER_REPLY ? .malformedResponse : .connectionLost(sent: end.sent)
        return
      }
      self = .mailRefused(MailRefusal(step: Self.step(end), code: reply))
    default: self = HTTPFailure(end)
    }
  }

  // libcurl has no codes of its own for the two addresses.
  private static func step(_ end: TransferEnd) -> MailRefusal.Step {
    if !end.sent { return .connection }
    if end.words.hasPrefix("MAIL failed") { return .sender }
    return end.words.hasPrefix("RCPT failed") ? .recipient : .message
  }
}
