package import SecretMemory
import TextCoding

/// Finds a token in what a server answers, in each of the forms in which requests and logs have it, and takes it out.
///
/// Plain, percent-encoded (RFC 3986), as JSON escapes a slash, and in base64 at each of the three places at which it may begin,
/// as in the credentials of basic authentication (RFC 7617). A form has no copy here beyond the life of this value.
package struct SecretEcho: ~Copyable {
  /// The mark in the place of the token.
  private static let mark = Array("[token]".utf8)
  /// A shorter text is no token, and may stand anywhere.
  private static let shortest = 8

  /// A form, and for each of its beginnings the longest one that it ends with.
  private struct Form {
    var bytes: [UInt8]
    var borders: [Int]

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      borders = [Int](repeating: 0, count: bytes.count)
      var length = 0
      for index in bytes.indices.dropFirst() {
        while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
        if bytes[index] == bytes[length] { length += 1 }
        borders[index] = length
      }
    }
  }

  private var forms: [Form] = []

  /// The forms of a token.
  package init(of token: Secret) {
    token.withBytes { bytes in
      guard bytes.count >= Self.shortest else { return }
      var plain: [UInt8] = []
      plain.reserveCapacity(bytes.count)
      for index in bytes.indices { plain.append(bytes[index]) }
      forms = Self.forms(of: plain).map { Form($0) }
      wipe(&plain)
    }
  }

  deinit {
    var forms = forms
    for index in forms.indices { wipe(&forms[index].bytes) }
  }

  private static func forms(of plain: [UInt8]) -> [[UInt8]] {
    var forms = [plain, percentEncoded(plain), slashEscaped(plain)]
    for offset in 0..<3 {
      for form in [Base64.Form.padded, .url] {
        var padded = [UInt8](repeating: 0, count: offset) + plain
        let text = Base64.encode(padded.span, as: form)
        wipe(&padded)
        // The first characters hang on what stands before it, and the last on what follows.
        let tail = (offset + plain.count) % 3
        let padding = form == .padded && tail > 0 ? 3 - tail : 0
        forms.append(Array(text.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(padding + (tail > 0 ? 1 : 0))))
      }
    }
    var unique: [[UInt8]] = []
    for form in forms where form.count >= shortest && !unique.contains(form) { unique.append(form) }
    return unique
  }

  private static func percentEncoded(_ plain: [UInt8]) -> [UInt8] {
    plain.flatMap { byte in
      PercentEncoding.isUnreserved(byte)
        ? [byte] : Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
    }
  }

  private static func slashEscaped(_ plain: [UInt8]) -> [UInt8] {
    plain.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
  }

  /// A text without the token.
  package func removed(from text: String) -> String {
    String(decoding: removed(from: Array(text.utf8)), as: UTF8.self)
  }

  /// Bytes without the token.
  package func removed(from bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for form in forms { bytes = Self.replacing(form, in: bytes) }
    return bytes
  }

  /// Bytes with the mark in each place of a form (Knuth, Morris and Pratt): its time does not hang on what a server makes
  /// of it.
  private static func replacing(_ form: Form, in bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var (copied, matched) = (0, 0)
    for index in bytes.indices {
      while matched > 0, bytes[index] != form.bytes[matched] { matched = form.borders[matched - 1] }
      if bytes[index] == form.bytes[matched] { matched += 1 }
      guard matched == form.bytes.count else { continue }
      result += bytes[copied..<(index + 1 - form.bytes.count)] + mark
      (copied, matched) = (index + 1, 0)
    }
    return copied == 0 ? bytes : result + bytes[copied...]
  }
}
