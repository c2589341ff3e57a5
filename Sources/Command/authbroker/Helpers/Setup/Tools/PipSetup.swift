import BrokerProtocol

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
    requirement: "pip 23.1 or uv 0.1.23")
}
