import CCurl
import Glibc
import JSON

/// The end of a transfer that has no response.
struct TransferEnd {
  /// The result code of libcurl.
  var code: CURLcode
  /// Whether a connection stood ready and the request was given to it.
  var sent = false
  /// The last error of a system call, or 0.
  var systemError: Int32 = 0
  /// The result of OpenSSL's check of the certificate (`X509_V_…`, verify(1)), or 0.
  var verification = 0
  /// The status with which a proxy answered CONNECT, or 0.
  var proxyStatus = 0
  /// The proxy in libcurl's words, for the message where it cannot be reached; empty without a proxy.
  var proxyPlace = ""
  /// The source of the certificate authorities, for the message where they cannot be read, or do not vouch for the
  /// certificate.
  var authorities = AuthoritySource.system
  /// Whether some of those cannot be read that are trusted beside the system's.
  var lacksAuthorities = false
  /// libcurl's own words: read here, never shown or logged, since they may quote the server.
  var words = ""
}

/// libcurl's codes (libcurl-errors(3)) in this module's terms.
extension HTTPFailure {
  // X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
  private static let wrongTime = [9, 10]
  // What OpenSSL says of a first record that is none, by its versions; SSL 3 and before look the same.
  private static let plainAnswers = ["wrong version number", "packet length too long", "http request"]

  /// Names the failure of a transfer.
  init(_ end: TransferEnd) {
    if end.proxyStatus != 0, !(200...299).contains(end.proxyStatus), !end.sent {
      self = .proxyFailed
      return
    }
    switch end.code {
    case CURLE_COULDNT_RESOLVE_HOST: self = .nameNotResolved
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: self = .proxyFailed
    case CURLE_COULDNT_CONNECT:
      let isProxy = !end.proxyPlace.isEmpty && end.words.includes(" " + end.proxyPlace)
      self = isProxy ? .proxyFailed : .connectFailed
    case CURLE_OPERATION_TIMEDOUT: self = .timedOut(sent: end.sent)
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self = .pinMismatch
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK:
      self = .connectionLost(sent: end.sent)
    case CURLE_RECV_ERROR: self = Self.receiving(end)
    case CURLE_WRITE_ERROR: self = .malformedResponse
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_CHUNK_FAILED:
      self = end.sent ? .malformedResponse : .setUpFailed
    case CURLE_FILESIZE_EXCEEDED: self = .responseTooLarge
    // Also what a single endless header line ends with.
    case CURLE_OUT_OF_MEMORY: self = end.sent ? .responseTooLarge : .setUpFailed
    case CURLE_URL_MALFORMAT: self = .invalidURL
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_CERTPROBLEM,
      CURLE_USE_SSL_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_SHUTDOWN_FAILED:
      self = Self.handshake(end)
    default: self = end.sent ? .connectionLost(sent: true) : .setUpFailed
    }
  }

  private static func receiving(_ end: TransferEnd) -> HTTPFailure {
    // Broken chunks have no code of their own in libcurl.
    if end.sent, end.words.includes("chunk") { return .malformedResponse }
    return .connectionLost(sent: end.sent)
  }

  // The handshake comes before the request, always.
  private static func handshake(_ end: TransferEnd) -> HTTPFailure {
    switch end.code {
    case CURLE_SSL_CACERT_BADFILE: return .tlsFailed(.caFile(end.authorities))
    case CURLE_PEER_FAILED_VERIFICATION:
      if wrongTime.contains(end.verification) { return .tlsFailed(.expired) }
      // libcurl compares the name itself, after OpenSSL has found nothing wrong, and has no code of its own for that.
      if end.verification <= 1, end.words.includes("subject") { return .tlsFailed(.hostMismatch) }
      return .tlsFailed(end.lacksAuthorities ? .caFile(end.authorities) : .untrusted)
    case CURLE_SSL_CONNECT_ERROR:
      if plainAnswers.contains(where: end.words.includes) { return .tlsFailed(.plain) }
      if ["unsupported protocol", "protocol version"].contains(where: end.words.includes) {
        return .tlsFailed(.protocolVersion)
      }
      let isGone = [ECONNRESET, EPIPE].contains(end.systemError) || end.words.includes("SYSCALL")
      return isGone || end.words.includes("unexpected eof") ? .connectionLost(sent: false) : .tlsFailed(.other)
    default: return .tlsFailed(.other)
    }
  }
}
