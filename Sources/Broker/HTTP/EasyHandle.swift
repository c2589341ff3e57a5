import CCurl

/// One easy handle of libcurl: the settings and the outcome of one transfer at a time.
///
/// It is used on its client's thread only.
@safe
final class EasyHandle {
  /// libcurl's pointer.
  let pointer: UnsafeMutableRawPointer
  private let library: CurlLibrary
  // The first setting that was refused since the last reset.
  private var refusal = CURLE_OK
  /// The form of request that the settings are for; nil where there are none, or none that serve another request.
  var form: RequestForm?

  /// Makes a handle.
  ///
  /// - Throws: `HTTPFailure.setUpFailed` when there is no memory.
  init(library: CurlLibrary) throws(HTTPFailure) {
    // The table is filled for good.
    guard let pointer = unsafe ccurl_easy_init(library.table) else { throw .setUpFailed }
    unsafe self.pointer = pointer
    self.library = library
  }

  deinit {
    // In no multi handle any more: `TransferSet` takes it out first.
    unsafe ccurl_easy_cleanup(library.table, pointer)
  }

  /// Whether every setting since the last reset was accepted.
  var isSound: Bool { refusal == CURLE_OK }

  /// Forgets all settings; keeps the TLS sessions, which speed up the next transfer.
  func reset() {
    // The handle is this object's, here and below.
    unsafe ccurl_easy_reset(library.table, pointer)
    refusal = CURLE_OK
    form = nil
  }

  /// Forgets what belonged to a transfer that is over; settings that serve another one are kept.
  func endTransfer() {
    guard form != nil else { return reset() }
    // Nothing is pointed to here; what the callbacks get is set again before the next transfer.
    unsafe set(CURLOPT_ERRORBUFFER, address: nil)
    // As above.
    unsafe set(CURLOPT_HTTPHEADER, address: nil)
    // Its query may be a secret.
    set(CURLOPT_URL, nil)
  }

  /// Sets a number or a switch.
  func set(_ option: CURLoption, _ value: Int) {
    // `option` takes a long, as its name says to those who call this.
    note(unsafe ccurl_set_long(library.table, pointer, option, value))
  }

  /// Sets a number that libcurl wants as a file offset.
  func setOffset(_ option: CURLoption, _ value: Int) {
    // `option` takes a curl_off_t.
    note(unsafe ccurl_set_offset(library.table, pointer, option, curl_off_t(value)))
  }

  /// Sets a string, which libcurl copies; `nil` clears it.
  func set(_ option: CURLoption, _ value: String?) {
    // The text is NUL-terminated for the call; `option` takes one and copies it.
    note(unsafe ccurl_set_string(library.table, pointer, option, value))
  }

  /// Sets a NUL-terminated text that is not a `String`, which libcurl copies.
  @unsafe
  func set(_ option: CURLoption, text: UnsafePointer<CChar>) {
    // As above.
    note(unsafe ccurl_set_string(library.table, pointer, option, text))
  }

  /// Sets bytes, which libcurl copies.
  func set(_ option: CURLoption, _ bytes: [UInt8]) {
    // `option` takes a blob; the bytes are lent for the call, and copied.
    unsafe bytes.withUnsafeBytes { bytes in
      // As above.
      note(unsafe ccurl_set_blob(library.table, pointer, option, bytes.baseAddress, bytes.count))
    }
  }

  /// Sets an address that stays valid until the transfer is over.
  @unsafe
  func set(_ option: CURLoption, address: UnsafeMutableRawPointer?) {
    // `option` takes a pointer; the caller vouches for its life.
    note(unsafe ccurl_set_pointer(library.table, pointer, option, address))
  }

  /// Sets the callback for the next piece of an upload.
  ///
  /// - Parameters:
  ///   - read: fills the room that libcurl has for it.
  ///   - context: what it gets; alive until the transfer is over.
  @unsafe
  func setReader(_ read: curl_read_callback, context: UnsafeMutableRawPointer) {
    // The function is a C function pointer without captures.
    note(unsafe ccurl_set_reader(library.table, pointer, read, context))
  }

  /// Sets the callbacks for each piece of the body, each line of the header and each sending.
  ///
  /// - Parameters:
  ///   - body: gets pieces of the body.
  ///   - header: gets lines of the header.
  ///   - before: is called on each connection that is about to be used.
  ///   - open: makes a socket.
  ///   - context: what they get; alive until the transfer is over.
  @unsafe
  func setCallbacks(
    body: curl_write_callback, header: curl_write_callback, before: curl_prereq_callback,
    open: curl_opensocket_callback, context: UnsafeMutableRawPointer
  ) {
    // The functions are C function pointers without captures.
    note(unsafe ccurl_set_callbacks(library.table, pointer, body, header, before, open, context))
  }

  /// Lets a transfer go on whose callbacks had it wait; they are called in here, too.
  func resume() -> CURLcode {
    // The handle is this object's.
    unsafe ccurl_resume(library.table, pointer)
  }

  /// Reads a number of the finished transfer; 0 where there is none.
  func number(_ info: CURLINFO) -> Int {
    // `info` is one that gives a long, as its name says to those who call this.
    unsafe ccurl_get_long(library.table, pointer, info)
  }

  /// Whether the transfer uses a connection that was kept; asked once it has one.
  var usesKeptConnection: Bool { number(CURLINFO_NUM_CONNECTS) == 0 }

  /// Notes that something cannot be set at all.
  func refuse() { note(CURLE_BAD_FUNCTION_ARGUMENT) }

  private func note(_ result: CURLcode) {
    if refusal == CURLE_OK { refusal = result }
  }
}
