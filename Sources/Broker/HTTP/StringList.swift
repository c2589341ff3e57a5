import CCurl
import SecretMemory

/// A list of strings as libcurl wants it: one block of the locked arena, and list elements that point into it.
///
/// So a line with credentials has no copy outside that block but those that libcurl makes while it sends.
@safe
final class StringList {
  /// The list's head, for `CURLOPT_HTTPHEADER` or `CURLOPT_MAIL_RCPT`.
  let head: UnsafeMutablePointer<curl_slist>
  private let count: Int
  // Keeps the strings that the list points to.
  private let lines: Secret

  /// Takes over the lines of a writer, at least one.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  init(_ writer: inout HeaderWriter, for deadline: HTTPRequest.Deadline) throws(HTTPFailure) {
    let starts = writer.starts
    lines = try HTTPBody.secret(wiping: &writer.bytes, for: deadline)
    count = starts.count
    let list = UnsafeMutablePointer<curl_slist>.allocate(capacity: count)
    // The arena's memory stays where it is while `lines` lives, which this object holds.
    let base = unsafe lines.withBytes {
      unsafe $0.withUnsafeBufferPointer { unsafe UnsafeMutablePointer(mutating: $0.baseAddress) }
    }
    for (index, start) in starts.enumerated() {
      // Inside the block, where a line begins that ends with NUL. libcurl reads it only.
      let line = unsafe base.map { unsafe UnsafeMutableRawPointer($0 + start).assumingMemoryBound(to: CChar.self) }
      let next = unsafe index + 1 < starts.count ? list + index + 1 : nil
      // There is room for `count` elements.
      unsafe (list + index).initialize(to: curl_slist(data: line, next: next))
    }
    unsafe head = list
  }

  deinit {
    // Made by `init` with that many elements, which are trivial.
    unsafe head.deinitialize(count: count)
    // As above.
    unsafe head.deallocate()
  }
}

extension StringList {
  /// The header lines of a request.
  ///
  /// - Throws: `HTTPFailure.invalidField` when there are too many fields, or the credentials or the cookie cannot be sent;
  ///   `.secretMemoryExhausted`.
  convenience init(
    _ request: HTTPRequest, _ authorization: Authorization, _ upload: HTTPUpload?
  ) throws(HTTPFailure) {
    guard request.fields.count <= HTTPField.most else { throw .invalidField }
    var writer = HeaderWriter()
    try writer.append(authorization)
    if let cookie = request.cookie { try writer.append(cookie) }
    if let proof = request.proof { try writer.append(proof: proof) }
    // An empty one keeps libcurl from naming a type where there is nothing.
    if let type = upload.map(\.contentType) ?? request.body?.contentType {
      writer.append("Content-Type", type)
    } else {
      writer.appendLine("Content-Type:")
    }
    for field in request.fields { writer.append(field.name, field.value) }
    if !request.fields.contains(where: { $0.name.lowercased() == "accept" }) {
      writer.append("Accept", "application/json")
    }
    // An empty one keeps libcurl from asking for leave (100-continue) before it sends a large body.
    writer.appendLine("Expect:")
    try self.init(&writer, for: request.deadline)
  }

  /// The one recipient of a mail.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  convenience init(recipient: MailAddress) throws(HTTPFailure) {
    var writer = HeaderWriter()
    writer.appendLine(recipient.text)
    try self.init(&writer, for: .interactive)
  }
}
