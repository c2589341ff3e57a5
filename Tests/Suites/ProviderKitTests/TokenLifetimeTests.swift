import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import ProviderKit

@Suite(.standardTimeLimit) struct TokenLifetimeTests {
  private static let sentAt = Timestamp(milliseconds: 1_800_000_000_000)

  /// A reply that came two seconds after its request.
  private func moments(serverTime: Timestamp? = nil) -> ReplyMoments {
    ReplyMoments(sentAt: Self.sentAt, receivedAt: Self.sentAt + .seconds(2), serverTime: serverTime)
  }

  private func node(_ json: String) throws -> JSONNode {
    let limits = JSONLimits(depth: 8, byteCount: 4096, toleratesLargeNumbers: true)
    return try JSONDocument(parsing: Array(json.utf8), limits: limits).root
  }

  /// When an access token ends, in seconds after the request; nil where it has no end.
  private func seconds(_ members: String, token: String = "t", serverTime: Timestamp? = nil) throws -> Double? {
    let reply = try node("{\(members)}")
    let end = TokenLifetime.accessTokenExpiry(
      of: try Secret(utf8: token), expiresIn: reply["in"], expiresAt: reply["at"], moments(serverTime: serverTime))
    return end.map { ($0 - Self.sentAt).inSeconds }
  }

