/// Addresses, and what is no JSON5.
extension ConfigurationMistakeTests {
  static let addresses: [(String, String, [String])] = [
    (
      "an issuer without https", #"{profiles:{a:{provider:"oidc",issuer:"http://sso.example.com",clientId:"c"}}}"#,
      [
        #"1:38: profiles.a.issuer: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); write "https://sso.example.com""#
      ]
    ),
    (
      "an issuer without a scheme", #"{profiles:{a:{provider:"oidc",issuer:"sso.example.com",clientId:"c"}}}"#,
      [
        #"1:38: profiles.a.issuer: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); write "https://sso.example.com""#
      ]
    ),
    (
      "the address of an issuer's document",
      #"""
      {profiles:{a:{provider:"oidc",clientId:"c",
      issuer:"https://sso.example.com/.well-known/openid-configuration"}}}
      """#,
      [#"2:8: profiles.a.issuer: must be the issuer, not the address of its document; end it before /.well-known/"#]
    ),
    (
      "an address with a user", #"{profiles:{a:{provider:"rest",baseUrl:"https://ann:secret@api.example.com"}}}"#,
      [
        #"1:39: profiles.a.baseUrl: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only)"#
      ]
    ),
    (
      "an IP address in another spelling", #"{profiles:{a:{provider:"rest",baseUrl:"https://0x7f.0.0.1"}}}"#,
      [
        #"1:39: profiles.a.baseUrl: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); write an IP address in full, as in 127.0.0.1"#
      ]
    ),
    (
      "a port that is none", #"{profiles:{a:{provider:"rest",baseUrl:"https://sso.example.com:99999"}}}"#,
      [
        #"1:39: profiles.a.baseUrl: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); the port must be a number from 1 to 65535"#
      ]
    ),
    (
      "an address without a host", #"{profiles:{a:{provider:"rest",baseUrl:"https://"}}}"#,
      [
        #"1:39: profiles.a.baseUrl: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); the host is missing"#
      ]
    ),
    (
      "an address with a blank", #"{profiles:{a:{provider:"rest",baseUrl:"https://a.example/ x"}}}"#,
      [
        #"1:39: profiles.a.baseUrl: must be an https:// URL without user, query or fragment (http:// for localhost, 127.0.0.0/8 and [::1] only); it has blanks, or characters that are not ASCII"#
      ]
    ),
    (
      "an address that is a number", #"{profiles:{a:{provider:"rest",baseUrl:42}}}"#,
      ["1:39: profiles.a.baseUrl: must be a string, not a number"]
    ),
    (
      "a proxy without a scheme", #"{network:{proxy:"proxy.example.com"}}"#,
      [
        #"1:17: network.proxy: must be "environment", "none" or the URL of a proxy (http, https, socks5 or socks5h); begin it with the scheme, as in http://proxy.example.com:8080"#
      ]
    ),
    (
      "a proxy in another spelling", #"{network:{proxy:"http://127.1:8080"}}"#,
      [#"1:17: network.proxy: must be "environment", "none" or the URL of a proxy (http, https, socks5 or socks5h)"#]
    ),
    (
      "a proxy's password", #"{network:{proxy:"http://ann:secret@proxy.example.com"}}"#,
      [
        #"1:17: network.proxy: must be "environment", "none" or the URL of a proxy (http, https, socks5 or socks5h); a proxy with a password goes into the variable https_proxy"#
      ]
    ),
    (
      "a redirect to another computer",
      #"""
      {profiles:{a:{provider:"oidc",issuer:"https://sso.example.com",clientId:"c",
      redirectUri:"https://app.example.com/back"}}}
      """#,
      [
        #"2:13: profiles.a.redirectUri: must be http:// with 127.0.0.1, [::1] or localhost, a port (0: any) and a path; for any free port write "http://127.0.0.1:0/callback""#
      ]
    ),
  ]

  static let syntax: [(String, String, [String])] = [
    (
      "a key twice",
      #"""
      {lingerSeconds:1,
      lingerSeconds:2}
      """#,
      [#"2:1: duplicate key "lingerSeconds"; remove one of them"#]
    ),
    (
      "curly quotes", #"{ logLevel: “info” }"#,
      [#"1:13: unexpected “ (curly quote); use ""#]
    ),
    (
      "curly quotes of a key", #"{ “logLevel”: "info" }"#,
      [#"1:3: unexpected “ (curly quote); use ""#]
    ),
    (
      "no quotes", #"{ logLevel: info }"#,
      [#"1:13: expected a quoted string; put it in quotes"#]
    ),
    (
      "True", #"{profiles:{a:{provider:"local",backgroundRefresh: True}}}"#,
      [#"1:51: expected a quoted string; write true"#]
    ),
    (
      "YAML",
      #"""
      profiles:
        default:
          provider: local
      """#,
      [#"1:1: the file looks like YAML; it must be JSON5; write { profiles: { default: { provider: "local" } } }"#]
    ),
    (
      "TOML",
      #"""
      # the broker
      [vault]
      keySource = "file"
      """#,
      [
        #"1:1: the file looks like TOML or INI; it must be JSON5; write { profiles: { default: { provider: "local" } } }"#
      ]
    ),
    (
      "an equals sign", #"{ logLevel = "info" }"#,
      [#"1:12: expected a colon before this"#]
    ),
    (
      "a comment of a shell",
      #"""
      { # remark
      }
      """#,
      [#"1:3: unexpected character #; begin a comment with //"#]
    ),
    (
      "no braces",
      #"""
      logLevel: "info",
      vault: {}
      """#,
      [#"1:1: expected { at the beginning; put { and } around the whole"#]
    ),
    (
      "a list", #"[]"#,
      [#"1:1: the configuration must be an object, not a list"#]
    ),
    (
      "no comma",
      #"""
      {
        logLevel: "info"
        lingerSeconds: 5
      }
      """#,
      [#"3:3: expected a comma before this"#]
    ),
    (
      "an empty file", #"// nothing"#,
      [#"1:1: the file is empty; write {} for the defaults"#]
    ),
    (
      "a text after the end", #"{} x"#,
      [#"1:4: unexpected text after the configuration; remove it"#]
    ),
    (
      "several at once, in the order of the file",
      #"""
      {
        profiles: { sso: { provider: "oidc", isuer: "https://sso.example.com", clientId: ["cli"] } },
        logLevel: "debgu",
      }
      """#,
      [
        #"2:40: unknown key "isuer" in profiles.sso; did you mean "issuer"?"#,
        #"2:84: profiles.sso.clientId: must be a string, not a list; write "cli""#,
        #"3:13: logLevel: must be one of "error", "warning", "info", "debug", not "debgu"; did you mean "debug"?"#,
      ]
    ),
  ]
}
