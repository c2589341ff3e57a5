import BrokerProtocol
import Configuration
import ConfigurationFile
import JSON
import ProviderKit
import RESTProvider
import TestSupport
import Testing

/// The part of `Schemas/config.schema.json` that describes how a REST backend is spoken to, and its decoder.
@Suite(.standardTimeLimit) struct RESTMappingSchemaTests {
  private let schema: JSONNode
  private let profile: JSONNode
  private let mapping: JSONNode

  init() throws {
    schema = try SchemaFile.document("config.schema.json").root
    profile = try #require(schema["properties"]?["profiles"]?["additionalProperties"]?["properties"])
    mapping = try #require(profile["mapping"]?["properties"])
  }

  /// The profile of a configuration that says one more thing of its backend.
  private func rest(_ more: String) throws(ConfigurationError) -> RESTProfileConfiguration {
    let text = #"{profiles:{default:{provider:"rest",baseUrl:"https://api.example.com",\#(more)}}}"#
    let configuration = try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOME": "/home/ann"])
    guard case .remote(let remote)? = configuration[.default]?.provider,
      let profile = remote as? RESTProfileConfiguration
    else {
      preconditionFailure("the provider is rest")
    }
    return profile
  }

  private func mapping(_ text: String) throws(ConfigurationError) -> RESTMapping {
    try rest("mapping:{\(text)}").mapping
  }

  /// The key of the error of a configuration; nil where it is accepted.
  private func errorKey(_ more: String) -> String? {
    do {
      _ = try rest(more)
      return nil
    } catch { return error.mistakes.first.map { String($0.path.dropFirst("profiles.default.".count)) } }
  }

  @Test func `nothing said is the standard mapping`() throws {
    #expect(try mapping("") == .standard)
    #expect(try mapping("endpoints:{},reply:{},errors:{}") == .standard)
  }