  @Test(
    arguments: [
      ("", nil), (#""in":900"#, 900), (#""in":"900""#, 900), (#""in":900.9"#, 900), (#""in":"900.9""#, 900),
      (#""in":0"#, 300), (#""in":0.9"#, 300), (#""in":-1"#, 300), (#""in":-0.5"#, 300), (#""in":null"#, 300),
      (#""in":1800000900"#, 300), (#""in":18446744073709551616"#, 300), (#""in":1e400"#, 300), (#""in":1e300"#, 300),
      (#""in":"NaN""#, 300), (#""in":"inf""#, 300), (#""in":"0x10""#, 300), (#""in":" 900 ""#, 900),
      (#""in":"15m""#, 900), (#""in":"1h""#, 3600), (#""in":"2 d""#, 172_800), (#""in":"30S""#, 30),
      (#""in":"m""#, 300), (#""in":"1x""#, 300), (#""in":"1hh""#, 300),
      (#""in":"900.""#, 300), (#""in":".9""#, 300), (#""in":"9.0.0""#, 300), (#""in":[]"#, 300),
    ] as [(String, Double?)])
  func `a lifetime is believed where it can be meant, and where none is said there is no end`(
    _ members: String, _ expected: Double?
  ) throws {
    #expect(try seconds(members) == expected)
  }

  @Test(
    arguments: [
      (#""in":60,"at":1800000900"#, 60), (#""in":0,"at":1800000900"#, 900), (#""in":"soon","at":1800000900"#, 900),
      (#""in":0,"at":0"#, 600), (#""at":1"#, 600), ("", 600), (#""in":30"#, 30),
    ] as [(String, Double?)])
  func `the first thing that can be meant holds: the lifetime, the end, the exp of the token`(
    _ members: String, _ expected: Double?
  ) throws {
    #expect(try seconds(members, token: jwt(#"{"exp":1800000600}"#)) == expected)
  }

  @Test(
    arguments: [
      (#"{"exp":1800000900}"#, 900), (#"{"exp":1800000900.0,"sub":"a"}"#, 900), (#"{"exp":"1800000900"}"#, 900),
      (#"{"exp":1}"#, nil), (#"{"exp":1e300}"#, nil), (#"{"exp":1e400}"#, nil), (#"{"exp":null}"#, nil),
      (#"{"exp":-1}"#, nil), (#"{"iat":1800000000}"#, nil), ("{}", nil), ("[]", nil), ("x", nil), ("", nil),
      // Claims as they should be; a token that was issued a while ago keeps its end.
      (#"{"iat":1800000001,"exp":1800000901}"#, 901), (#"{"iat":1799999700,"exp":1800000600}"#, 600),
      // A clock that is an hour ahead, and one that is an hour behind.
      (#"{"iat":1800003600,"exp":1800004500}"#, 900), (#"{"iat":1799996400,"exp":1799997300}"#, 900),
      // Times that nobody's clock explains.
      (#"{"iat":1800003600,"exp":1800003000}"#, nil), (#"{"iat":1799996400,"exp":1799996000}"#, nil),
      (#"{"iat":1e300,"exp":1800000900}"#, 900), (#"{"iat":-9e14,"exp":1800000900}"#, 900),
    ] as [(String, Double?)])
  func `the exp of a JWT is a hint, by a clock that its iat may correct`(_ claims: String, _ expected: Double?) throws {
    #expect(try seconds("", token: jwt(claims)) == expected)
  }

  @Test(
    arguments: [
      (3_600_000, #"{"iat":1800000000,"exp":1800003600}"#, 3600), (86400, #"{"iat":1800000000,"exp":1800000300}"#, 300),
      (60, #"{"iat":1800000000,"exp":1800003600}"#, 60), (3600, #"{"exp":1800000600}"#, 3600),
      (3600, #"{"iat":1800000600,"exp":1800000600}"#, 3600),
      // Another clock: only how long the token lives by its own word counts.
      (3600, #"{"iat":1700000000,"exp":1700000600}"#, 600),
    ] as [(Int, String, Double)])
  func `a token that lives for less by its own word lives for that`(
    _ lifetime: Int, _ claims: String, _ expected: Double
  ) throws {
    #expect(try seconds(#""in":\#(lifetime)"#, token: jwt(claims)) == expected)
    #expect(try seconds(#""in":0,"at":\#(1_800_000_000 + lifetime)"#, token: jwt(claims)) == expected)
  }

  @Test(arguments: [
    "2027-01-15T08:15:00", "2027-01-15 08:15:00", "2027-01-15T08:15:00+0000", "2027-01-15T09:15:00+0100",
    "2027-01-15 08:15:00Z", " 2027-01-15T08:15:00Z ", "2027-01-15T08:15:00.000", "Fri, 15 Jan 2027 08:15:00 GMT",
    "2027-01-15 08:15:00 UTC",
  ])
  func `a date is read in the forms that servers write`(_ text: String) throws {
    #expect(try seconds(#""at":"\#(text)""#) == 900)
  }

  @Test(arguments: ["", ".", "..", "...", "a.b", "a.!.c", "a.e30.b.c", "e30.e30", "a..c"])
  func `what is no JWT has no end`(_ token: String) throws {
    #expect(try seconds("", token: token) == nil)
  }

  @Test func `a moment is told by the clock of whoever tells it, a lifetime by nobody's`() throws {
    let sentAt = Self.sentAt
    for (skew, expected) in [(3602.0, 900.0), (4, 4500), (-4, 4500), (-3600, 8100)] {
      let serverTime = sentAt + .seconds(skew)
      #expect(try seconds(#""at":1800004500"#, serverTime: serverTime) == expected)
      #expect(try seconds("", token: jwt(#"{"exp":1800004500}"#), serverTime: serverTime) == expected)
      #expect(try seconds(#""in":4500"#, serverTime: serverTime) == 4500)
    }
    // `Date` says that the clock is an hour ahead, so the token has just been issued.
    let claims = #"{"iat":1800003601,"exp":1800004500}"#
    #expect(try seconds("", token: jwt(claims), serverTime: sentAt + .seconds(3602)) == 900)
  }

  @Test func `a time between request and reply is no difference, however slow the reply was`() {
    let slow = { (serverTime: Timestamp?) in
      ReplyMoments(sentAt: Self.sentAt, receivedAt: Self.sentAt + .seconds(60), serverTime: serverTime).clockSkew
    }
    #expect(slow(nil) == nil)
    #expect(slow(Self.sentAt + .seconds(30)) == .zero)
    #expect(slow(Self.sentAt + .seconds(65)) == .zero)
    #expect(slow(Self.sentAt + .seconds(66)) == .seconds(6))
    #expect(slow(Self.sentAt + .seconds(-5)) == .zero)
    #expect(slow(Self.sentAt + .seconds(-6)) == .seconds(-6))
    #expect(slow(Timestamp(milliseconds: .max)) != nil)
  }

  @Test func `the end of a refresh token is known or not, never invented`() throws {
    for (members, expected) in [
      (#""in":3600"#, 3600.0), (#""in":0"#, nil), (#""in":-1,"at":1800003600"#, 3600), (#""at":1"#, nil), ("", nil),
    ] {
      let reply = try node("{\(members)}")
      let end = TokenLifetime.refreshTokenExpiry(expiresIn: reply["in"], expiresAt: reply["at"], moments())
      #expect(end.map { ($0 - Self.sentAt).inSeconds } == expected, "\(members)")
    }
  }

  private func jwt(_ claims: String) -> String { "e30.\(base64URL(claims)).c2ln" }

  private func base64URL(_ text: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var (bits, count, result) = (0, 0, "")
    for byte in text.utf8 {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      count += 8
      while count >= 6 {
        count -= 6
        result.append(digits[bits >> count & 63])
      }
    }
    if count > 0 { result.append(digits[bits << (6 - count) & 63]) }
    return result
  }
}
