import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

@Suite(.standardTimeLimit) struct TokenLifetimeTests {
  /// When the access token of a reply ends, in seconds after the request; nil where it has no end.
  private func seconds(_ members: String, serverTime: Timestamp? = nil) throws -> Double? {
    let tokens = try #require(try reader(#"{"access_token":"t"\#(members)}"#, serverTime: serverTime).tokens())
    return tokens.accessTokenExpiresAt.map { ($0 - sentAt).inSeconds }
  }

  @Test(
    arguments: [
      ("", nil), (#","expires_in":900"#, 900), (#","expires_in":1"#, 1), (#","expires_in":315360000"#, 315_360_000),
      (#","expires_in":"3600""#, 3600), (#","expires_in":900.0"#, 900), (#","expires_in":9e2"#, 900),
      (#","expires_in":0"#, 300), (#","expires_in":-1"#, 300), (#","expires_in":315360001"#, 300),
      (#","expires_in":9223372036854775807"#, 300), (#","expires_in":-9223372036854775808"#, 300),
      (#","expires_in":99999999999999999999999"#, 300), (#","expires_in":1e400"#, 300), (#","expires_in":1e300"#, 300),
      (#","expires_in":-1e300"#, 300), (#","expires_in":1e-300"#, 300),
      (#","expires_in":899.5"#, 899), (#","expires_in":"899.5""#, 899), (#","expires_in":null"#, 300),
      (#","expires_in":true"#, 300),
      (#","expires_in":[900]"#, 300), (#","expires_in":{}"#, 300), (#","expires_in":"""#, 300),
      (#","expires_in":"99999999999999999999999""#, 300), (#","expires_in":"-5""#, 300), (#","expires_in":"9e2""#, 300),
      (#","expires_in":"tomorrow""#, 300), (#","expiresIn":60"#, 60), (#","expires_in":60,"expires_at":1"#, 60),
      (#","expires_in":0,"expires_at":1800000900"#, 900), (#","expires_in":-1,"expires_at":1"#, 300),
    ] as [(String, Double?)])
  func `a lifetime counts from the request, and is believed only where it can be meant`(
    _ members: String, _ expected: Double?
  ) throws {
    #expect(try seconds(members) == expected)
  }

  @Test(
    arguments: [
      (#","expires_at":"2027-01-15T08:15:00Z""#, 900), (#","expires_at":"2027-01-15T09:15:00+01:00""#, 900),
      (#","expires_at":1800000900"#, 900), (#","expires_at":"1800000900""#, 900),
      (#","expires_at":1800000900000"#, 900),
      (#","expires_at":1800000900500"#, 900.5), (#","expires_at":1800000900.25"#, 900.25),
      (#","expires_at":"2001-01-01T00:00:00Z""#, 300), (#","expires_at":"9999-12-31T23:59:59Z""#, 300),
      (#","expires_at":"2026-02-30T25:61:61Z""#, 300), (#","expires_at":0"#, 300), (#","expires_at":-1"#, 300),
      (#","expires_at":1e300"#, 300), (#","expires_at":9223372036854775807"#, 300), (#","expires_at":null"#, 300),
      (#","expires_at":[]"#, 300), (#","expires_at":"""#, 300), (#","expires_at":1800000000"#, 300),
    ] as [(String, Double)])
  func `an end is RFC 3339, seconds or milliseconds`(_ members: String, _ expected: Double) throws {
    #expect(try seconds(members) == expected)
  }

  @Test func `a moment is told by the clock of whoever tells it`() throws {
    let end = #","expires_at":1800004500"#
    #expect(try seconds(end, serverTime: sentAt + .seconds(3602)) == 900)
    #expect(try seconds(end, serverTime: sentAt + .seconds(4)) == 4500)
    #expect(try seconds(end, serverTime: sentAt + .seconds(-4)) == 4500)
    #expect(try seconds(end, serverTime: sentAt + .seconds(-3600)) == 8100)
    #expect(try seconds(end, serverTime: nil) == 4500)
    #expect(try seconds(#","expires_in":900"#, serverTime: sentAt + .seconds(3602)) == 900)
  }

  @Test func `the difference of the clocks goes with the tokens`() throws {
    let ahead = try #require(try reader(#"{"access_token":"t"}"#, serverTime: sentAt + .seconds(3602)).tokens())
    #expect(ahead.clockSkew == .seconds(3600))
    let unknown = try #require(try reader(#"{"access_token":"t"}"#).tokens())
    #expect(unknown.clockSkew == nil)
  }

  @Test func `the end of a refresh token is known or not, never invented`() throws {
    for (members, expected) in [
      (#","refresh_expires_in":3600"#, 3600.0), (#","refresh_expires_in":0"#, nil), (#","refreshExpiresIn":-1"#, nil),
      (#","refresh_expires_at":1800003600"#, 3600), (#","refresh_expires_at":"2001-01-01T00:00:00Z""#, nil), ("", nil),
    ] {
      let tokens = try #require(try reader(#"{"access_token":"t","refresh_token":"r"\#(members)}"#).tokens())
      #expect(tokens.refreshTokenExpiresAt.map { ($0 - sentAt).inSeconds } == expected, "\(members)")
    }
  }
}
