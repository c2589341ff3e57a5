import TestSupport
import Testing
import TextCoding

@Suite(.standardTimeLimit) struct ServerAddressTests {
  @Test(arguments: [
    ("example.com", "example.com", nil), ("Example.COM:8443", "example.com", 8443), ("a_b-c:1", "a_b-c", 1),
    ("127.0.0.1:65535", "127.0.0.1", 65_535), ("[::1]", "[::1]", nil), ("[2001:DB8::1]:443", "[2001:db8::1]", 443),
    ("[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]", nil), ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", nil),
    ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]", nil), ("[::]", "[::]", nil),
    ("[1:2:3:4:5:6:192.0.2.1]", "[1:2:3:4:5:6:c000:201]", nil), ("0x7f.example", "0x7f.example", nil),
    ("xn--bcher-kva.example", "xn--bcher-kva.example", nil), ("a:00443", "a", 443),
  ])
  func `a server has a host and maybe a port`(text: String, host: String, port: Int?) throws {
    let address = try #require(ServerAddress(text[...]))
    #expect(address.host == host)
    #expect(address.port == port)
  }

  @Test(arguments: [
    "", ":443", "a:", "a:0", "a:65536", "a:+1", "a:000443", "a b", "a@b", "a/b", "a..b", ".a", "a.", "bücher.example",
    "127.1", "0x7f.0.0.1", "127.0.0.01", "1.2.3.4.5", "256.0.0.1", "0", "a.1", "a.0x1", "[", "[]", "[::1", "::1",
    "[::1]a",
    "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[::1::]", "[:::]", "[1:]", "[:1]", "[12345::]",
    "[g::]", "[fe80::1%eth0]", "[192.0.2.1::]", "[::192.0.2]", "[::192.0.2.1:1]", "[127.0.0.1]", "[1.2.3.4]",
  ])
  func `what could be read in two ways is none`(text: String) {
    #expect(ServerAddress(text[...]) == nil)
  }

  @Test func `a label has 63 characters at most, and a name 253`() {
    let label = String(repeating: "a", count: 63)
    #expect(ServerAddress(label[...]) != nil)
    #expect(ServerAddress((label + "a")[...]) == nil)
    let name = [label, label, label, label.dropFirst(2).description].joined(separator: ".")
    #expect(name.utf8.count == 253)
    #expect(ServerAddress(name[...]) != nil)
    #expect(ServerAddress((name + "a")[...]) == nil)
  }

  @Test func `this machine is a name, an address, or a whole block of them`() {
    for text in ["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.255.1.5", "[::1]", "[0:0:0:0:0:0:0:1]"] {
      #expect(ServerAddress(text[...])?.isLoopback == true)
    }
    for text in ["128.0.0.1", "127.example", "127.0.0.1.example", "localhost.example", "[::2]", "[::ffff:127.0.0.1]"] {
      #expect(ServerAddress(text[...])?.isLoopback == false)
    }
  }

  @Test(arguments: [
    ("0:0:0:0:0:0:0:1", "::1"), ("::0001", "::1"), ("0::0:1", "::1"), ("::0:0.0.0.1", "::1"), ("0:0:0:0:0:0:0:0", "::"),
    ("2001:0DB8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("::FFFF:C000:0201", "::ffff:192.0.2.1"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("fe80::", "fe80::"),
  ])
  func `an IPv6 address has one spelling (RFC 5952)`(text: String, canonical: String) throws {
    let address = try #require(ServerAddress("[\(text)]:8443"))
    #expect(address.host == "[\(canonical)]" && address.port == 8443)
    #expect(ServerAddress("[\(canonical)]:8443") == address)
  }
}
