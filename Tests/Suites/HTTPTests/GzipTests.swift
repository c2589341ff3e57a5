import TestSupport
import Testing

@testable import HTTP

/// Bodies that a server compresses although no request asks for that (RFC 1950 to 1952).
@Suite(.standardTimeLimit) struct GzipTests {
  private static let tokens = #"{"access_token":"a","refresh_token":"r"}"#
  private static let noise = #"""
    d:lc9682ib9}25{6mjbp}}}{2i5}j69j0jj7n}4bgnc 5hon93"8k34g11a6bf319}8"o3ffj{hj3007m{2di5,81h49040{ 7}jggal":a}6{mkmcg0n:fflfmn7p98c}o2 4hlbli5}j}3e"f65j6j}3p5,odi,o::oof4ld{"i7f"2h0bi5h9b2n9}p3n}fhpd 5imb209k:"adffim l1  cnk9dbp"4:2ed c2:jam1nc7mb"n{{a4c"hk4fc6fkfb52nl8pbip"}{np63p3::p7cli80lgiohk1ama6a j2o"pgpok bakj}k3:m::}{n098ebp:ggeepobndie"pigo5f,kl:65l67{3 fl9}4},0dddlm33gaj9{gp6jkp98j4 mj,:1
    """#

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(String(hex.dropFirst($0).prefix(2)), radix: 16) }
  }

  private func unpacked(_ hex: String, limit: Int = 4096) -> String? {
    Gzip.unpacked(Self.bytes(hex), limit: limit).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Made by zlib: fixed and dynamic codes, stored blocks, and a header with everything in it.
  private static let packed: [(String, String)] = [
    (
      "1f8b0800000000000203ab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a54d2512a4a4d2b4a2dce808b1529d50200d158572128000000",
      tokens
    ),
    ("1f8b080000000000020303000000000000000000", ""),
    (
      "1f8b0800000000000203ab56aa50b2524a4c4a1e45a368140d2052aa0500e66111e08c030000",
      #"{"x":""# + String(repeating: "abc", count: 300) + #""}"#
    ),
    (
      "1f8b0800000000000403012800d7ff7b226163636573735f746f6b656e223a2261222c22726566726573685f746f6b656e223a2272227dd158572128000000",
      tokens
    ),
    (
      "1f8b080c000000000003020061626e616d6500ab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a54d2512a4a4d2b4a2dce808b1529d50200d158572128000000",
      tokens
    ),
    (
      "1f8b0800000000000203159039aec52010c0ae82a85310b6046ec3926187e91177ffef776e2c4b8eb607a35f5ebc395c6d3daac773cee6459daa4d65b53ef3489f66202aaf69047d9b90e9be9df6206e735eba0440ddb90ac69eb1792cea7aef2c0d936c93e7d4945ca7d61dbd471b21b169013a8cf9a079c3599cc8dc7dff0f1ef151d0aaea1fa1ba562cd7b2762d903d6e5a1ea03c335f54369e4f7350cc031923516578ce4cb3d445803248bf0909b399e8914acbbf4802b7d58d7b8667783af77632d0dc24040d0dbce2b3bfe80bd2b3276a81c25a7c422f2feba9acdc6e379c76a4f24531e16ac4bb564f137658fb5398793f8f36a5efc3e5672c1fc5929682ab75ab55d7cf1604ba39f25c2cc6d88710c955b313eada7e1faa24a35ef6fe035ff3405890010000",
      noise
    ),
    // In the format of RFC 1950.
    (
      "78daab564a4c4e4e2d2e8e2fc9cf4ecd53b2524a54d2512a4a4d2b4a2dce808b1529d5020022410ddd",
      tokens
    ),
    (
      "7801012800d7ff7b226163636573735f746f6b656e223a2261222c22726566726573685f746f6b656e223a2272227d22410ddd", tokens
    ),
    ("78da030000000001", ""),
  ]

  @Test(arguments: packed) func `what zlib has packed is unpacked`(_ hex: String, _ text: String) {
    #expect(unpacked(hex) == text)
  }

  @Test func `what breaks the format, or its sum, or is longer than allowed, is left as it is`() {
    let packed = Self.bytes(Self.packed[2].0)
    #expect(Gzip.unpacked(packed, limit: 905) == nil)
    for index in packed.indices where !(4...9).contains(index) {
      var changed = packed
      changed[index] ^= 0x10
      let found = Gzip.unpacked(changed, limit: 1 << 20)
      #expect(found.map { String(decoding: $0, as: UTF8.self) == Self.packed[2].1 } ?? true, "byte \(index)")
      #expect(Gzip.unpacked(Array(packed[..<index]), limit: 1 << 20) == nil)
    }
    var wrongSum = Self.bytes(Self.packed[6].0)
    wrongSum[wrongSum.count - 1] ^= 1
    for text in [wrongSum, Array(Self.tokens.utf8), Array("x^".utf8)] {
      #expect(Gzip.unpacked(text, limit: 4096) == nil)
    }
  }
}
