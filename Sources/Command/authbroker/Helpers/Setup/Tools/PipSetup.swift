import BrokerProtocol
import TextCoding

extension KeyringHelper {
  /// pip and uv: a `keyring` early on the `PATH`, in a directory of its own, since other programs want the real one too.
  static let setup: ToolSetup? = ToolSetup(
    name: "pip", otherNames: ["uv", "keyring"],
    summary: "a password for each package index, by a keyring on the PATH (uv too)",
    concerns: { $0.isWeb },
    steps: { _, setup in
      [
        LinkStep(name: programNames[0], directory: setup.shimDirectory),
        NoteStep(
          text: """
            in your shell's profile (another keyring on the PATH is asked for what is not a configured target):
              export PATH=\(setup.shimDirectory.shellQuoted):"$PATH"
              export PIP_KEYRING_PROVIDER=subprocess UV_KEYRING_PROVIDER=subprocess
            and for uv a user name in the address of the index, or authenticate = "always"
            """),
      ]
    },
    probe: { target, _ in
      .run(program: programNames[0], arguments: ["--mode=creds", "--output=json", "get", target.url])
    },
    calls: [pip, uv])

  /// A project that no index has.
  private static let project = "authbroker-doctor-probe"

  /// The address of an index; older versions of both programs ask for a password only where there is a user.
  private static func index(_ place: ProbePlace) -> String {
    "http://\(PercentEncoding.encoded(place.username))@\(place.authority)/simple/"
  }

  private static var pip: ToolCall {
    ToolCall(program: "pip", requirement: "pip 23.1 or later", signOfAge: "no such option") { place in
      ToolInvocation(
        arguments: [
          "--isolated", "--no-input", "--disable-pip-version-check", "download", "--no-cache-dir", "--no-deps",
          "--retries", "0", "--keyring-provider", "subprocess", "--index-url", index(place),
          "--dest", "\(place.home)/found", project,
        ],
        environment: ["PIP_CONFIG_FILE": "/dev/null"])
    }
  }

  private static var uv: ToolCall {
    ToolCall(program: "uv", requirement: "uv 0.1.23 or later", signOfAge: "unexpected argument") { place in
      ToolInvocation(
        arguments: [
          "--no-config", "--no-cache", "pip", "install", "--dry-run", "--keyring-provider", "subprocess",
          "--target", "\(place.home)/found", "--index-url", index(place), project,
        ],
        environment: ["UV_PYTHON_DOWNLOADS": "never", "UV_HTTP_RETRIES": "0"])
    }
  }
}
