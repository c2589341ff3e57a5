import JSON
import LinuxSystem
import TestSupport
import Testing

/// `lock`, `unlock`, `rekey` and `doctor` on a real vault.
@Suite(.standardTimeLimit) struct LockTests {
  private static func register(_ sandbox: Sandbox, _ options: [String] = []) throws {
    let run = try sandbox.run(
      BuiltPrograms.command,
      ["--state", sandbox.state] + options + ["register", "--email", "ada@example.com", "--password-stdin"],
      input: "example password 1\n")
    #expect(run.code == 0, "\(run.errors)")
  }

  private static func vault(_ sandbox: Sandbox, _ options: [String] = []) throws -> JSONNode {
    let run = try sandbox.run(
      BuiltPrograms.command, ["--state", sandbox.state] + options + ["status", "--json"])
    return try JSONDocument(parsing: Array(run.output.utf8)).root.required("vault")
  }

  @Test func `a locked vault gives no token until it is opened again`() async throws {
    try await Sandbox.run { sandbox in
      try Self.register(sandbox)
      #expect(try sandbox.command("lock").code == 0)
      for words in ["token", "header"] {
        let run = try sandbox.command(words)
        #expect(run.code == 7 && run.output.isEmpty)
        #expect(run.errors.hasSuffix("; unlock it with: authbroker --state \(sandbox.state) unlock\n"), "\(run.errors)")
      }
      #expect(try sandbox.command("status", "--profile", "default").code == 7)
      #expect(try sandbox.command("doctor").code == 7)
      let unlock = try sandbox.command("unlock")
      #expect(unlock.code == 0, "\(unlock.errors)")
      let token = try sandbox.command("token")
      #expect(token.code == 0, "\(token.errors)")
      #expect(try sandbox.command("doctor").code == 0)
    }
  }

