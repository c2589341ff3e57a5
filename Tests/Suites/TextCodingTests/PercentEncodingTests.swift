import TestSupport
import Testing
import TextCoding

@Suite(.standardTimeLimit) struct PercentEncodingTests {
  private func form(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 { PercentEncoding.append(byte, as: .form, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a component has nothing but unreserved characters`() {
    #expect(
      PercentEncoding.encoded("a b/c?d=e&f#g%h*i~j-k._\r\né")
        == "a%20b%2Fc%3Fd%3De%26f%23g%25h%2Ai~j-k._%0D%0A%C3%A9")
    #expect(PercentEncoding.encoded("a/b:c?", keeping: "/:") == "a/b:c%3F")
  }

  @Test func `a form writes a space as a plus, and treats asterisk and tilde the other way`() {
    #expect(form("a b*~+%é") == "a+b*%7E%2B%25%C3%A9")
  }

  @Test func `every text is read back`() {
    let all = (0...UInt8.max).map { $0 }
    var (component, form): ([UInt8], [UInt8]) = ([], [])
    for byte in all {
      PercentEncoding.append(byte, as: .component, to: &component)
      PercentEncoding.append(byte, as: .form, to: &form)
    }
    #expect(PercentEncoding.decoded(component, as: .component) == all)
    #expect(PercentEncoding.decoded(form, as: .form) == all)
    #expect(PercentEncoding.decoded(Array("a+%2f%2F".utf8), as: .component) == Array("a+//".utf8))
    #expect(PercentEncoding.decoded(Array("a+%2f%2F".utf8), as: .form) == Array("a //".utf8))
  }

  @Test(arguments: ["%", "%4", "a%4", "%4g", "%g4", "%%41", "% 41"])
  func `a percent sign without two digits is refused`(text: String) {
    #expect(PercentEncoding.decoded(Array(text.utf8), as: .form) == nil)
    #expect(PercentEncoding.decoded(Array(text.utf8), as: .component) == nil)
  }
}
