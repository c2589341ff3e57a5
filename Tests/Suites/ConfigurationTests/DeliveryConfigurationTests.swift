import Configuration
import ConfigurationFile
import HTTP
import JSON
import LocalProvider
import TestSupport
import Testing

/// `local.delivery`: what is taken, what is refused and where, and that the schema says the same.
@Suite(.standardTimeLimit) struct DeliveryConfigurationTests {
  private func delivery(_ text: String) throws(ConfigurationError) -> DeliveryConfiguration {
    let bytes = Array("{local:{delivery:\(text)}}".utf8)
    return try BrokerConfiguration.parse(bytes, file: "c", environment: ["HOME": "/home/ann"]).local.delivery
  }

  private func lines(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try delivery(text)
      return []
    } catch { return error.mistakes.map(\.line) }
  }

  @Test func `a mail server is for e-mail, and SMS stays in the outbox`() throws {
    let delivery = try delivery(
      "{channel:'smtp',url:'smtps://Mail.example.com',from:'no-reply@example.com',user:'ann',password:{file:'${HOME}/p'},"
        + "tls:{caFile:'/etc/ca.pem'}}")
    guard case .smtp(let settings) = delivery.email else { return #expect(Bool(false), "\(delivery.email)") }
    #expect(settings.server.description == "smtps://mail.example.com:465")
    #expect(settings.sender.text == "no-reply@example.com")
    #expect(settings.account?.user == "ann" && settings.account?.passwordReference.place == .file("/home/ann/p"))
    #expect(settings.tls?.caFile == "/etc/ca.pem")
    #expect(delivery.sms == .outbox)
  }

  @Test func `a service for SMS has the names of Twilio's fields, but for those that are given`() throws {
    let delivery = try delivery(
      "{channel:'sms',url:'https://sms.example.com/a/Messages.json',user:'AC0',password:{env:'TOKEN'},from:'+15005550006',"
        + "fields:{to:'recipient'}}")
    guard case .sms(let settings) = delivery.sms else { return #expect(Bool(false), "\(delivery.sms)") }
    #expect(settings.url.origin == "https://sms.example.com" && settings.sender == "+15005550006")
    #expect(settings.account?.passwordReference.place == .environment("TOKEN") && settings.tls == nil)
    #expect([settings.fields.to, settings.fields.from, settings.fields.body] == ["recipient", "From", "Body"])
    #expect(delivery.email == .outbox)
  }

  @Test func `a program gets both, unless one of them has a way of its own`() throws {
    let both = try delivery("{channel:'command',command:['notify-otp','-q']}")
    #expect(both.email == .command(["notify-otp", "-q"]) && both.sms == both.email)
    let apart = try delivery("{channel:'command',command:['notify-otp'],email:{}}")
    #expect(apart.email == .outbox && apart.sms == .command(["notify-otp"]))
    let two = try delivery(
      "{email:{channel:'smtp',url:'smtp://localhost',from:'a@example.com'},sms:{channel:'sms',url:'http://localhost/x'}}"
    )
    #expect(two.email.name == .smtp && two.sms.name == .sms)
  }

  @Test(arguments: [
    (
      "{channel:'smtp',from:'a@b.c',\nurl:'smtp://mail.example.com/x'}",
      "2:5: local.delivery.url: must be smtps://HOST or smtp://HOST, maybe with :PORT, and nothing else"
    ),
    (
      "{channel:'smtp',url:'smtp://a.b',\nfrom:'Ann <a@b.c>'}",
      #"2:6: local.delivery.from: must be an e-mail address such as "no-reply@example.com""#
    ),
    (
      "{channel:'smtp',url:'smtp://a.b',from:'a@b.c',user:'x',\npassword:'canary'}",
      "2:10: local.delivery.password: a secret must not stand in the configuration; write where it is: "
        + #"{file: "/PATH"}, {env: "NAME"} or {command: ["PROGRAM"]}"#
    ),
    (
      "{channel:'sms',url:'https://a.b',\nuser:'a:b',password:{env:'P'}}",
      "2:6: local.delivery.user: must have no colon (RFC 7617)"
    ),
    (
      "{channel:'command',\ncommand:[]}",
      "2:9: local.delivery.command: must begin with a program: its name, or its absolute path"
    ),
    (
      "{channel:'sms',url:'https://a.b',\ncommand:['x']}",
      #"2:9: local.delivery.command: has no effect with channel "sms"; set channel, or remove it"#
    ),
    (
      "{\nurl:'smtp://a.b'}",
      #"2:5: local.delivery.url: has no effect with channel "outbox"; set channel, or remove it"#
    ),
    (
      "{email:{\nchannel:'sms',url:'https://a.b'}}",
      #"2:9: local.delivery.email.channel: the channel "sms" cannot send e-mail"#
    ),
    (
      "{sms:{\nchannel:'smtp',url:'smtp://a.b',from:'a@b.c'}}",
      #"2:9: local.delivery.sms.channel: the channel "smtp" cannot send SMS"#
    ),
    (
      "{channel:'sms',url:'https://a.b',fields:{\nTo:'x'}}",
      #"2:1: unknown key "To" in local.delivery.fields; did you mean "to"?"#
    ),
  ])
  func `a mistake is told with its line and its key`(_ text: String, _ line: String) {
    #expect(lines(text) == [line])
  }

  @Test func `what a channel needs is missed`() {
    let forms = #"{file: "/PATH"}, {env: "NAME"} or {command: ["PROGRAM"]}"#
    #expect(
      lines("{channel:'sms',url:'https://a.b',user:'x'}") == [
        "1:18: missing key \"password\" in local.delivery; write where it is: \(forms)"
      ])
    #expect(
      lines("{channel:'sms',password:{env:'P'}}").sorted() == [
        "1:18: missing key \"url\" in local.delivery; write url: \"https://sms.example.com/messages\"",
        "1:18: missing key \"user\" in local.delivery",
      ])
    #expect(
      lines("{channel:'command'}") == [
        #"1:18: missing key "command" in local.delivery; write command: ["PROGRAM"]"#
      ])
    #expect(lines("{email:{channel:'smtp'}}").count == 2)
  }

  @Test func `the schema has the same keys for each of the three places, and the same channels`() throws {
    let schema = try SchemaFile.document("config.schema.json").root
    let definitions = try schema.required("$defs")
    let common = try schema.required("properties").required("local").required("properties").required("delivery")
    let own = try definitions.required("deliveryChannel")
    let names = ["channel", "command", "fields", "from", "password", "tls", "url", "user"]
    #expect(try own.required("properties").members().map(\.name).sorted() == names)
    #expect(
      try common.required("properties").members().map(\.name).sorted() == (names + ["email", "sms"]).sorted())
    #expect(own["additionalProperties"]?.kind == .false)
    for place in ["local.delivery.email", "local.delivery.sms"] {
      #expect(BrokerConfiguration.knownKeys[place].sorted() == names, "\(place)")
    }
    let channels = try own.required("properties").required("channel").required("enum").elements()
    #expect(try channels.map { try $0.string() } == DeliveryConfiguration.Channel.allCases.map(\.rawValue))
    for (name, value) in try definitions.required("delivery").members() {
      #expect(try names.contains(name) && !value.required("description").string().isEmpty)
    }
    let fields = try definitions.required("delivery").required("fields").required("properties").members()
    #expect(
      try fields.map { "\($0.name)=\(try $0.value.required("default").string())" } == [
        "to=To", "from=From", "body=Body",
      ])
  }
}