  @Test func `a vault with a passphrase waits for it at first, and at every start`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ vault: { keySource: "passphrase" } }"#)
      func command(_ words: String..., input: String = "") throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words, input: input)
      }
      let early = try command("login", "--email", "ada@example.com", "--password-stdin", input: "example password 1\n")
      #expect(early.code == 7 && early.errors.contains("unlock"), "\(early.code) \(early.errors)")
      #expect(try Self.vault(sandbox, options).required("initialized").bool() == false)
      let fresh = try command("doctor")
      #expect(fresh.code == 7 && fresh.output.contains("it is new"), "\(fresh.output)")
      let unlock = try command("unlock", "--password-stdin", input: "first passphrase\n")
      #expect(unlock.code == 0, "\(unlock.errors)")
      try Self.register(sandbox, options)
      #expect(try command("token").code == 0)
      #expect(try command("stop").code == 0)
      #expect(try command("token").code == 7)
      #expect(try Self.vault(sandbox, options).required("locked").bool())
      let wrong = try command("unlock", "--password-stdin", input: "another passphrase\n")
      #expect(wrong.code == 4, "\(wrong.errors)")
      let right = try command("unlock", "--password-stdin", input: "first passphrase\n")
      #expect(right.code == 0, "\(right.errors)")
      #expect(try command("token").code == 0)
      #expect(try command("doctor").code == 0)
      #expect(!Directory.names(in: sandbox.state).contains("vault.key"))
      let marks = [SecretMark("right", "first passphrase"), SecretMark("wrong", "another passphrase")]
      for path in Directory.files(below: sandbox.root) {
        let bytes = try Directory.bytes(of: path)
        for mark in marks { #expect(!mark.isIn(bytes), "the passphrase that is \(mark.name) stands in \(path)") }
      }
    }
  }

  @Test func `a vault that no client uses is locked, until its passphrase is given`() async throws {
    try await Sandbox.run { sandbox in
      func configure(_ seconds: String) throws -> [String] {
        try sandbox.configure(#"{ vault: { keySource: "passphrase", lockAfterIdleSeconds: \#(seconds) } }"#)
      }
      let options = try configure("0")
      func command(_ words: String..., input: String = "") throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words, input: input)
      }
      _ = try sandbox.owner(options)
      #expect(try command("unlock", "--password-stdin", input: "a long passphrase\n").code == 0)
      try Self.register(sandbox, options)
      let token = try command("token").output
      let watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe", #"{"events":["vaultLocked"]}"#)
      _ = try configure("0.05")
      #expect(try command("reload").code == 0)
      let event = try watcher.nextNode().required("params").required("event").string()
      #expect(event == "vaultLocked")
      #expect(try command("token").code == 7)
      #expect(try Self.vault(sandbox, options).required("locked").bool())
      _ = try configure("0")
      #expect(try command("reload").code == 0)
      #expect(try command("unlock", "--password-stdin", input: "a long passphrase\n").code == 0)
      #expect(try command("token").output == token)
    }
  }

  @Test func `a vault goes from its file to a passphrase and back, and its session with it`() async throws {
    try await Sandbox.run { sandbox in
      try Self.register(sandbox)
      let there = try sandbox.command(
        "rekey", "--source", "passphrase", "--password-stdin", input: "a long passphrase\n")
      #expect(there.code == 0 && there.errors.contains("key source: passphrase (was file)"), "\(there.errors)")
      #expect(try sandbox.command("token").code == 0)
      #expect(try sandbox.command("stop").code == 0)
      #expect(try sandbox.command("token").code == 7)
      #expect(try sandbox.command("unlock", "--password-stdin", input: "a long passphrase\n").code == 0)
      #expect(try sandbox.command("token").code == 0)
      let doctor = try sandbox.command("doctor")
      #expect(doctor.code == 0 && doctor.output.contains("warning  key source"), "\(doctor.output)")
      let wrong = try sandbox.command("rekey", "--source", "file", "--password-stdin", input: "a wrong passphrase\n")
      #expect(wrong.code == 4, "\(wrong.errors)")
      let back = try sandbox.command("rekey", "--source", "file", "--password-stdin", input: "a long passphrase\n")
      #expect(back.code == 0 && back.errors.contains("key source: file (was passphrase)"), "\(back.errors)")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try sandbox.command("token").code == 0)
      #expect(try sandbox.command("doctor").code == 0)
    }
  }

  @Test func `the doctor names a key that is gone, and whoever may read what is private`() async throws {
    try await Sandbox.run { sandbox in
      try Self.register(sandbox)
      #expect(try sandbox.command("stop").code == 0)
      let key = sandbox.state + "/vault.key"
      try DirectoryEntry.rename(key, to: sandbox.root + "/kept.key")
      let gone = try sandbox.command("doctor")
      #expect(gone.code == 7 && gone.output.contains("error    broker"), "\(gone.output)")
      #expect(gone.output.contains("vault.key is missing"))
      try DirectoryEntry.rename(sandbox.root + "/kept.key", to: key)
      let well = try sandbox.command("doctor", "--json")
      #expect(well.code == 0, "\(well.output)")
      #expect(try JSONDocument(parsing: Array(well.output.utf8)).root.required("ok").bool())
      let found = try sandbox.run("/bin/chmod", ["640", sandbox.state + "/vault.sqlite"])
      #expect(found.code == 0)
      let open = try sandbox.command("doctor")
      #expect(open.code == 7 && open.output.contains("chmod 600 \(sandbox.state)/vault.sqlite"), "\(open.output)")
    }
  }

  @Test func `a key file of the configuration's own is found, and made anew while the broker still has the key`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let key = sandbox.root + "/keys/my.key"
      let options = try sandbox.configure("{ vault: { keyFile: '\(key)' } }")
      func command(_ words: String...) throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words)
      }
      try Self.register(sandbox, options)
      let well = try command("doctor")
      #expect(well.code == 0 && well.output.contains("\(key) (0600)"), "\(well.output)")
      // The owner's configuration counts, whatever this command line would read.
      #expect(try sandbox.command("doctor").output.contains("\(key) (0600)"))
      try DirectoryEntry.remove(key)
      let gone = try command("doctor")
      #expect(gone.code == 7 && gone.output.contains("\(key) is not there"), "\(gone.output)")
      #expect(try command("rekey").code == 0)
      #expect(try command("doctor").code == 0)
      #expect(try command("stop", "--json").output == "{}\n")
      #expect(try command("token").code == 0)
    }
  }

  @Test func `a source that is named while the broker runs waits for its next start, and nobody says otherwise`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{}")
      func command(_ words: String..., input: String = "") throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words, input: input)
      }
      try Self.register(sandbox, options)
      _ = try sandbox.configure(#"{ vault: { keySource: "passphrase" } }"#)
      #expect(try command("call", "reloadConfig").code == 0)
      let doctor = try command("doctor")
      #expect(doctor.code == 0 && doctor.output.contains("warning  key source"), "\(doctor.output)")
      let early = try command("rekey", "--password-stdin", input: "a long passphrase\n")
      #expect(early.code == 1 && early.errors.hasSuffix(" stop\n"), "\(early.errors)")
      #expect(try command("stop").code == 0)
      let late = try command("rekey", "--password-stdin", input: "a long passphrase\n")
      #expect(late.code == 0 && late.errors.contains("key source: passphrase (was file)"), "\(late.errors)")
      #expect(try !command("doctor").output.contains("warning  key source"))
    }
  }

  @Test func `after another source was chosen, nobody advises what would undo it`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ vault: { keySource: "passphrase" } }"#)
      func command(_ words: String..., input: String = "") throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words, input: input)
      }
      #expect(try command("unlock", "--password-stdin", input: "a long passphrase\n").code == 0)
      let there = try command("rekey", "--source", "file", "--password-stdin", input: "a long passphrase\n")
      #expect(there.code == 0, "\(there.errors)")
      let advice = try command("doctor").output
      let choice = #"to keep that of the vault, set vault.keySource to "file" in the configuration; to change it, "#
      #expect(advice.contains(choice + "rekey the vault\n"), "\(advice)")
      _ = try sandbox.configure(#"{ vault: { keySource: "file" } }"#)
      let settled = try command("doctor")
      #expect(settled.code == 0 && !settled.output.contains("rekey"), "\(settled.output)")
      // New keys, and the source stays.
      #expect(try command("rekey").code == 0)
      #expect(try SocketWire(sandbox.socket).call("getStatus")["vault"]?["keySource"]?.string() == "file")
    }
  }

  @Test func `programs get the reason of a refused start, and a configuration's verdict, as JSON`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ vault: { keySource: "credential" } }"#)
      func command(_ words: String...) throws -> (code: Int32?, root: JSONNode) {
        let run = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words + ["--json"])
        return (run.code, try JSONDocument(parsing: Array(run.output.utf8)).root)
      }
      let refused = try command("token")
      #expect(refused.code == 7)
      let error = try refused.root.required("error")
      #expect(try error.required("data").required("kind").string() == "keySourceUnavailable")
      #expect(try error.required("message").string().contains("LoadCredential="))
      let verdict = try command("config", "check")
      #expect(verdict.code == 0)
      #expect(try verdict.root.required("ok").bool())
      #expect(try verdict.root.required("keySource").string() == "credential")
      _ = try sandbox.configure("{ vault: { keySource: 1 } }")
      let wrong = try command("config", "check")
      #expect(wrong.code == 1)
      #expect(try !wrong.root.required("ok").bool())
      #expect(try wrong.root.required("message").string().contains("vault.keySource"))
    }
  }
}
