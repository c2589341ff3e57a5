// It names all methods, which Embedded Swift cannot list: see ``Methods``.
#if !hasFeature(Embedded)
import JSON

extension Initialize {
  public static var document: MethodDocument {
    MethodDocument(
      "Exchanges names, versions and capabilities; optional, any method may come first.",
      result: "broker",
      errors: [.versionUnsupported],
      examples: [
        .init(
          "an editor introduces itself",
          ["client": #"{"name": "editor", "version": "1.2"}"#, "protocolVersion": #""1""#],
          result:
            """
            {
              "protocolVersion": "1",
              "server": {"name": "authbrokerd", "version": "0.1.0"},
              "capabilities": {
                "methods": \(list(Methods.all.map { $0.name })),
                "events": \(list(EventName.allCases.map { $0.rawValue })),
                "framings": ["lines", "headers"],
                "providers": [{"type": "local", "methods": ["getCurrentUser", "register", "resendOtp"]}]
              },
              "profiles": [
                {"profile": "default", "provider": "local", "login": \(SampleJSON.passwordLogin)}
              ],
              "sessions": [\(SampleJSON.signedOut)],
              "sequence": 0
            }
            """)
      ])
  }

  private static func list(_ names: [String]) -> String {
    var writer = JSONWriter()
    names.encode(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
#endif
