import BrokerProtocol
import JSON
import ProviderKit
import TestSupport
import Testing

/// What clients see of the roles and attributes that a provider gives.
@Suite(.standardTimeLimit) struct UserClaimsTests {
  private static func claims(_ text: String, besides names: Set<String> = []) throws -> String? {
    let root = try JSONDocument(parsing: Array(text.utf8)).root
    return UserClaims.claims(of: root, besides: names).map { String(decoding: $0.text, as: UTF8.self) }
  }

  @Test func `roles and attributes are there, and what has a place of its own is not`() throws {
    let text = #"""
      {"sub": "u1", "email": "a@b.example", "iss": "https://id.example", "exp": 1, "phone_number": "+15550100042",
       "roles": ["admin", "ops"], "realm_access": {"roles": ["x"]}, "department": "sales", "level": 3, "active": true,
       "none": null}
      """#
    let expected =
      #"{"roles":["admin","ops"],"realm_access":{"roles":["x"]},"department":"sales","level":3,"active":true}"#
    #expect(try Self.claims(text, besides: ["sub"]) == expected)
    #expect(try Self.claims(#"{"sub":"u1","email":"a@b.example"}"#, besides: ["sub"]) == nil)
    #expect(try Self.claims("[]") == nil)
  }

  @Test(arguments: [
    "accessToken", "refresh_token", "password", "passwordHash", "apiKey", "client_secret", "Cookie", "mobile",
  ])
  func `what could be a secret is left out, however deep`(_ name: String) throws {
    #expect(try Self.claims(#"{"\#(name)":"x"}"#) == nil)
    #expect(try Self.claims(#"{"a":{"b":[{"\#(name)":"x","c":1}]}}"#) == #"{"a":{"b":[{"c":1}]}}"#)
  }

  @Test func `all together are bounded, and what is small has its place behind what is too long`() throws {
    let long = (0..<20_000).map { _ in "1" }.joined(separator: ",")
    #expect(try Self.claims(#"{"groups":[\#(long)],"role":"ops"}"#) == #"{"role":"ops"}"#)
    let many = (0..<2000).map { #""role\#($0)":"0123456789""# }.joined(separator: ",")
    let kept = try #require(try Self.claims("{\(many)}"))
    #expect(kept.utf8.count <= UserClaims.byteLimit && kept.utf8.count > UserClaims.byteLimit - 64)
    let deep = String(repeating: #"{"a":"#, count: 30) + "1" + String(repeating: "}", count: 30)
    #expect(try Self.claims(#"{"deep":\#(deep),"b":1}"#)?.contains(#""b":1"#) == true)
  }

  @Test func `texts cannot steer a terminal`() throws {
    #expect(try Self.claims(#"{"title":"a\u001b[31m\u202eb","\u202ename":1}"#) == #"{"title":"a[31mb"}"#)
  }
}
