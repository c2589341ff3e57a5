import Configuration
import ConfigurationFile

/// A name, what stands in the file, and what is told behind `config.json:`.
extension ConfigurationMistakeTests {
  static let table: [(String, String, [String])] = keys + values + addresses + targets + syntax

  /// The types of provider, as a mistake lists them.
  private static let types = ProviderType.all.map(\.name).joined(separator: ", ")

  private static let targets: [(String, String, [String])] = [
    (
      "a target without a scheme", #"{targets:{"git.example.com":"default"}}"#,
      [
        #"""
        1:11: "git.example.com" must be an address that begins with https://, smtps://, smtp://, imaps:// or imap://, \#
        or http:// for this machine; write "https://git.example.com"
        """#
      ]
    ),
    (
      "a target in the clear", #"{targets:{"http://git.example.com":"default"}}"#,
      [#"1:11: "http://git.example.com" must be an https:// address; http:// is for this machine only"#]
    ),
    (
      "a target with a password", #"{targets:{"https://me:x@git.example.com":"default"}}"#,
      [#"1:11: "https://me:x@git.example.com" must be an address whose user name is a name alone"#]
    ),
    (
      "a target with two users", #"{targets:{"https://me@git.example.com":{profile:"default",username:"you"}}}"#,
      [
        #"1:11: "https://me@git.example.com" has another user name than its username; remove one of them"#
      ]
    ),
    (
      "a target for a whole top level", #"{targets:{"https://*.com":"default"}}"#,
      [
        #"""
        1:11: "https://*.com" must be an address whose "*." stands before a name of at least two labels, as in \#
        https://*.example.com
        """#
      ]
    ),
    (
      "a target twice", #"{targets:{"https://a.example":"default","https://A.example:443/":"default"}}"#,
      [#"1:41: "https://A.example:443/" is the same address as another entry; remove one of them"#]
    ),
    (
      "a target of a profile that is misspelt", #"{targets:{"https://a.example":"defualt"}}"#,
      [#"1:31: targets.https://a.example: names a profile that is not configured; did you mean "default"?"#]
    ),
    (
      "a target without a profile", #"{targets:{"https://a.example":{user:"x"}}}"#,
      [
        #"1:31: missing key "profile" in targets.https://a.example; write the name of a profile"#,
        #"1:32: unknown key "user" in targets.https://a.example; did you mean "username"?"#,
      ]
    ),
    (
      "docker's user name for another kind of token",
      #"{targets:{"https://a.example":{profile:"default",username:"<token>"}}}"#,
      [
        #"""
        1:59: targets.https://a.example.username: must have 1 to 256 bytes, without ":" and control characters, and \#
        not be "<token>"
        """#
      ]
    ),
  ]

  private static let keys: [(String, String, [String])] = [
    (
      "a key in the singular", #"{profile:{}}"#,
      [#"1:2: unknown key "profile"; did you mean "profiles"?"#]
    ),
    (
      "a key in capitals", #"{Profiles:{default:{provider:"local"}}}"#,
      [#"1:2: unknown key "Profiles"; did you mean "profiles"?"#]
    ),
    (
      "a misspelt key",
      #"""
      {
        local: { otp: { lenght: 6 } } }
      """#,
      [#"2:19: unknown key "lenght" in local.otp; did you mean "length"?"#]
    ),
    (
      "a key with an underscore", #"{profiles:{shop:{provider:"rest",base_url:"https://api.example.com"}}}"#,
      [#"1:34: unknown key "base_url" in profiles.shop; did you mean "baseUrl"?"#]
    ),
    (
      "a misspelt key that must be there", #"{profiles:{a:{provder:"local"}}}"#,
      [#"1:15: unknown key "provder" in profiles.a; did you mean "provider"?"#]
    ),
    (
      "another program's key", #"{profiles:{a:{type:"local"}}}"#,
      [#"1:15: unknown key "type" in profiles.a; did you mean "provider"?"#]
    ),
    (
      "a key that nothing is like", #"{nonsense:1}"#,
      [
        #"1:2: unknown key "nonsense"; known keys: \#(BrokerConfiguration.knownKeys[""].joined(separator: ", "))"#
      ]
    ),
    (
      "a part of a key among many", #"{limits:{maxInFlight:8}}"#,
      [#"1:10: unknown key "maxInFlight" in limits; did you mean "maxRequestsInFlight"?"#]
    ),
    (
      "a profile at the top", #"{default:{provider:"local"}}"#,
      [#"1:2: "default" is not a key of the configuration; it belongs in profiles"#]
    ),
    (
      "a profile's key at the top", #"{issuer:"https://sso.example.com",profiles:{a:{provider:"local"}}}"#,
      [#"1:2: unknown key "issuer"; it belongs in local or profiles.NAME"#]
    ),
    (
      "a top-level key in a profile", #"{profiles:{a:{provider:"local",logLevel:"debug"}}}"#,
      [#"1:32: unknown key "logLevel" in profiles.a; it belongs at the top, beside profiles"#]
    ),
    (
      "a key outside its section", #"{otp:{length:6}}"#,
      [#"1:2: unknown key "otp"; it belongs in local"#]
    ),
    (
      "a key outside a profile's section", #"{profiles:{a:{provider:"local",pins:[]}}}"#,
      [#"1:32: unknown key "pins" in profiles.a; it belongs in profiles.NAME.tls"#]
    ),
    (
      "another provider's key",
      #"{profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:"c",realm:"acme"}}}"#,
      [#"1:77: unknown key "realm" in profiles.a; it is for the provider keycloak"#]
    ),
    (
      "a preset beside the provider that it is", #"{profiles:{a:{provider:"google",preset:"google",clientId:"c"}}}"#,
      [#"1:33: unknown key "preset" in profiles.a; remove it, "provider" is given already"#]
    ),
    (
      "a metadata name for an endpoint",
      #"""
      {profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:"c",
      endpoints:{token_endpoint:"https://sso.example.com/t"}}}}
      """#,
      [#"2:12: unknown key "token_endpoint" in profiles.a.endpoints; did you mean "token"?"#]
    ),
    (
      "no provider", #"{profiles:{a:{baseUrl:"https://api.example.com"}}}"#,
      [
        #"1:14: missing key "provider" in profiles.a; write provider: "local", or one of: \#(types)"#
      ]
    ),
    (
      "a provider that does not exist", #"{profiles:{a:{provider:"soap"}}}"#,
      [
        #"1:24: profiles.a.provider: unknown provider "soap"; use one of: \#(types)"#
      ]
    ),
    (
      "a provider by a product's name", #"{profiles:{a:{provider:"azure",clientId:"c"}}}"#,
      [#"1:24: profiles.a.provider: unknown provider "azure"; did you mean "microsoft"?"#]
    ),
    (
      "no address", #"{profiles:{a:{provider:"rest"}}}"#,
      [#"1:14: missing key "baseUrl" in profiles.a; write baseUrl: "https://…""#]
    ),
    (
      "no issuer", #"{profiles:{a:{provider:"oidc",clientId:"c"}}}"#,
      [#"1:14: missing key "issuer" in profiles.a; write issuer: "https://…", as the provider writes it itself"#]
    ),
  ]

  private static let values: [(String, String, [String])] = [
    (
      "a misspelt word", #"{logLevel:"debgu"}"#,
      [#"1:11: logLevel: must be one of "error", "warning", "info", "debug", not "debgu"; did you mean "debug"?"#]
    ),
    (
      "a long word", #"{logLevel:"informationinformationinformation"}"#,
      [#"1:11: logLevel: must be one of "error", "warning", "info", "debug", not this string"#]
    ),
    (
      "a word with an escape", #"{logLevel:"in\u001bfo"}"#,
      [
        #"1:11: logLevel: must be one of "error", "warning", "info", "debug", not this string; did you mean "info"?"#
      ]
    ),
    (
      "a word in capitals", #"{vault:{keySource:"File"}}"#,
      [
        #"1:19: vault.keySource: must be one of "file", "passphrase", "credential", "command", not "File"; did you mean "file"?"#
      ]
    ),
    (
      "a channel without what it needs", #"{local:{delivery:{channel:"smtp"}}}"#,
      [
        #"1:18: missing key "url" in local.delivery; write url: "smtps://mail.example.com""#,
        #"1:18: missing key "from" in local.delivery; write from: "no-reply@example.com""#,
      ]
    ),
    (
      "a misspelt login method",
      #"""
      {
        profiles: {
          sso: { provider: "oidc", issuer: "https://sso.example.com", clientId: "cli",
                 methods: ["device", "devise"] } } }
      """#,
      [#"4:32: profiles.sso.methods[1]: unknown login method "devise"; did you mean "deviceCode"?"#]
    ),
    (
      "a duration with its unit", #"{lingerSeconds:"5m"}"#,
      [#"1:16: lingerSeconds: must be a number of seconds from 0 to 86400, not "5m"; for 5 minutes write 300"#]
    ),
    (
      "a number in quotes", #"{lingerSeconds:"300"}"#,
      [#"1:16: lingerSeconds: must be a number of seconds from 0 to 86400, not "300"; write 300 without quotes"#]
    ),
    (
      "a size with its unit", #"{limits:{maxMessageBytes:"1 MiB"}}"#,
      [
        #"1:26: limits.maxMessageBytes: must be a whole number from 1024 to 67108864, not "1 MiB"; for 1 MiB write 1048576"#
      ]
    ),
    (
      "a number out of range", #"{lingerSeconds:90000}"#,
      [#"1:16: lingerSeconds: must be a number of seconds from 0 to 86400, not 90000"#]
    ),
    (
      "a switch in quotes", #"{profiles:{a:{provider:"local",backgroundRefresh:"true"}}}"#,
      [#"1:50: profiles.a.backgroundRefresh: must be true or false, not "true"; write true"#]
    ),
    (
      "a string in place of a list",
      #"{profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:"c",scopes:"openid email"}}}"#,
      [#"1:84: profiles.a.scopes: must be a list of strings, not a string; write ["openid", "email"]"#]
    ),
    (
      "a list in place of a string",
      #"{profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:["c"]}}}"#,
      [#"1:73: profiles.a.clientId: must be a string, not a list; write "c""#]
    ),
    (
      "a number in place of a string",
      #"{profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:123}}}"#,
      [#"1:73: profiles.a.clientId: must be a string, not a number; write "123""#]
    ),
    (
      "a string in place of a section, whose keys are not missed", #"{vault:"command",profiles:{a:"oidc"}}"#,
      [
        #"1:8: vault: must be an object, not a string"#,
        #"1:30: profiles.a: must be an object, not a string"#,
      ]
    ),
    (
      "a secret in the file",
      #"{profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:"c",clientSecret:"secret"}}}"#,
      [
        #"1:90: profiles.a.clientSecret: a secret must not stand in the configuration; write where it is: {file: "/PATH"}, {env: "NAME"} or {command: ["PROGRAM"]}"#
      ]
    ),
    (
      "a path from the home directory", #"{vault:{keyFile:"~/vault.key"}}"#,
      [
        #"1:17: vault.keyFile: must be the absolute path of a file, such as "${HOME}/keys/example.pem"; for your home directory write ${HOME}/"#
      ]
    ),
    (
      "a variable that is not set", #"{logLevel:"${GONE}"}"#,
      [#"1:11: logLevel: the environment variable GONE is not set"#]
    ),
    (
      "a profile's name in capitals", #"{profiles:{Work:{provider:"local"}}}"#,
      [
        #"1:12: "Work" is not a profile name; use a-z, 0-9, '.', '_' and '-', a letter or digit first, at most 64 characters"#
      ]
    ),
    (
      "no profile", #"{profiles:{}}"#,
      [#"1:11: profiles: must name at least one profile; write default: {provider: "local"}"#]
    ),
  ]
}
