import CCurl
import SecretMemory

/// libcurl's options for a mail.
extension EasyHandle {
  /// The authentication mechanisms: both send the password as it is, which TLS or the machine's borders protect; those
  /// that libcurl would prefer (Kerberos, NTLM) may be offered by a server without being of use here.
  private static let mechanisms = "AUTH=PLAIN;AUTH=LOGIN"

  /// Sets the message, its recipients and the time limit.
  ///
  /// - Parameters:
  ///   - mail: kept, with its content, until the transfer is over.
  ///   - recipients: the same.
  ///   - settings: the client's.
  ///   - allowed: how long it may take: libcurl, unlike the set, can end it without a farewell.
  func apply(_ mail: Mail, _ recipients: StringList, _ settings: HTTPClient.Settings, allowed: Duration) {
    set(CURLOPT_URL, mail.server.text)
    set(CURLOPT_PROTOCOLS_STR, mail.server.scheme.rawValue)
    // Proxies for the web do not pass mail on.
    set(CURLOPT_PROXY, "")
    setTimeouts(settings, allowed: allowed)
    let answer = min(settings.timeouts.connect, allowed)
    set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(answer.components.seconds)))
    set(CURLOPT_USE_SSL, Int((mail.startsTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
    set(CURLOPT_FRESH_CONNECT, 1)
    set(CURLOPT_FORBID_REUSE, 1)
    set(CURLOPT_MAIL_FROM, mail.sender.text)
    // The list lives until the handle is out of its set and reset.
    unsafe set(CURLOPT_MAIL_RCPT, address: recipients.head)
    set(CURLOPT_UPLOAD, 1)
    setOffset(CURLOPT_INFILESIZE_LARGE, mail.content.byteCount)
    guard let login = mail.login else { return }
    set(CURLOPT_LOGIN_OPTIONS, Self.mechanisms)
    set(CURLOPT_USERNAME, login.user)
    set(CURLOPT_PASSWORD, login.password)
  }

  /// Shortens the farewell before a mail is given up: libcurl says QUIT to the server, and waits for the answer with
  /// everything else standing still.
  ///
  /// From now on it waits for an answer for a second only, which is the least that it can be told.
  func shortenFarewell() {
    form = nil
    set(CURLOPT_SERVER_RESPONSE_TIMEOUT, 1)
  }

  /// Sets a secret string, which libcurl copies into memory that is wiped when it is freed.
  ///
  /// One with a zero byte, or for which there is no memory, makes the handle unsound.
  private func set(_ option: CURLoption, _ text: Secret) {
    let isText = text.withBytes { bytes in !bytes.indices.contains { bytes[$0] == 0 } }
    let copy = try? Secret(byteCount: text.byteCount + 1) { target in
      text.withBytes { bytes in
        for index in bytes.indices { target[index] = bytes[index] }
      }
    }
    guard isText, let copy else { return refuse() }
    copy.withBytes { bytes in
      // The text ends with NUL; libcurl copies it.
      unsafe bytes.withUnsafeBytes { bytes in
        // As above.
        guard let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return }
        // As above.
        unsafe set(option, text: start)
      }
    }
  }
}
