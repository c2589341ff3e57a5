import Glibc
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct SecurityTests {
  /// Sends a bearer token and a body, as a careless program would, and says what became of it.
  private func call(_ server: ScriptedServer, _ policy: TLSPolicy, host: String = "localhost") async throws
    -> HTTPFailure?
  {
    let url = try server.url("/auth", host: host)
    let body = HTTPBody.json(try secret(#"{"refreshToken":"r"}"#))
    let token = try secret("access")
    let transport = AuthenticatedTransport(try client(), policy: policy)
    return await failure { () async throws(HTTPFailure) in
      try await transport.send(HTTPRequest(.post, url, body: body), bearer: token)
    }
  }

  @Test func `A server with a good certificate is spoken to, by name and by address`() async throws {
    let server = ScriptedServer.answering(.good)
    #expect(try await call(server, testPolicy()) == nil)
    #expect(try await call(server, testPolicy(), host: "127.0.0.1") == nil)
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [
    (ScriptedServer.Face.expired, HTTPFailure.TLSReason.expired), (.otherHost, .hostMismatch),
    (.selfSigned, .untrusted), (.tls11, .protocolVersion),
  ])
  func `A server that is not trusted gets no byte of the request`(
    _ face: ScriptedServer.Face, _ reason: HTTPFailure.TLSReason
  ) async throws {
    let server = ScriptedServer.answering(face)
    let outcome = try await call(server, testPolicy())
    #expect(outcome == .tlsFailed(reason))
    #expect(outcome?.requestMayHaveArrived == false)
    #expect(server.connections > 0)
    #expect(server.requests.isEmpty)
  }

  @Test func `An authority that the system does not know is not trusted`() async throws {
    let server = ScriptedServer.answering(.good)
    #expect(try await call(server, TLSPolicy()) == .tlsFailed(.untrusted))
    #expect(server.requests.isEmpty)
  }

  @Test func `A missing file of authorities is told apart`() async throws {
    let server = ScriptedServer.answering(.good)
    #expect(try await call(server, TLSPolicy(caFile: "/proc/nonexistent/ca.pem")) == .tlsFailed(.caFile(.profile)))
    #expect(server.requests.isEmpty)
  }

  /// A client that trusts what a place holds beside the system's authorities.
  private func clientTrusting(_ source: AuthoritySource, at path: String) throws -> HTTPClient {
    var settings = settings()
    settings.authorities = AddedAuthorities([.init(source, path)])
    return try HTTPClient(settings)
  }

  @Test(arguments: [AuthoritySource.network, .environmentFile, .environmentDirectory])
  func `An added authority is trusted beside the system's, but by no policy with a file of its own`(
    _ source: AuthoritySource
  ) async throws {
    let server = ScriptedServer.answering(.good)
    let folder = try TemporaryDirectory(prefix: "ab-ca", in: Scratch.parent)
    let text = try FileDescriptor.open(ScriptedServer.caFile, .read).contents(limit: 1 << 20)
    let junk = Array("-----BEGIN CERTIFICATE-----\nno end\n".utf8)
    for (name, bytes) in [("own.pem", text + junk), ("junk", junk), ("empty", [])] {
      try FileDescriptor.open("\(folder.path)/\(name)", [.write, .create]).writeAll(bytes.span)
    }
    let client = try clientTrusting(
      source, at: source == .environmentDirectory ? folder.path : folder.path + "/own.pem")
    let url = try server.url()
    #expect(try await PublicTransport(client).send(HTTPRequest(.get, url)).status == 200)
    let other = PublicTransport(client, policy: TLSPolicy(caFile: TLSPolicy.systemCAFile))
    let outcome = await failure { () async throws(HTTPFailure) in try await other.send(HTTPRequest(.get, url)) }
    #expect(outcome == .tlsFailed(.untrusted))
  }

  @Test(arguments: [AuthoritySource.network, .environmentFile, .environmentDirectory])
  func `An added authority that cannot be read is named where it may be what lacks`(
    _ source: AuthoritySource
  ) async throws {
    let server = ScriptedServer.answering(.good)
    let client = try clientTrusting(source, at: "/proc/nonexistent/ca")
    let url = try server.url()
    let outcome = await failure { () async throws(HTTPFailure) in
      try await PublicTransport(client).send(HTTPRequest(.get, url))
    }
    #expect(outcome == .tlsFailed(.caFile(source)))
    let known = PublicTransport(client, policy: try testPolicy())
    #expect(try await known.send(HTTPRequest(.get, url)).status == 200)
  }

  @Test(arguments: [AuthoritySource.network, .environmentFile, .environmentDirectory])
  func `An added authority is trusted as soon as its file is put there`(_ source: AuthoritySource) async throws {
    let server = ScriptedServer.answering(.good)
    let folder = try TemporaryDirectory(prefix: "ab-ca", in: Scratch.parent)
    let file = folder.path + "/own.pem"
    let transport = PublicTransport(
      try clientTrusting(source, at: source == .environmentDirectory ? folder.path : file))
    let url = try server.url()
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.get, url)) }
    #expect(outcome == .tlsFailed(.caFile(source)))
    let text = try FileDescriptor.open(ScriptedServer.caFile, .read).contents(limit: 1 << 20)
    try FileDescriptor.open(file, [.write, .create]).writeAll(text.span)
    #expect(try await transport.send(HTTPRequest(.get, url)).status == 200)
  }

  @Test(arguments: [AuthoritySource.network, .environmentFile, .environmentDirectory])
  func `What was read is kept until a place that could not be read has changed`(
    _ source: AuthoritySource
  ) async throws {
    let server = ScriptedServer.answering(.good)
    let folder = try TemporaryDirectory(prefix: "ab-ca", in: Scratch.parent)
    let (known, missing) = (folder.path + "/known.pem", folder.path + "/missing")
    let text = try FileDescriptor.open(ScriptedServer.caFile, .read).contents(limit: 1 << 20)
    try FileDescriptor.open(known, [.write, .create]).writeAll(text.span)
    var settings = settings()
    settings.authorities = AddedAuthorities([.init(.network, known), .init(source, missing)])
    let transport = PublicTransport(try HTTPClient(settings))
    var request = HTTPRequest(.get, try server.url())
    // Each has a connection of its own.
    request.delivery = .once
    #expect(try await transport.send(request).status == 200)
    try DirectoryEntry.remove(known)
    #expect(try await transport.send(request).status == 200)
    if source == .environmentDirectory { #expect(mkdir(missing, 0o700) == 0) }
    let file = source == .environmentDirectory ? missing + "/ca" : missing
    try FileDescriptor.open(file, [.write, .create]).writeAll(Array("no certificate".utf8).span)
    let again = request
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(again) }
    #expect(outcome == .tlsFailed(.caFile(.network)))
    // In place: the directory itself stays as it was.
    try FileDescriptor.open(file, .write).writeAll(text.span)
    #expect(try await transport.send(request).status == 200)
  }

  @Test(arguments: [AuthoritySource.profile, .network, .environmentFile])
  func `A file of authorities that another user can change is trusted by nobody`(
    _ source: AuthoritySource
  ) async throws {
    let server = ScriptedServer.answering(.good)
    let scratch = Scratch()
    let file = scratch.file("own.pem")
    try scratch.write(FileDescriptor.open(ScriptedServer.caFile, .read).contents(limit: 1 << 20), to: "own.pem")
    let transport =
      source == .profile
      ? PublicTransport(try client(), policy: TLSPolicy(caFile: file))
      : PublicTransport(try clientTrusting(source, at: file))
    let request = HTTPRequest(.get, try server.url())
    #expect(chmod(file, 0o666) == 0)
    #expect(!AddedAuthorities.areReadable(at: file))
    let outcome = await failure { () async throws(HTTPFailure) in try await transport.send(request) }
    #expect(outcome == .tlsFailed(.caFile(source)))
    #expect(chmod(file, 0o644) == 0)
    #expect(AddedAuthorities.areReadable(at: file))
    #expect(try await transport.send(request).status == 200)
  }

  @Test func `A server that speaks no TLS gets no byte of the request`() async throws {
    let server = ScriptedServer(.plain, [.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .wait])
    let url = try HTTPURL("https://localhost:\(server.port)/")
    let token = try secret("access")
    let transport = AuthenticatedTransport(try client(), policy: try testPolicy())
    let outcome = await failure { () async throws(HTTPFailure) in
      try await transport.send(HTTPRequest(.get, url), bearer: token)
    }
    #expect(outcome == .tlsFailed(.plain))
    // What it got is the handshake's first message.
    #expect(server.requests.allSatisfy { $0.utf8.first == 0x16 && !$0.contains("access") })
  }

  @Test func `The right pin, or its spare, lets the request through; wrong ones keep every byte of it back`()
    async throws
  {
    let server = ScriptedServer.answering(.good)
    let right = ScriptedServer.pin(.good)
    let wrong = ScriptedServer.pin(.otherHost)
    let other = ScriptedServer.pin(.expired)
    #expect(try await call(server, testPolicy(pins: [right, wrong])) == nil)
    #expect(try await call(server, testPolicy(pins: [wrong, right])) == nil)
    #expect(server.requests.count == 2)
    let outcome = try await call(server, testPolicy(pins: [wrong, other]))
    #expect(outcome == .pinMismatch)
    #expect(outcome?.requestMayHaveArrived == false)
    #expect(server.requests.count == 2)
  }

  @Test func `A pin does not stand in for a certificate`() async throws {
    let server = ScriptedServer.answering(.selfSigned)
    let pins = [ScriptedServer.pin(.selfSigned), ScriptedServer.pin(.good)]
    #expect(try await call(server, testPolicy(pins: pins)) == .tlsFailed(.untrusted))
    #expect(server.requests.isEmpty)
  }

  @Test func `A connection that was opened without pins is not used for a request with pins`() async throws {
    let server = ScriptedServer.answering(.good)
    let client = try client()
    let url = try server.url()
    let wrong = [ScriptedServer.pin(.otherHost), ScriptedServer.pin(.expired)]
    let pinned = PublicTransport(client, policy: try testPolicy(pins: wrong))
    _ = try await PublicTransport(client, policy: try testPolicy()).send(HTTPRequest(.get, url))
    let outcome = await failure { () async throws(HTTPFailure) in try await pinned.send(HTTPRequest(.get, url)) }
    #expect(outcome == .pinMismatch)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [301, 302, 303, 307, 308], [HTTPRequest.Method.get, .post])
  func `A redirect is a response, and nobody else hears of it`(_ status: Int, _ method: HTTPRequest.Method) async throws
  {
    let elsewhere = ScriptedServer.answering()
    let location = "Location: http://localhost:\(elsewhere.port)/stolen"
    let server = ScriptedServer(.plain, [.read, .send(ScriptedServer.reply(status, "", [location])), .again])
    let transport = AuthenticatedTransport(try client())
    let response = try await transport.send(HTTPRequest(method, try server.url()), bearer: try secret("access"))
    #expect(response.status == status)
    #expect(server.requests.count == 1)
    #expect(elsewhere.connections == 0)
  }

  @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Negotiate", "NTLM"])
  func `A challenge is not answered with anything`(_ challenge: String) async throws {
    let reply = ScriptedServer.reply(401, "", ["WWW-Authenticate: \(challenge)", "Set-Cookie: a=b"])
    let server = ScriptedServer(.plain, [.read, .send(reply), .again])
    let transport = PublicTransport(try client())
    for _ in 0..<2 { #expect(try await transport.send(HTTPRequest(.get, try server.url())).status == 401) }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { !$0.contains("Authorization") && !$0.contains("Cookie") })
  }
}