  @Test func `every endpoint is described with its method, path and fields`() throws {
    let endpoints = try #require(mapping["endpoints"]?["properties"])
    #expect(try endpoints.members().map(\.name) == RESTEndpoint.Name.allCases.map(\.rawValue))
    for (text, endpoint) in try endpoints.members() {
      let name = try #require(RESTEndpoint.Name(rawValue: text))
      let properties = try endpoint.required("properties")
      let standard = RESTEndpoint.standard(name)
      #expect(try properties.required("method").required("default").string() == standard.method.rawValue)
      #expect(try properties.required("path").required("default").string() == standard.path)
      let fields = try properties.required("fields").required("properties").members().map(\.name)
      #expect(fields == name.fields.map(\.rawValue))
      #expect(try mapping("endpoints:{\(text):null}").endpoints[name] == nil)
      let methods = try properties.required("method").required("enum").elements().map { try $0.string() }
      for method in RESTEndpoint.Method.allCases {
        let key = errorKey(#"mapping:{endpoints:{\#(text):{method:"\#(method.rawValue)"}}}"#)
        #expect((key == nil) == methods.contains(method.rawValue), "\(text) \(method)")
      }
      for field in fields {
        let said = try mapping(#"endpoints:{\#(text):{fields:{\#(field):"theirs"}}}"#).endpoints[name]
        #expect(try said?.fields[#require(RESTEndpoint.Field(rawValue: field))] == "theirs")
        let unsaid = try mapping(#"endpoints:{\#(text):{fields:{\#(field):null}}}"#).endpoints[name]?.fields
        #expect(unsaid == standard.fields.filter { $0.key.rawValue != field })
      }
      #expect(
        errorKey("mapping:{endpoints:{\(text):{fields:{other:'x'}}}}") == "mapping.endpoints.\(text).fields.other")
      let unknown = errorKey("mapping:{endpoints:{\(text):{'?':1}}}")
      #expect(unknown == "mapping.endpoints.\(text).?")
    }
  }

  @Test func `every member of a reply is described with its standard paths`() throws {
    let reply = try #require(mapping["reply"]?["properties"])
    #expect(try reply.members().map(\.name) == RESTReplyPaths.Member.allCases.map(\.rawValue))
    for (text, property) in try reply.members() {
      let member = try #require(RESTReplyPaths.Member(rawValue: text))
      let paths = try property.required("default").elements().map { try $0.string() }
      #expect(RESTMapping.standard.reply[member].map { $0.names.joined(separator: ".") } == paths)
      #expect(try mapping(#"reply:{\#(text):"a.b"}"#).reply[member].map(\.names) == [["a", "b"]])
      #expect(try mapping(#"reply:{\#(text):["a","b.c"]}"#).reply[member].map(\.names) == [["a"], ["b", "c"]])
      for wrong in ["1", "[]", "''", "'a..b'", "'.a'", "['a',1]", "null", "{}"] {
        #expect(errorKey("mapping:{reply:{\(text):\(wrong)}}") == "mapping.reply.\(text)", "\(wrong)")
      }
    }
  }

  @Test func `kinds are those that a provider can have to say`() throws {
    let kinds = try #require(schema["$defs"]?["kind"]?["enum"]).elements().map { try $0.string() }
    #expect(kinds == RESTErrorMapping.possibleKinds.map(\.rawValue))
    for kind in ErrorKind.allCases {
      let key = errorKey("mapping:{errors:{kinds:{E1:'\(kind.rawValue)'}}}")
      #expect((key == nil) == kinds.contains(kind.rawValue), "\(kind)")
    }
    let errors = try mapping("errors:{code:['fault.name'],kinds:{E1:'accountLocked'}}").errors
    #expect(errors.code.map(\.names) == [["fault", "name"]] && errors.kinds == ["E1": .accountLocked])
  }

  @Test func `constants, encodings and kinds of reply are taken`() throws {
    let text = """
      encoding:"form",endpoints:{refresh:{path:"/token",encoding:"json",fields:{refreshToken:"refresh_token"},
        add:{grant_type:"refresh_token",n:7,long:true},accept:"application/vnd.shop+json"}},
        resendStrategy:"restartLogin",revokeStyle:"rfc7009"
      """
    let mapping = try mapping(text)
    let refresh = try #require(mapping.endpoints[.refresh])
    #expect(mapping.encoding == .form && refresh.encoding == .json && refresh.method == .post)
    #expect(refresh.path == "/token" && refresh.accept == "application/vnd.shop+json")
    #expect(refresh.fields == [.refreshToken: "refresh_token"])
    #expect(refresh.added == ["grant_type": .text("refresh_token"), "n": .whole(7), "long": .flag(true)])
    #expect(mapping.resendStrategy == .restartLogin && mapping.revokeStyle == .rfc7009)
    #expect(mapping.endpoints[.login] == .standard(.login))
  }

  @Test(arguments: [
    ("mapping:{endpoints:{login:{path:'auth'}}}", "mapping.endpoints.login.path"),
    ("mapping:{endpoints:{login:{path:'/auth?x=1'}}}", "mapping.endpoints.login.path"),
    ("mapping:{endpoints:{login:{path:'/a b'}}}", "mapping.endpoints.login.path"),
    ("mapping:{endpoints:{login:{method:'GET'}}}", "mapping.endpoints.login.method"),
    ("mapping:{endpoints:{login:{fields:{email:''}}}}", "mapping.endpoints.login.fields.email"),
    ("mapping:{endpoints:{login:{fields:{email:'password'}}}}", "mapping.endpoints.login.fields"),
    ("mapping:{endpoints:{login:{add:{email:'x'}}}}", "mapping.endpoints.login.add"),
    ("mapping:{endpoints:{login:{add:{x:1.5}}}}", "mapping.endpoints.login.add.x"),
    ("mapping:{endpoints:{login:{add:{x:null}}}}", "mapping.endpoints.login.add.x"),
    ("mapping:{endpoints:{currentUser:{add:{x:1}}}}", "mapping.endpoints.currentUser.add"),
    ("mapping:{endpoints:{login:{accept:''}}}", "mapping.endpoints.login.accept"),
    ("mapping:{endpoints:{login:{encoding:'xml'}}}", "mapping.endpoints.login.encoding"),
    ("mapping:{endpoints:{signIn:{}}}", "mapping.endpoints.signIn"),
    ("mapping:{clientAuth:'basic'}", "mapping.clientAuth"),
    ("mapping:{clientAuth:'basic'},clientId:'c'", "mapping.clientAuth"),
    ("mapping:{clientAuth:'post'},clientSecret:{env:'S'}", "mapping.clientAuth"),
    ("clientSecret:{env:'S'}", "clientSecret"), ("clientSecret:'made-up'", "clientSecret"),
    ("clientSecret:{}", "clientSecret"), ("clientSecret:{file:'/a',env:'B'}", "clientSecret"),
    ("clientSecret:{file:'a'}", "clientSecret.file"), ("clientSecret:{env:'1A'}", "clientSecret.env"),
    ("clientSecret:{command:['./x']}", "clientSecret.command"), ("clientSecret:{value:'x'}", "clientSecret.value"),
    ("tls:{pins:['sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=']}", "tls.pins"),
    ("tls:{pins:['a','b']}", "tls.pins[0]"), ("tls:{caFile:'ca.pem'}", "tls.caFile"),
  ])
  func `what cannot be is refused at its key`(_ text: String, _ key: String) {
    #expect(errorKey(text) == key)
  }

  @Test func `a secret is named and not held`() throws {
    let basic = "clientId:'shop',mapping:{clientAuth:'basic'}"
    #expect(try rest("\(basic),clientSecret:{file:'${HOME}/s'}").clientSecret?.place == .file("/home/ann/s"))
    #expect(try rest("\(basic),clientSecret:{env:'SHOP_SECRET'}").clientSecret?.place == .environment("SHOP_SECRET"))
    #expect(
      try rest("\(basic),clientSecret:{command:['pass','shop']}").clientSecret?.place == .command(["pass", "shop"]))
    let error = #expect(throws: ConfigurationError.self) { try rest("clientSecret:'canary'") }
    #expect(error?.description.contains("canary") == false)
  }

  @Test(arguments: [
    ("https://api.example.com", true), ("https://api.example.com:8443/v1", true), ("http://127.0.0.1:80", true),
    ("http://127.1.2.3/", true),
    ("http://[::1]:8080/x", true), ("http://localhost", true), ("https://[2001:db8::1]", true),
    ("http://api.example.com", false), ("http://localhost.example.com", false), ("https://", false),
    ("https://user:x@host", false), ("https://h/?q", false), ("https://h/#f", false), ("https://h:0", false),
    ("https://h:99999", false), ("https://h:", false), ("ftp://h", false), ("h", false), ("https://a..b", false),
    ("https://h/a b", false), ("HTTP://h", false), ("https://127.1", false), ("https://0x7f.0.0.1", false),
    ("https://h/%20", true),
  ])
  func `a base URL is one that may be called`(_ url: String, _ isAccepted: Bool) {
    let text = "{profiles:{default:{provider:'rest',baseUrl:'\(url)'}}}"
    let configuration = try? BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:])
    #expect((configuration != nil) == isAccepted)
  }

  @Test(
    arguments: [
      ("environment", NetworkConfiguration.Proxy.environment), ("none", .some(.none)),
      ("http://proxy.example.com:3128", .url("http://proxy.example.com:3128")),
      ("socks5h://[::1]:1080", .url("socks5h://[::1]:1080")),
      ("http://user:password@proxy", nil), ("proxy.example.com", nil), ("ftp://proxy", nil), ("", nil),
      ("http://127.1:8080", nil), ("http://proxy.example.com/path", nil),
    ] as [(String, NetworkConfiguration.Proxy?)])
  func `a proxy is the environment's, none, or one without a password`(
    _ text: String, _ proxy: NetworkConfiguration.Proxy?
  ) {
    let configuration = try? BrokerConfiguration.parse(
      Array("{network:{proxy:'\(text)'}}".utf8), file: "c", environment: [:])
    #expect(configuration?.network.proxy == proxy)
  }
}
