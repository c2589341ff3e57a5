import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// Targets of one user, and of several servers, as helpers see them.
@Suite(.standardTimeLimit) struct TargetUserTests {
  @Test(arguments: [
    ("ann", "https://git.example.com/x", "https://ann@git.example.com/x"),
    ("ann lee+1", "imaps://mail.example.com", "imaps://ann%20lee%2B1@mail.example.com"),
    ("ann", "https://bob@git.example.com", "https://bob@git.example.com"),
    ("ann", "git.example.com", "git.example.com"),
    ("", "https://git.example.com", "https://git.example.com"),
    (nil, "https://git.example.com/a@b", "https://git.example.com/a@b"),
    ("ann", "https://git.example.com/a@b", "https://ann@git.example.com/a@b"),
    ("ann@example.com", "https://git.example.com", "https://git.example.com"),
    ("evil.example/", "https://git.example.com", "https://git.example.com"),
    ("a:b", "https://git.example.com", "https://git.example.com"),
  ])
  func `an address names the user whom it can name`(user: String?, address: String, named: String) throws {
    #expect(TargetUser.named(user, in: address) == named)
  }

  @Test(arguments: [
    ("https://git.example.com", "https://git.example.com/x", true),
    ("https://git.example.com/x", "https://git.example.com", false),
    ("https://bob@git.example.com", "https://bob@git.example.com/x", true),
    ("https://bob@git.example.com", "https://ann@git.example.com/x", false),
    ("https://bob@git.example.com", "https://git.example.com/x", false),
    ("https://git.example.com", "https://ann@git.example.com", true),
    ("https://*.example.com/a", "https://x.y.example.com/a/b", true),
    ("https://*.example.com", "https://example.com", false),
    ("https://*.example.com", "https://example.com.evil.example", false),
    ("https://*.com", "https://example.com", false),
    ("https://git.example.com/%61", "https://git.example.com/a/b", true), ("", "https://git.example.com", false),
  ])
  func `an answer counts for the addresses that its prefix covers`(prefix: String, address: String, isCovered: Bool) {
    let granted = GrantedTarget(prefix: prefix)
    #expect((Target(granted, of: .default, for: address) != nil) == isCovered)
  }

  @Test func `docker is told of no registry that it cannot ask for`() {
    #expect(
      ["https://*.example.com", "https://bob@registry.example.com"].allSatisfy { DockerServer(listing: $0) == nil })
  }
}
