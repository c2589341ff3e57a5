import BrokerProtocol
import HTTP
import SecretMemory

/// A message as a mail: a header (RFC 5322) and a body of MIME text in UTF-8 (RFC 2045, RFC 2046).
///
/// Every value in the header is one of this program's own, or an address that was checked, so no line can be smuggled in.
struct MailText {
  /// The longest line of an encoded body, without CRLF (RFC 2045, section 6.7, rule 5).
  private static let longestLine = 76
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private var bytes: [UInt8] = []
  /// How many bytes the present line of the body has.
  private var column = 0

  private init() {}

  /// Writes a message as a mail, with CRLF at each line's end.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func written(
    _ message: OutboundMessage, from sender: MailAddress, to recipient: MailAddress
  ) throws(SecretMemoryExhausted) -> Secret {
    var text = MailText()
    let header = [
      "Date: \(date(message.createdAt))",
      "From: <\(sender.text)>",
      "To: <\(recipient.text)>",
      "Subject: \(headerText(message.subject))",
      "Message-ID: <\(message.id)@\(sender.domain)>",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
      // No answering machine is to answer it (RFC 3834, section 5).
      "Auto-Submitted: auto-generated",
      "", "",
    ].joined(separator: "\r\n")
    // Room for the header, and for each byte of the body as =XX with a soft line break: the buffer never moves.
    text.bytes.reserveCapacity(header.utf8.count + 6 * message.body.byteCount + 2)
    text.bytes += header.utf8
    message.body.withBytes { text.append($0) }
    text.endLine()
    return try Secret(wiping: &text.bytes)
  }

  /// Text as a header has it: as it is in ASCII, else as encoded words of whole characters (RFC 2047, section 2).
  static func headerText(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text }
    var words = [""]
    for scalar in text.unicodeScalars {
      let encoded = encodedWordPart(scalar)
      // A word may have 75 characters, 12 of them around the text.
      if words[words.count - 1].utf8.count + encoded.utf8.count > 63 { words.append("") }
      words[words.count - 1] += encoded
    }
    return words.map { "=?utf-8?Q?\($0)?=" }.joined(separator: "\r\n ")
  }

  private static func encodedWordPart(_ scalar: Unicode.Scalar) -> String {
    if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil { return String(scalar) }
    let digits = Array("0123456789ABCDEF")
    return String(scalar).utf8.map { "=\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
  }

  /// A moment in the form of RFC 5322, section 3.3, such as `6 Nov 1994 08:49:37 +0000`.
  static func date(_ moment: Timestamp) -> String {
    let text = moment.description
    let month = Int(text.dropFirst(5).prefix(2)) ?? 1
    let day = Int(text.dropFirst(8).prefix(2)) ?? 1
    return "\(day) \(months[month - 1]) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) +0000"
  }

  /// Writes text as quoted-printable (RFC 2045, section 6.7).
  private mutating func append(_ text: Span<UInt8>) {
    for index in text.indices {
      let byte = text[index]
      let isLast = index + 1 == text.count || text[index + 1] == UInt8(ascii: "\n")
      switch byte {
      case UInt8(ascii: "\n"): endLine()
      case UInt8(ascii: "="), 0x00..<0x20, 0x7F...0xFF: escape(byte)
      // Blanks at a line's end are lost on the way.
      case UInt8(ascii: " ") where isLast: escape(byte)
      default:
        makeRoom(for: 1)
        bytes.append(byte)
      }
    }
  }

  private mutating func escape(_ byte: UInt8) {
    let digits = "0123456789ABCDEF".utf8.span
    makeRoom(for: 3)
    bytes += [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  /// Goes on in the next line where the present one would be too long with `count` more bytes and a soft line break.
  private mutating func makeRoom(for count: Int) {
    if column + count >= Self.longestLine {
      bytes.append(UInt8(ascii: "="))
      endLine()
    }
    column += count
  }

  private mutating func endLine() {
    bytes += [0x0D, 0x0A]
    column = 0
  }
}
