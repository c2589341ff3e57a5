import BrokerCore
import BrokerProtocol
import ConfigurationFile
import HTTP
import JSON
import LinuxSystem
import ProviderKit
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import LocalProvider

/// Messages through a real mail server and through a service for SMS.
@Suite(.standardTimeLimit) struct MailDeliveryTests {
  /// Runs a test with a server and a client for it.
  private func run(_ body: (TestServer, HTTPClient) async throws -> Void) async throws {
    try await TestServer.run(.mail) { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      let result: Result<Void, any Error>
      do { result = .success(try await body(server, client)) } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  private func settings(
    _ server: TestServer, _ url: String, logsIn: Bool = true, trusts: Bool = true
  ) throws -> SMTPConfiguration {
    SMTPConfiguration(
      server: try MailServerURL(server.places[url] ?? ""), sender: try #require(MailAddress("no-reply@example.com")),
      account: logsIn
        ? DeliveryAccount(
          user: server.places["user"] ?? "", passwordReference: SecretReference("password", .environment("P"))) : nil,
      tls: trusts ? TLSPolicy(caFile: server.places["caFile"] ?? "") : nil)
  }

  private func finder(_ password: String) -> SecretFinder {
    { _ in Result { try Secret(utf8: password) }.mapError { _ in .transient(.overloaded) } }
  }

  private func failure(_ channel: some MessageChannel, _ message: OutboundMessage) async -> DeliveryFailure? {
    do throws(DeliveryFailure) {
      try await channel.send(message)
      return nil
    } catch { return error }
  }

  private func code() throws -> OutboundMessage {
    try MessageTests.message(.loginCode(try Secret(utf8: "246810"), lifetime: .seconds(300)))
  }

  @Test(arguments: ["startTlsUrl", "smtpsUrl"])
  func `a real mail server gets the mail over TLS, after a login`(_ url: String) async throws {
    try await run { server, client in
      let channel = SMTPChannel(
        try settings(server, url), client: client, secrets: finder(server.places["password"] ?? ""))
      #expect(await failure(channel, try code()) == nil)
      let mails = try await server.ask(.get, "/mails").required("mails").elements()
      #expect(mails.count == 1)
      let mail = try #require(mails.first)
      #expect(try mail.required("from").string() == "no-reply@example.com")
      #expect(try mail.required("to").elements().map { try $0.string() } == ["b@example.com"])
      #expect(try mail.required("tls").bool())
      #expect(try mail.required("user").string() == server.places["user"])
      let text = try mail.required("data").string()
      #expect(text.contains("Subject: Your login code\r\n") && text.contains("Your login code is 246810."))
    }
  }

  @Test func `on this machine a mail goes in the clear, where no policy for TLS is given`() async throws {
    try await run { server, client in
      let settings = try settings(server, "smtpUrl", logsIn: false, trusts: false)
      #expect(await failure(SMTPChannel(settings, client: client, secrets: finder("")), try code()) == nil)
      let mails = try await server.ask(.get, "/mails").required("mails").elements()
      #expect(try mails.count == 1 && !mails[0].required("tls").bool())
    }
  }

  @Test func `a mail server's refusal is told with its code, and without the recipient`() async throws {
    try await run { server, client in
      let place = server.places["smtpUrl"] ?? ""
      let settings = try settings(server, "smtpUrl", logsIn: false, trusts: false)
      let channel = SMTPChannel(settings, client: client, secrets: finder(""))
      try await server.ask(.post, "/refuse", #"{"reply":"550 no b@example.com here"}"#)
      #expect(
        await failure(channel, try code()) == .refused("\(place): the mail server refused the recipient (550)"))
      try await server.ask(.post, "/refuse", #"{"reply":"450 later"}"#)
      #expect(
        await failure(channel, try code()) == .unreachable("\(place): the mail server refused the recipient (450)"))
      let odd = try MessageTests.message(.passwordChanged, to: "\"a b\"@example.com")
      #expect(await failure(channel, odd)?.isPassing == false)
    }
  }

  @Test func `a wrong password and a certificate that is not trusted are final`() async throws {
    try await run { server, client in
      let place = server.places["smtpsUrl"] ?? ""
      let wrong = SMTPChannel(try settings(server, "smtpsUrl"), client: client, secrets: finder("wrong"))
      #expect(
        await failure(wrong, try code()) == .refused("\(place): the mail server refused user or password (535)"))
      let stranger = SMTPChannel(
        try settings(server, "smtpsUrl", trusts: false), client: client, secrets: finder("wrong"))
      let untrusted = "\(place): TLS failed: the certificate is signed by an untrusted authority"
      #expect(await failure(stranger, try code()) == .refused(untrusted))
      let without = SMTPChannel(try settings(server, "smtpsUrl"), client: client) { _ in
        .failure(.credentialMissing(MissingCredential("password", "it is empty")))
      }
      #expect(await failure(without, try code())?.isPassing == false)
      let busy = SMTPChannel(try settings(server, "smtpsUrl"), client: client) { _ in .failure(.transient(.timeout)) }
      #expect(await failure(busy, try code())?.isPassing == true)
    }
  }

  @Test func `a dead mail server is told clearly, and can be tried again`() async throws {
    let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
    // Nothing listens on the discard port of this machine.
    let settings = SMTPConfiguration(
      server: try MailServerURL("smtp://127.0.0.1:9"), sender: try #require(MailAddress("a@example.com")), account: nil,
      tls: nil)
    let channel = SMTPChannel(settings, client: client, secrets: finder(""))
    #expect(await failure(channel, try code()) == .unreachable("smtp://127.0.0.1:9: the server cannot be reached"))
    await client.close()
  }

  private func sms(
    _ server: TestServer, _ client: HTTPClient, fields: SMSConfiguration.Fields = SMSConfiguration.Fields(),
    sender: String? = "+15005550006"
  ) throws -> SMSChannel {
    SMSChannel(
      SMSConfiguration(
        url: try HTTPURL(server.url), sender: sender,
        account: DeliveryAccount(user: "AC0", passwordReference: SecretReference("password", .environment("P"))),
        fields: fields, tls: nil),
      client: client, secrets: finder("p:a+ä"))
  }

  @Test func `a service for SMS gets the form with the user's name and password`() async throws {
    try await run { server, client in
      #expect(await failure(try sms(server, client), try MessageTests.text()) == nil)
      var fields = SMSConfiguration.Fields()
      (fields.to, fields.from, fields.body) = ("recipient", "sender", "text")
      #expect(await failure(try sms(server, client, fields: fields, sender: nil), try MessageTests.text()) == nil)
      let forms = try await server.ask(.get, "/forms").required("forms").elements()
      #expect(try forms.map { try $0.required("login").string() } == ["AC0:p:a+ä", "AC0:p:a+ä"])
      let text = try #require(try MessageTests.text().body.revealedString())
      let sent = try forms.map { form in
        try form.required("fields").members().map { "\($0.name)=\(try $0.value.string())" }
      }
      #expect(
        sent == [
          ["To=+491511234567", "From=+15005550006", "Body=\(text)"], ["recipient=+491511234567", "text=\(text)"],
        ])
    }
  }

  @Test(arguments: [
    (400, #"{"code":21211,"message":"The 'To' number +491511234567 is not valid"}"#, ", error 21211", false),
    (401, #"{"code":"x"}"#, "", false), (302, "{}", "", false), (404, "[1]", "", false), (429, "{}", "", true),
    (408, "{}", "", true), (500, "{}", "", true), (503, #"{"code":-1}"#, "", true),
  ])
  func `a service's refusal is told with its status and code, without its words`(
    _ status: Int, _ body: String, _ detail: String, _ isPassing: Bool
  ) async throws {
    try await run { server, client in
      try await server.ask(.post, "/answer", #"{"status":\#(status),"body":\#(body)}"#)
      let failure = await failure(try sms(server, client), try MessageTests.text())
      let text = "\(try HTTPURL(server.url)): the service answered with status \(status)\(detail)"
      #expect(failure == (isPassing ? .unreachable(text) : .refused(text)))
    }
  }
}
