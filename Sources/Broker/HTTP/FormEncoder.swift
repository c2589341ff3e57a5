package import SecretMemory
import TextCoding

/// Writes `application/x-www-form-urlencoded` (RFC 6749, appendix B): names and values are percent-encoded, a space
/// becomes `+`.
///
/// Its buffer is wiped when it grows and when the body is made from it.
package final class FormEncoder {
  private var bytes: [UInt8] = []

  /// An empty form.
  package init() {}

  deinit {
    wipe(&bytes)
  }

  /// Adds a field.
  package func append(_ name: String, _ value: String) {
    begin(name)
    encode(value.utf8.span)
  }

  /// Adds a field whose value is secret.
  package func append(_ name: String, _ value: Secret) {
    begin(name)
    value.withBytes { encode($0) }
  }

  /// The body of a request with a deadline.
  ///
  /// - Throws: `HTTPFailure.secretMemoryExhausted`.
  package func finish(for deadline: HTTPRequest.Deadline) throws(HTTPFailure) -> HTTPBody {
    .form(try HTTPBody.secret(wiping: &bytes, for: deadline))
  }

  private func begin(_ name: String) {
    if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
    encode(name.utf8.span)
    reserve(1)
    bytes.append(UInt8(ascii: "="))
  }

  private func encode(_ text: Span<UInt8>) {
    // Room for every byte as %XX, and for the `&` or `=` that follows.
    reserve(3 * text.count + 2)
    for index in text.indices { PercentEncoding.append(text[index], as: .form, to: &bytes) }
  }

  private func reserve(_ count: Int) {
    bytes.reserveWiping(count)
  }
}

extension [UInt8] {
  /// Makes room for `count` more bytes without leaving a copy of the present ones behind.
  mutating func reserveWiping(_ count: Int) {
    guard self.count + count > capacity else { return }
    var larger: [UInt8] = []
    larger.reserveCapacity(Swift.max(2 * capacity, self.count + count, 256))
    larger += self
    wipe(&self)
    self = larger
  }
}
