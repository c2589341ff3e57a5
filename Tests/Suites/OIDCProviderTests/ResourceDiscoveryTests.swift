import HTTP
import TestServers
import TestSupport
import Testing
import TextCoding

@testable import OIDCProvider

/// The authorization servers of a protected resource.
@Suite(.standardTimeLimit) struct ResourceDiscoveryTests {
  private static let wellKnown = "/.well-known/oauth-protected-resource"

  private static func document(
    _ resource: String, servers: String = #""authorization_servers":["https://as.example"],"#,
    scopes: String = #"["read","write","read"]"#
  ) -> FakeProvider.Reply {
    FakeProvider.Reply(200, #"{"resource":"\#(resource)",\#(servers)"scopes_supported":\#(scopes)}"#)
  }

  /// What a search comes to at a server that answers by the path.
  private func outcome(
    of path: String, _ answer: @escaping @Sendable (String, _ origin: String) -> FakeProvider.Reply
  ) async throws -> (result: Result<ResourceMetadata, ResourceDiscovery.Failure>, asked: [String], origin: String) {
    var found: (Result<ResourceMetadata, ResourceDiscovery.Failure>, [String], String)?
    try await FakeProvider.run { request, origin in
      answer(request.path, origin)
    } _: { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<ResourceMetadata, ResourceDiscovery.Failure>
      do throws(ResourceDiscovery.Failure) {
        result = .success(try await ResourceDiscovery(PublicTransport(client)).metadata(of: server.issuer + path))
      } catch { result = .failure(error) }
      await client.close()
      found = (result, server.requests.map(\.path), server.issuer)
    }
    return try #require(found)
  }

  @Test(arguments: [
    ("", ""), ("/", ""), ("/v1", "/v1"), ("/v1/", "/v1/"), ("?tenant=a", "?tenant=a"), ("/v1?tenant=a", "/v1?tenant=a"),
  ])
  func `the well-known part stands before the path`(path: String, rest: String) throws {
    let address = ResourceDiscovery.address(of: try HTTPURL("https://api.example" + path))
    #expect(address == (try HTTPURL("https://api.example" + Self.wellKnown + rest)))
  }

  @Test func `the document of the resource itself is enough`() async throws {
    let (result, asked, origin) = try await outcome(of: "/v1") { path, origin in
      path == Self.wellKnown + "/v1" ? Self.document(origin + "/v1") : .notFound
    }
    let metadata = try result.get()
    #expect(metadata.address == origin + Self.wellKnown + "/v1" && !metadata.hasRefusalsScopes)
    #expect(metadata.resource == origin + "/v1" && metadata.issuers == ["https://as.example"])
    #expect(metadata.scopes == ["read", "write"] && asked == ["/v1", Self.wellKnown + "/v1"])
  }

  @Test func `a refusal names the document, and its scopes`() async throws {
    let (result, asked, _) = try await outcome(of: "/v1") { path, origin in
      switch path {
      case "/v1":
        FakeProvider.Reply(
          401, "",
          [
            #"WWW-Authenticate: Basic realm="Bearer resource_metadata=no""#,
            #"WWW-Authenticate: Digest a=b, Bearer scope="one two", resource_metadata="\#(origin)/about""#,
          ])
      case "/about": Self.document(origin + "/v1")
      default: .notFound
      }
    }
    #expect(try result.get().scopes == ["one", "two"])
    #expect(asked == ["/v1", "/about"])
  }

  @Test func `a document of another server is not read`() async throws {
    try await FakeProvider.run { _, origin in
      Self.document(origin)
    } _: { other in
      let stranger = other.issuer
      let (result, asked, _) = try await outcome(of: "/v1") { path, _ in
        path == "/v1"
          ? FakeProvider.Reply(401, "", [#"WWW-Authenticate: Bearer resource_metadata="\#(stranger)/about""#])
          : .notFound
      }
      #expect(throws: ResourceDiscovery.Failure.self) { try result.get() }
      if case .failure(let failure) = result { #expect(failure.message.contains("on another server")) }
      #expect(asked == ["/v1", Self.wellKnown + "/v1", Self.wellKnown] && other.requests.isEmpty)
    }
  }

  @Test func `the document of the server speaks for what is below it`() async throws {
    let (result, _, origin) = try await outcome(of: "/v1/a") { path, origin in
      path == Self.wellKnown ? Self.document(origin) : .notFound
    }
    #expect(try result.get().resource == origin)
  }

  @Test(arguments: [
    ("/v10", "/v1", "are those of"), ("/v1", "/v2", "are those of"), ("/v1", "@", "are those of"),
  ])
  func `a document of another resource is refused`(asked: String, named: String, words: String) async throws {
    let (result, _, _) = try await outcome(of: asked) { path, origin in
      path.hasPrefix(Self.wellKnown)
        ? Self.document(named == "@" ? "https://other.example/v1" : origin + named) : .notFound
    }
    guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result)") }
    #expect(failure.message.contains(words) && !failure.isPassing, "\(failure.message)")
  }

  @Test(arguments: [
    (#"{"resource":1}"#, "cannot be read"), ("<html>", "cannot be read"), ("[]", "cannot be read"),
    (#"{"resource":"R"}"#, "no authorization server"),
    (#"{"resource":"R","authorization_servers":[]}"#, "no authorization server"),
    (#"{"resource":"R","authorization_servers":["http://as.example","x"]}"#, "no authorization server"),
    (#"{"resource":"R","authorization_servers":[1]}"#, "cannot be read"),
  ])
  func `what names no server is refused`(body: String, words: String) async throws {
    let (result, _, _) = try await outcome(of: "/v1") { path, origin in
      path.hasPrefix(Self.wellKnown)
        ? FakeProvider.Reply(
          200, body.split(separator: "R", omittingEmptySubsequences: false).joined(separator: origin + "/v1"))
        : .notFound
    }
    guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result)") }
    #expect(failure.message.contains(words), "\(failure.message)")
  }

  @Test func `no redirect is followed, and a trouble is one that passes`() async throws {
    try await FakeProvider.run { _, origin in
      Self.document(origin)
    } _: { other in
      let stranger = other.issuer
      let (result, _, _) = try await outcome(of: "/v1") { _, _ in
        FakeProvider.Reply(302, "", ["Location: \(stranger)/"])
      }
      guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result)") }
      #expect(failure.message.contains("RFC 9728") && other.requests.isEmpty)
    }
    let (result, _, _) = try await outcome(of: "/v1") { _, _ in FakeProvider.Reply(503, "") }
    guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result)") }
    #expect(failure.isPassing)
  }

  @Test(arguments: [
    "", "api.example", "http://api.example", "https://api.example/#part", "ftp://api.example", "https://a@api.example",
  ])
  func `an address that is not called is refused at once`(address: String) async throws {
    let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
    do throws(ResourceDiscovery.Failure) {
      _ = try await ResourceDiscovery(PublicTransport(client)).metadata(of: address)
      #expect(Bool(false))
    } catch { #expect(error.message.hasPrefix("the address of a resource must be")) }
    await client.close()
  }

  @Test(
    arguments: [
      (["Bearer"], [:]), (["bearer realm=\"a \\\"b\\\", c\" , scope=x"], ["realm": "a \"b\", c", "scope": "x"]),
      (["Basic realm=\"x\", Bearer a=1, Digest b=2"], ["a": "1"]), (["Basic x", "Bearer A=1, a=2"], ["a": "1"]),
      (["Negotiate, Bearer error = \"e\""], ["error": "e"]),
    ] as [([String], [String: String])])
  func `a challenge is read as RFC 9110 writes it`(fields: [String], parameters: [String: String]) {
    #expect(BearerChallenge(fields)?.parameters == parameters)
  }

  @Test(arguments: ["", "Basic realm=\"Bearer a=1\"", "Basic realm=\"open", ",,,", "=Bearer", "\"Bearer\""])
  func `where there is no such challenge, there is none`(field: String) {
    #expect(BearerChallenge([field]) == nil)
  }
}
