import SecretMemory
import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct RequestTests {
  @Test func `A request arrives as it was meant, and the response comes back whole`() async throws {
    let server = ScriptedServer(
      .plain,
      [.read, .send(ScriptedServer.reply(422, #"{"error":"no"}"#, ["Content-Type: application/problem+json; a=b"]))])
    let transport = PublicTransport(try client())
    var request = HTTPRequest(
      .post, try server.url("/auth/login?next=%2F"), fields: [try HTTPField("X-Tenant", "acme")],
      body: .json(try secret(#"{"password":"p"}"#)))
    request.deadline = .refresh
    let response = try await transport.send(request)
    #expect(response.status == 422)
    #expect(response.text == #"{"error":"no"}"#)
    #expect(response.mediaType?.essence == "application/problem+json")
    #expect(response.mediaType?.isJSON == true)
    let sent = try #require(server.requests.first)
    let lines = sent.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines[0] == "POST /auth/login?next=%2F HTTP/1.1")
    #expect(
      Set(lines[1..<(lines.count - 2)]) == [
        "Host: localhost:\(server.port)", "User-Agent: AuthBroker/1.2.3", "Content-Type: application/json",
        "X-Tenant: acme", "Accept: application/json", "Content-Length: 16",
      ])
    #expect(lines.last == #"{"password":"p"}"#)
  }

  @Test(arguments: [
    (HTTPRequest.Method.get, nil as String?), (.post, nil), (.post, "x=1"), (.put, "x=1"), (.patch, "x=1"),
    (.delete, nil), (.delete, "x=1"), (.put, nil),
  ])
  func `Every method is sent by its name, with its body if it has one`(_ method: HTTPRequest.Method, _ body: String?)
    async throws
  {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    let form = try body.map { HTTPBody.form(try secret($0)) }
    _ = try await transport.send(HTTPRequest(method, try server.url("/a"), body: form))
    let sent = try #require(server.requests.first)
    #expect(sent.hasPrefix("\(method.rawValue) /a HTTP/1.1\r\n"))
    #expect(sent.hasSuffix("\r\n\r\n" + (body ?? "")))
    #expect(sent.contains("Content-Type: application/x-www-form-urlencoded\r\n") == (body != nil))
    #expect(!sent.contains("Expect"))
  }

  @Test func `A body of a megabyte is sent whole, and one byte more is refused`() async throws {
    let server = ScriptedServer.answering()
    let transport = PublicTransport(try client())
    // Its own arena: the tests beside it leave the shared one no room of this size.
    let arena = SecretArena(capacity: 4 << 20)
    let large = try Secret(byteCount: 1 << 20, in: arena) { span in
      for index in span.indices { span[index] = 0x61 }
    }
    _ = try await transport.send(HTTPRequest(.post, try server.url(), body: .json(large)))
    var bytes = Array("{}".utf8)
    _ = try await transport.send(HTTPRequest(.post, try server.url(), body: .json(wiping: &bytes, for: .interactive)))
    #expect(bytes == [0, 0])
    #expect(server.requests.first?.utf8.filter { $0 == 0x61 }.count ?? 0 >= 1 << 20)
    let larger = try Secret(byteCount: 1 << 20 + 1, in: arena) { _ in }
    let refused = await failure { () async throws(HTTPFailure) in
      try await transport.send(HTTPRequest(.post, try HTTPURL("http://localhost:1/"), body: .json(larger)))
    }
    #expect(refused == .requestTooLarge)
  }

  @Test func `Only the authenticated transport sends a token`() async throws {
    let server = ScriptedServer.answering()
    let client = try client()
    _ = try await AuthenticatedTransport(client).send(
      HTTPRequest(.get, try server.url("/me")), bearer: try secret("eyJ.a-b_c~d+e/f=="))
    _ = try await PublicTransport(client).send(HTTPRequest(.get, try server.url("/public")))
    let sent = server.requests
    #expect(sent[0].contains("\r\nAuthorization: Bearer eyJ.a-b_c~d+e/f==\r\n"))
    #expect(!sent[1].lowercased().contains("authorization"))
  }

  @Test func `A client's own credentials are form-encoded, then sent as Basic`() async throws {
    let server = ScriptedServer.answering()
    let credentials = ClientCredentials(id: "cli:ent", secret: try secret("pa ss+%é"))
    _ = try await PublicTransport(try client()).send(HTTPRequest(.get, try server.url()), as: credentials)
    // base64 of "cli%3Aent:pa+ss%2B%25%C3%A9"
    #expect(server.requests[0].contains("\r\nAuthorization: Basic Y2xpJTNBZW50OnBhK3NzJTJCJTI1JUMzJUE5\r\n"))
  }

  @Test(arguments: ["", "a b", "a\r\nX: y", "a\u{0}b", "tökén"])
  func `A token that could not be one field's value is not sent`(_ token: String) async throws {
    let server = ScriptedServer.answering()
    let transport = AuthenticatedTransport(try client())
    let refused = await failure { () async throws(HTTPFailure) in
      guard let url = try? server.url(), let token = try? secret(token) else { throw .closed }
      return try await transport.send(HTTPRequest(.get, url), bearer: token)
    }
    #expect(refused == .invalidField)
    #expect(server.connections == 0)
  }
}
