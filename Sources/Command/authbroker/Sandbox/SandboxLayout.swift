import BrokerProtocol
import LinuxSystem

/// The contents of a sandbox, as bubblewrap takes them: what is there, and nothing else.
struct SandboxLayout {
  /// The folder in the sandbox in which everything of the broker's is.
  static let folder = "/run/authbroker"
  /// The program that begins in the sandbox, by the name that says so.
  static let beginning = "\(folder)/\(SandboxBeginning.programName)"

  /// The links or folders of the root that lead to the programs and libraries of the system.
  private static let roots = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]
  /// The files of /etc that programs need, none of them a secret: no keys, no hosts, no passwords.
  private static let settings = [
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "os-release", "ssl/certs",
    "ssl/openssl.cnf", "pki/ca-trust", "pki/tls/certs", "pki/tls/openssl.cnf", "crypto-policies", "mime.types", "magic",
    "terminfo", "inputrc", "fonts", "protocols", "services", "shells",
  ]
  /// The variables that a program gets of its user's: where things are and how they are shown, no settings of programs.
  private static let kept = [
    "PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "USER", "LOGNAME", "SHELL",
  ]

  /// The arguments, in the order in which bubblewrap carries them out, up to the program.
  private(set) var arguments: [String]
  /// The doors: each port, and the socket in the sandbox that it leads to.
  let lanes: [PortLane]
  /// Files that are made in the sandbox, with their paths there.
  let files: [(path: String, text: String)]

  /// Lays out a sandbox.
  ///
  /// - Parameters:
  ///   - context: of the command.
  ///   - folders: what is shown of the user's.
  ///   - doors: the ways out.
  ///   - limited: the path of the limited socket.
  init(_ context: Context, _ folders: SandboxFolders, _ doors: SandboxDoors, _ limited: String) {
    lanes = doors.list.map { PortLane(port: $0.port, path: $0.place) }
    files = Self.accounts(home: folders.home)
    arguments = [
      "--unshare-all", "--new-session", "--die-with-parent", "--clearenv", "--cap-drop", "ALL", "--ro-bind", "/usr",
      "/usr",
    ]
    for name in Self.roots {
      if let target = SymbolicLink.target(of: "/" + name) {
        arguments += ["--symlink", target, "/" + name]
      } else {
        arguments += ["--ro-bind-try", "/" + name, "/" + name]
      }
    }
    for name in Self.settings { arguments += ["--ro-bind-try", "/etc/" + name, "/etc/" + name] }
    arguments += [
      "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", folders.home,
    ]
    for path in folders.readable { arguments += ["--ro-bind", path, path] }
    arguments += [folders.isWritable ? "--bind" : "--ro-bind", folders.working, folders.working]
    // The folder of the socket and not the socket: the broker binds it again where its path has gone.
    arguments += ["--ro-bind", PathName.directory(of: limited), Self.folder + "/socket"]
    for door in doors.list { arguments += ["--ro-bind", door.path, door.place] }
    if let program = ProcessIdentity.executable {
      for path in [Self.beginning, Self.folder + "/bin/authbroker"] { arguments += ["--ro-bind", program, path] }
    }
    for (name, value) in Self.variables(context, folders, doors, limited) { arguments += ["--setenv", name, value] }
    arguments += ["--chdir", folders.working]
  }

  /// The variables of the program.
  private static func variables(
    _ context: Context, _ folders: SandboxFolders, _ doors: SandboxDoors, _ limited: String
  ) -> [String: String] {
    let chosen = context.arguments.all("--keep")
    var variables = context.environment.all.filter { name, _ in
      kept.contains(name) || name.hasPrefix("LC_") || chosen.contains(name)
    }
    let path = variables["PATH"] ?? ""
    variables["PATH"] = (path.isEmpty ? "/usr/local/bin:/usr/bin:/bin" : path) + ":\(folder)/bin"
    variables["HOME"] = folders.home
    for (name, value) in doors.variables { variables[name] = value }
    variables["AUTHBROKER_SOCKET"] = "\(folder)/socket/\(PathName.name(of: limited))"
    return variables
  }

  /// The files that name the user alone.
  private static func accounts(home: String) -> [(path: String, text: String)] {
    let (user, group) = (ProcessIdentity.user, ProcessIdentity.group)
    let accounts = AccountFiles.read()
    let name = accounts?.name(ofUser: user) ?? "user"
    let others = user == 0 ? "" : "root:x:0:0:root:/:/usr/sbin/nologin\n"
    let groupName = accounts?.name(ofGroup: group) ?? "user"
    return [
      ("/etc/passwd", "\(name):x:\(user):\(group):\(name):\(home):/bin/sh\n\(others)"),
      ("/etc/group", "\(groupName):x:\(group):\nnogroup:x:65534:\n"),
    ]
  }
}
