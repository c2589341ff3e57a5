import TestSupport
import Testing

@testable import authbroker

/// Registries as docker names them.
@Suite(.standardTimeLimit) struct DockerServerTests {
  private static let hub = ["https://index.docker.io/v1/"]

  @Test(arguments: [
    ("registry.example.com", ["https://registry.example.com"]),
    ("registry.example.com:5000\n", ["https://registry.example.com:5000"]),
    (" https://index.docker.io/v1/ ", hub), ("docker.io", hub), ("https://registry-1.docker.io", hub),
    ("index.docker.io", hub), ("registry-1.docker.io/v2/", hub), ("https://docker.io:443", hub), ("Docker.IO", hub),
    ("http://docker.io", ["http://docker.io"]), ("docker.io:5000", ["https://docker.io:5000"]),
    ("index.docker.io.evil.example", ["https://index.docker.io.evil.example"]),
    ("127.0.0.1:5000", ["https://127.0.0.1:5000", "http://127.0.0.1:5000"]),
    ("[::1]:5000", ["https://[::1]:5000", "http://[::1]:5000"]),
    ("localhost", ["https://localhost", "http://localhost"]),
    ("localhost.evil.example", ["https://localhost.evil.example"]),
    ("http://registry.example.com", ["http://registry.example.com"]),
  ]) func `the addresses of a registry`(name: String, urls: [String]) throws {
    #expect(try #require(DockerServer(name)).urls == urls)
  }

  @Test(arguments: ["", " \r\n\t", "a b", "a\u{0}b", "ü.example", "a\nb"])
  func `what is no address is refused`(name: String) {
    #expect(DockerServer(name) == nil)
  }

  @Test(arguments: [
    ("https://registry.example.com", "registry.example.com"), ("https://r.example:5000/team/", "r.example:5000/team"),
    ("https://docker.io", "https://index.docker.io/v1/"), ("https://index.docker.io/v1", "https://index.docker.io/v1/"),
    ("https://docker.io.evil.example", "docker.io.evil.example"), ("http://127.0.0.1:5000", "127.0.0.1:5000"),
  ]) func `a target has the name that docker would use`(url: String, name: String) {
    #expect(DockerServer(listing: url)?.text == name)
  }

  @Test func `a mail server is no registry`() {
    #expect(DockerServer(listing: "smtps://mail.example.com") == nil)
  }
}
