import TestSupport
import Testing

@testable import HTTP

@Suite(.standardTimeLimit) struct ProxyTests {
  private func setting(_ port: Int, user: String = "", exceptions: String = "") throws -> ProxySetting {
    .proxy(try ProxyURL("http://\(user)127.0.0.1:\(port)"), exceptions: exceptions)
  }

  private func outcome(_ server: ScriptedServer, _ proxy: ProxySetting) async throws -> HTTPFailure? {
    let transport = PublicTransport(try client(proxy: proxy), policy: try testPolicy())
    let url = try server.url("/secret?code=1")
    return await failure { () async throws(HTTPFailure) in try await transport.send(HTTPRequest(.post, url)) }
  }

  @Test func `A proxy gets the host's name and its own password, nothing of the request`() async throws {
    let server = ScriptedServer.answering(.good)
    let proxy = ScriptedServer(.plain, [.read, .send("HTTP/1.1 200 Go\r\n\r\n"), .tunnel(server.port)])
    #expect(try await outcome(server, setting(proxy.port, user: "me:pass@")) == nil)
    #expect(server.requests.count == 1)
    #expect(!server.requests[0].contains("Proxy-Authorization"))
    let asked = try #require(proxy.requests.first)
    #expect(asked.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n"))
    #expect(asked.contains("Proxy-Authorization: Basic bWU6cGFzcw==\r\n"))
    #expect(!asked.contains("secret") && !asked.contains("Accept"))
  }

  @Test(arguments: [403, 407, 502])
  func `A proxy that refuses is told apart from the server, and nothing was sent`(_ status: Int) async throws {
    let server = ScriptedServer.answering(.good)
    let proxy = ScriptedServer(.plain, [.read, .send(ScriptedServer.reply(status, "no"))])
    let outcome = try await outcome(server, setting(proxy.port))
    #expect(outcome == .proxyFailed)
    #expect(outcome?.requestMayHaveArrived == false)
    #expect(server.connections == 0)
  }

  @Test func `A proxy that is not there is told apart from the server`() async throws {
    let server = ScriptedServer.answering(.good)
    let proxy = ScriptedServer.answering()
    proxy.close()
    #expect(try await outcome(server, setting(proxy.port)) == .proxyFailed)
    #expect(server.connections == 0)
  }

  @Test func `Exceptions and requests in the clear go past the proxy`() async throws {
    let proxy = ScriptedServer(.plain, [.read, .close])
    #expect(try await outcome(.answering(.good), setting(proxy.port, exceptions: "example.com, localhost")) == nil)
    #expect(try await outcome(.answering(.good), setting(proxy.port, exceptions: "*")) == nil)
    #expect(try await outcome(.answering(.plain), setting(proxy.port)) == nil)
    #expect(proxy.connections == 0)
  }

  @Test func `The environment is read by the rules of curl`() throws {
    func origin(_ variables: [String: String]) throws -> String? {
      guard case .proxy(let url, let exceptions) = try ProxySetting.environment(variables) else { return nil }
      return url.origin + " " + exceptions
    }
    #expect(try origin([:]) == nil)
    #expect(try origin(["https_proxy": "", "http_proxy": "http://a:1"]) == nil)
    #expect(try origin(["https_proxy": "http://u:p@a.b:3128/", "HTTPS_PROXY": "x"]) == "http://a.b:3128 ")
    #expect(try origin(["HTTPS_PROXY": "a:3128", "NO_PROXY": ".x,y"]) == "http://a:3128 .x,y")
    #expect(try origin(["all_proxy": "socks5h://[::1]:1080", "no_proxy": "z"]) == "socks5h://[::1]:1080 z")
    for bad in ["ftp://a:1", "http://", "http://a:0", "http://a/path", "http://a b", "http://a\r\nb"] {
      #expect(throws: HTTPFailure.invalidURL) { try ProxySetting.environment(["https_proxy": bad]) }
    }
    #expect("\(try ProxyURL("http://u:hush@a:1"))" == "http://a:1")
    var dumped = ""
    dump(try ProxySetting.environment(["https_proxy": "http://u:hush@a:1"]), to: &dumped)
    #expect(!dumped.contains("hush"))
  }
}
