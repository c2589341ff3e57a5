import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Which target an address belongs to.
@Suite(.standardTimeLimit) struct TargetMapTests {
  private static let urls = [
    "https://git.example.com", "https://git.example.com/acme/", "https://git.example.com/acme/tools",
    "https://git.example.com:8443", "smtps://mail.example.com", "http://127.0.0.1:8080", "https://[2001:db8::1]/a",
  ]

  private static func map(_ urls: [String] = urls) throws -> TargetMap {
    var map = TargetMap()
    for url in urls {
      #expect(map.add(Target(url: url, profile: .default), at: try TargetAddress(prefix: url)), "\(url)")
    }
    return map
  }

  @Test(arguments: [
    ("https://git.example.com", "https://git.example.com"),
    ("https://git.example.com/", "https://git.example.com"),
    ("HTTPS://Git.Example.COM:443/other?x=/acme#y", "https://git.example.com"),
    ("https://git.example.com/acme", "https://git.example.com/acme/"),
    ("https://git.example.com/acme/x.git", "https://git.example.com/acme/"),
    ("https://me:secret@git.example.com/acme/tools/info/refs", "https://git.example.com/acme/tools"),
    ("https://git.example.com/acmee", "https://git.example.com"),
    ("https://git.example.com/%61cm%65/x", "https://git.example.com/acme/"),
    ("https://git.example.com/acme/t%6F%6fls/a%c3%a9", "https://git.example.com/acme/tools"),
    ("https://git.example.com/Acme", "https://git.example.com"),
    ("https://ann%20lee@git.example.com/acme/a;v=1/100%25/b%20c", "https://git.example.com/acme/"),
    ("https://git.example.com:8443/acme", "https://git.example.com:8443"),
    ("smtps://mail.example.com:465", "smtps://mail.example.com"),
    ("http://127.0.0.1:8080/v2/", "http://127.0.0.1:8080"),
    ("https://[2001:DB8::1]:443/a/b", "https://[2001:db8::1]/a"),
    ("https://[2001:0db8:0:0:0:0:0:1]/a/b", "https://[2001:db8::1]/a"),
  ])
  func `the longest prefix decides`(_ url: String, _ target: String) throws {
    #expect(try Self.map().target(for: url, in: .all)?.url == target)
  }

  @Test(arguments: [
    ("https://bob@code.example.com/a", "https://bob@code.example.com"),
    ("https://b%6fb:x@code.example.com/team/y", "https://bob@code.example.com"),
    ("https://ann@code.example.com/team/y", "https://code.example.com/team"),
    ("https://code.example.com/team/y", "https://code.example.com/team"), ("https://bob@code.example.com:444/", nil),
    ("https://ann@code.example.com", "https://*.example.com"), ("https://a.b.example.com", "https://*.example.com"),
    ("https://x.pkg.example.com/v2/y", "https://*.pkg.example.com"),
    ("https://bob@x.pkg.example.com/deep", "https://bob@*.pkg.example.com/deep"),
    ("https://x.y.pkg.example.com", "https://*.pkg.example.com"), ("https://pkg.example.com", "https://*.example.com"),
    ("https://example.com", nil), ("https://xexample.com", nil), ("https://a.example.com.evil.example", nil),
    ("https://a.example.com:8443", nil), ("smtps://a.example.com", nil), ("https://10.0.0.1", nil),
  ])
  func `the user who is named comes first, then the whole host, then the narrowest pattern`(
    _ url: String, _ target: String?
  ) throws {
    let map = try Self.map([
      "https://*.example.com", "https://code.example.com/team", "https://*.pkg.example.com",
      "https://bob@code.example.com",
      "https://bob@*.pkg.example.com/deep",
    ])
    #expect(try map.target(for: url, in: .all)?.url == target)
  }

  private static let hub = [
    "https://docker.io", "https://index.docker.io", "https://index.docker.io/v1/", "https://registry-1.docker.io",
  ]

  @Test(arguments: hub, hub + ["https://registry-1.docker.io/v2/library/alpine", "https://Docker.IO:443"])
  func `the names of Docker Hub are one registry`(_ prefix: String, _ url: String) throws {
    #expect(try Self.map([prefix]).target(for: url, in: .all)?.url == prefix)
    #expect(try TargetAddress(url).isBelow(try TargetAddress(prefix: prefix)))
  }

  @Test(arguments: [
    "https://auth.docker.io", "https://docker.io.evil.example", "https://xdocker.io", "https://docker.io:5000",
    "smtps://docker.io", "https://docker.com", "https://index.docker.io.evil.example/v1/",
  ])
  func `what is named like Docker Hub is not`(_ url: String) throws {
    #expect(try Self.map([Self.hub[0]]).target(for: url, in: .all) == nil)
  }

