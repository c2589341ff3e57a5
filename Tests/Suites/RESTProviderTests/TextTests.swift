import BrokerProtocol
import HTTP
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

/// What of a backend's texts people see, and what of theirs a backend is sent.
@Suite(.standardTimeLimit) struct TextTests {
  @Test(arguments: [
    ("Ann", "Ann"), ("", ""), ("Änn 山田", "Änn 山田"), ("a\u{0}b\u{1B}[31mc", "ab[31mc"),
    ("a\u{7F}b\u{85}c\u{9B}d", "abcd"),
    ("a\r\nb\tc", "abc"), ("a\u{202A}b\u{202E}c\u{2066}d\u{2069}e", "abcde"),
    ("a\u{200B}b\u{200D}c\u{FEFF}d\u{2060}e", "abcde"),
    ("a\u{2028}b\u{2029}c", "abc"), ("a\u{E0041}b\u{E000}c", "abc"), ("👩‍💻", "👩💻"), ("\u{61C}\u{200E}\u{200F}", ""),
  ])
  func `what steers a terminal or hides is left out`(_ raw: String, _ clean: String) {
    let text = SanitizedText(raw)
    #expect(text.text == clean && text.isUnchanged == (raw == clean))
    #expect((text.orNil == nil) == clean.isEmpty)
    #expect(SanitizedText(clean).isUnchanged)
  }

  @Test func `a long text is cut`() {
    #expect(SanitizedText(String(repeating: "a", count: 256)).isUnchanged)
    let long = SanitizedText(String(repeating: "ä", count: 257))
    #expect(long.text.unicodeScalars.count == 256 && !long.isUnchanged)
  }

  @Test(arguments: [
    ("+15550100123", "+•••••••••23"), ("*******0123", "*******0123"), ("+1 (555) 010-0123", "+• (•••) •••-••23"),
    ("01234", "•••34"), ("0123", "0123"), ("", ""), ("•••23", "•••23"), ("ann@example.com", "a•••@example.com"),
    ("a***n@example.com", "a***n@example.com"), ("@example.com", "•••@example.com"),
    ("max@example.com", "m•••@example.com"),
    ("\u{202E}+15550100123", "+•••••••••23"), ("١٢٣٤٥٦", "••••٥٦"), ("a@b@example.com", "a•••@example.com"),
    ("a***1234567@example.com", "a***•••••67@example.com"),
  ])
  func `a destination is masked where it is not`(_ raw: String, _ masked: String) {
    #expect(MaskedDestination(raw).text == masked)
    #expect(MaskedDestination(masked).text == masked)
  }

  private func fields() throws -> RequestFields {
    var fields = RequestFields()
    fields.set("email", .text("a+b@example.com"))
    fields.set("password", .secret(try Secret(utf8: "p\"ä &=%\n")))
    fields.set("n", .json(RawJSON(text: Array("null".utf8))))
    fields.set("s", .json(RawJSON(text: Array(#""x y""#.utf8))))
    fields.set("k", .constant(.whole(7)))
    fields.set("f", .constant(.flag(true)))
    fields.set("email", .text("a@b.example"))
    return fields
  }

  @Test func `a body is JSON, or a form`() throws {
    let json = try fields().body(.json, for: .interactive)
    #expect(json.contentType == "application/json")
    #expect(
      json.bytes.revealedString()
        == #"{"password":"p\"ä &=%\n","n":null,"s":"x y","k":7,"f":true,"email":"a@b.example"}"#)
    let form = try fields().body(.form, for: .interactive)
    #expect(form.contentType == "application/x-www-form-urlencoded")
    #expect(form.bytes.revealedString() == "password=p%22%C3%A4+%26%3D%25%0A&n=&s=x+y&k=7&f=true&email=a%40b.example")
  }
}
