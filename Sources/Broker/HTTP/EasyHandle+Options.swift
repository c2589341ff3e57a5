import CCurl
import SecretMemory

/// libcurl's options. Its defaults are written down too where safety rests on them.
extension EasyHandle {
  /// Sets what does not hang on the request itself.
  ///
  /// - Returns: whether all is set already but for address and header lines, since the last request had the same form.
  func prepare(
    for form: RequestForm?, _ settings: HTTPClient.Settings, _ policy: TLSPolicy, _ authorities: AuthorityBundle?
  ) -> Bool {
    if form != nil, form == self.form { return true }
    if self.form != nil { reset() }
    self.form = form
    applyFixed(settings, authorities)
    apply(policy, authorities)
    return false
  }

  /// Sets the options that are the same for every request of a client.
  private func applyFixed(_ settings: HTTPClient.Settings, _ authorities: AuthorityBundle?) {
    set(CURLOPT_USERAGENT, settings.userAgent)
    // No signal handlers and no SIGALRM: this is one thread of many.
    set(CURLOPT_NOSIGNAL, 1)
    // Do not wait for a name server's answer that is not wanted any more.
    set(CURLOPT_QUICK_EXIT, 1)
    // No connection is used again that has been idle for longer than all of them are kept.
    set(CURLOPT_MAXAGE_CONN, max(1, Int(settings.linger.components.seconds)))
    // A 3xx is a response: credentials never go where a server points (CVE-2022-27774, CVE-2022-27776).
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
    set(CURLOPT_UNRESTRICTED_AUTH, 0)
    // Passwords come from the caller alone (CVE-2024-11053, CVE-2025-0167).
    set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    set(CURLOPT_COOKIEFILE, nil)
    // Nothing compressed is asked for; what comes so all the same is unpacked within the limits (`Gzip`).
    set(CURLOPT_ACCEPT_ENCODING, nil)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_PATH_AS_IS, 1)
    // Header lines of ours are not for a proxy, and its own are not part of a response.
    set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    apply(settings.proxy, authorities)
  }

  /// Sets the certificate authorities.
  private func apply(_ policy: TLSPolicy, _ authorities: AuthorityBundle?) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    set(CURLOPT_CAINFO, policy.trustedFile)
    // It holds in place of the file.
    if policy.caFile == nil, let authorities { set(CURLOPT_CAINFO_BLOB, authorities.text) }
    set(CURLOPT_CAPATH, nil)
    if let pins = policy.pins { set(CURLOPT_PINNEDPUBLICKEY, pins.joined) }
  }

  /// Sets the request: address, headers, body and time limit.
  ///
  /// - Parameters:
  ///   - request: kept, with its body, until the transfer is over.
  ///   - header: its header lines; the same.
  ///   - upload: the body, where it is not the request's own.
  ///   - settings: the client's.
  ///   - keepsConnection: whether its connection may serve others after it.
  func apply(
    _ request: HTTPRequest, _ header: StringList, _ upload: HTTPUpload?, _ settings: HTTPClient.Settings,
    keepsConnection: Bool
  ) {
    apply(request.url, header)
    set(CURLOPT_PROTOCOLS_STR, request.url.scheme.rawValue)
    // In the clear is for this machine: no proxy, whatever it is called.
    if request.url.scheme == .http { set(CURLOPT_PROXY, "") }
    setTimeouts(settings)
    if request.delivery == .once, !settings.keepsForOnce { set(CURLOPT_FRESH_CONNECT, 1) }
    if !keepsConnection { set(CURLOPT_FORBID_REUSE, 1) }
    applyBody(request, upload)
  }

  /// Sets address and header lines: all that differs between requests of one form.
  func apply(_ url: HTTPURL, _ header: StringList) {
    set(CURLOPT_URL, url.text)
    // The list lives until the handle is out of its set, and points to it no more.
    unsafe set(CURLOPT_HTTPHEADER, address: header.head)
  }

  /// Sets the time limits: until a connection stands, and for the whole.
  ///
  /// The time of an answer is judged by the set, which knows when the process stood still; libcurl would count that
  /// time, and end a transfer before it reads what has come for it.
  func setTimeouts(_ settings: HTTPClient.Settings, allowed: Duration? = nil) {
    set(CURLOPT_TIMEOUT_MS, allowed.map(Self.milliseconds) ?? 0)
    let connect = settings.timeouts.connect
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(allowed.map { min($0, connect) } ?? connect))
  }

  private func applyBody(_ request: HTTPRequest, _ upload: HTTPUpload?) {
    if let upload {
      set(CURLOPT_UPLOAD, 1)
      setOffset(CURLOPT_INFILESIZE_LARGE, upload.count ?? -1)
    } else if request.method == .head {
      // It is told besides that no body follows, or it waits for one.
      set(CURLOPT_NOBODY, 1)
    } else if request.body == nil, [.get, .delete, .options].contains(request.method) {
      set(CURLOPT_HTTPGET, 1)
    } else {
      set(CURLOPT_POST, 1)
      setOffset(CURLOPT_POSTFIELDSIZE_LARGE, request.body?.bytes.byteCount ?? 0)
      if let body = request.body {
        // The arena's memory stays where it is while the request lives, which the transfer holds; libcurl only reads it.
        body.bytes.withBytes { bytes in
          // As above.
          unsafe bytes.withUnsafeBytes { bytes in
            // As above.
            unsafe set(CURLOPT_POSTFIELDS, address: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
          }
        }
      } else {
        set(CURLOPT_COPYPOSTFIELDS, "")
      }
    }
    if upload != nil || ![.get, .head, .post].contains(request.method) {
      set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  // An empty text, unlike none, keeps libcurl from reading the environment.
  private func apply(_ proxy: ProxySetting, _ authorities: AuthorityBundle?) {
    switch proxy {
    case .none:
      set(CURLOPT_PROXY, "")
      set(CURLOPT_NOPROXY, "")
    case .proxy(let url, let exceptions):
      url.text.withBytes { bytes in
        // The text ends with NUL; libcurl copies it into memory that is wiped when it is freed.
        unsafe bytes.withUnsafeBytes { bytes in
          // As above.
          guard let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return }
          // As above.
          unsafe set(CURLOPT_PROXY, text: start)
        }
      }
      set(CURLOPT_NOPROXY, exceptions)
      // For a proxy that is itself spoken to over TLS.
      set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
      set(CURLOPT_PROXY_CAINFO, TLSPolicy.systemCAFile)
      if let authorities { set(CURLOPT_PROXY_CAINFO_BLOB, authorities.text) }
      set(CURLOPT_PROXY_CAPATH, nil)
    }
  }

  // At least one: zero would be for ever.
  private static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return max(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000), 1)
  }
}