  @Test func `Docker Hub has one entry, and others for a path and for a user`() throws {
    var map = try Self.map([Self.hub[0], "https://index.docker.io/team", "https://bob@registry-1.docker.io"])
    for url in Self.hub {
      #expect(!map.add(Target(url: url, profile: .default), at: try TargetAddress(prefix: url)))
    }
    #expect(try map.target(for: "https://docker.io/team/x", in: .all)?.url == "https://index.docker.io/team")
    #expect(try map.target(for: "https://bob@docker.io/team/x", in: .all)?.url == "https://bob@registry-1.docker.io")
    let wide = try Self.map(["https://*.docker.io"])
    #expect(try wide.target(for: "https://index.docker.io/v1/", in: .all) != nil)
  }

  @Test(arguments: [
    ("https://*.com", TargetAddress.Fault.wildcard), ("https://*", .wildcard), ("https://*example.com", .wildcard),
    ("https://*.", .wildcard), ("https://*.*.example.com", .wildcard), ("https://*.0.0.1", .wildcard),
    ("https://*.[::1]", .wildcard), ("http://*.a.localhost", .clear), ("https://a.*.example.com", .host),
    ("https://bob:secret@git.example.com", .user), ("https://@git.example.com", .user),
    ("https://%ff@a.example", .user),
  ])
  func `a prefix that means too much is refused`(_ url: String, _ fault: TargetAddress.Fault) throws {
    #expect(throws: fault) { try TargetAddress(prefix: url) }
  }

  @Test func `what an address matches has no wildcard of its own`() {
    #expect(throws: TargetAddress.Fault.host) { try TargetAddress("https://*.example.com") }
  }

  @Test(arguments: [
    "https://example.com", "https://git.example.com.evil.example", "https://evil.example/git.example.com",
    "https://git.example.com@evil.example", "https://git.example.com:444", "https://mail.example.com",
    "smtp://mail.example.com", "http://127.0.0.1", "http://localhost:8080", "https://[2001:db8::1]",
    "https://[2001:db8::1]/ab", "https://xgit.example.com",
  ])
  func `what is not in the map has no target`(_ url: String) throws {
    #expect(try Self.map().target(for: url, in: .all) == nil)
  }

  @Test(arguments: [
    ("git.example.com", TargetAddress.Fault.scheme), ("ssh://git.example.com", .scheme), ("", .scheme),
    ("ht tp://git.example.com", .scheme), ("\u{e9}://git.example.com", .scheme),
    ("https:/git.example.com", .scheme), ("https://", .host), ("https:///acme", .host),
    ("https://git.example.com:0", .host), ("https://git.example.com:65536", .host),
    ("https://git.example.com:", .host), ("https://git.example.com:4a", .host), ("https://[::1", .host),
    ("https://[]", .host), ("https://g%69t.example.com", .host), ("https://a,b", .host),
    ("http://git.example.com", .clear), ("http://128.0.0.1", .clear), ("https://git.example.com/a/../b", .path),
    ("https://git.example.com/./a", .path), ("https://git.example.com//a", .path),
    ("https://git.example.com/a%2Fb", .path), ("https://git.example.com/%2e%2e/a", .path),
    ("https://git.example.com/a\\b", .path), ("https://git.example.com/a b", .characters),
    ("https://git.example.com/\u{e9}", .characters), ("https://g\u{e9}t.example.com", .characters),
    ("https://git .example.com", .characters), ("https://git.example.com/?q=\u{e9}", .characters),
    ("https://[fe80::1%25eth0]/a", .host), ("https://git.example.com/a%5cb", .path),
    ("https://git.example.com\\@evil.example", .host), ("https://git.example.com/acme/..;/b", .path),
    ("https://git.example.com/acme/.;x=1/b", .path), ("https://git.example.com/acme/..%3B/b", .path),
    ("https://git.example.com/acme/%25%32fb", .path), ("https://git.example.com/acme/;x/b", .path),
    ("https://git.example.com/acme/%252e%252E/b", .path), ("https://git.example.com/acme/%252e", .path),
    ("https://git.example.com/acme/%25252e/b", .path), ("https://git.example.com/acme/a%252fb", .path),
    ("https://evil.example%2F@git.example.com", .user), ("https://evil.example%40@git.example.com", .user),
    ("https://evil.example@x@git.example.com", .user), ("https://evil.example%3a443%23@git.example.com", .user),
    ("https://a%5Cb@git.example.com", .user), ("https://a%252f@git.example.com", .user),
  ])
  func `an address that could mean another one is refused`(_ url: String, _ fault: TargetAddress.Fault) throws {
    #expect(throws: fault) { try TargetAddress(url) }
  }

  @Test func `an address has one entry`() throws {
    var map = try Self.map(["https://a.example/x"])
    #expect(
      !map.add(
        Target(url: "https://A.example:443/x/", profile: .default), at: try TargetAddress("https://A.example:443/x/")))
    #expect(try TargetAddress("https://a.example/a%2db%c3%a9") == TargetAddress("https://a.example/a-b%C3%A9"))
    #expect(map.targets.count == 1)
  }

  @Test func `the list keeps the order of the configuration`() throws {
    #expect(try Self.map().targets.map(\.url) == Self.urls)
  }
}
