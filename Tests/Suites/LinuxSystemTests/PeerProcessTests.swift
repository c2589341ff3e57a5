import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The systemd unit and the label of a process, as the kernel tells them.
@Suite(.standardTimeLimit) struct PeerProcessTests {
  /// Texts of `/proc/PID/cgroup` as machines have them, and the unit of each; nil for none.
  private static let recorded: [(place: String, text: String, unit: String?)] = [
    ("a system service of Debian 12", "0::/system.slice/backup.service\n", "backup.service"),
    ("an instance", "0::/system.slice/system-getty.slice/getty@tty1.service\n", "getty@tty1.service"),
    ("a group of its own below a service", "0::/system.slice/docker.service/supervisor\n", "docker.service"),
    ("a service with a slice of its own", "0::/acme.slice/acme-web.slice/web.service\n", "web.service"),
    ("a name with an escape", #"0::/system.slice/dev-disk\x2dby.service"#, #"dev-disk\x2dby.service"#),
    ("a name that systemd guards", "0::/system.slice/_cpu.service\n", "cpu.service"),
    (
      "a user's service", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/backup.service\n",
      "user/backup.service"
    ),
    (
      "an application of GNOME",
      #"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1f.scope"#,
      "user/vte-spawn-1f.scope"
    ),
    (
      "a service that a user has nested below one of its own",
      "0::/user.slice/user-1000.slice/user@1000.service/a.slice/system.slice/backup.service\n", "user/backup.service"
    ),
    ("the manager of a user", "0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", "user/init.scope"),
    ("the group of that manager", "0::/user.slice/user-1000.slice/user@1000.service\n", nil),
    (
      "a group beside units of that manager",
      "0::/user.slice/user-1000.slice/user@1000.service/mine/system.slice/backup.service\n", nil
    ),
    ("a login", "0::/user.slice/user-1000.slice/session-2.scope\n", "session-2.scope"),
    (
      "snap, an application",
      "0::/user.slice/user-1000.slice/user@1000.service/app.slice/snap.firefox.firefox-7c0a.scope\n",
      "user/snap.firefox.firefox-7c0a.scope"
    ),
    ("snap, a service", "0::/system.slice/snap.lxd.daemon.service\n", "snap.lxd.daemon.service"),
    ("docker with systemd", "0::/system.slice/docker-8a5f.scope\n", "docker-8a5f.scope"),
    ("docker with systemd inside", "0::/system.slice/docker-8a5f.scope/system.slice/a.service\n", "docker-8a5f.scope"),
    ("docker without", "0::/docker/8a5f/system.slice/backup.service\n", nil),
    ("podman of root", "0::/machine.slice/libpod-8a5f.scope/container\n", "libpod-8a5f.scope"),
    (
      "podman of a user",
      "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-8a5f.scope/container\n",
      "user/libpod-8a5f.scope"
    ),
    (
      "k8s with systemd",
      "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1f.slice/cri-containerd-8a.scope\n",
      "cri-containerd-8a.scope"
    ),
    ("k8s without", "0::/kubepods/besteffort/pod1f/8a5f\n", nil),
    ("inside of a container", "0::/\n", nil), ("outside of a container", "0::/../../backup.service\n", nil),
    (
      "version 1",
      "3:cpu,cpuacct:/a.slice/b.service\n2:devices:/c.service\n1:name=systemd:/system.slice/cron.service\n",
      "cron.service"
    ),
    (
      "both versions", "12:pids:/x\n1:name=systemd:/system.slice/cron.service\n0::/system.slice/cron.service\n",
      "cron.service"
    ),
    ("both, the second unused", "1:name=systemd:/system.slice/cron.service\n0::/\n", "cron.service"),
    ("both, not of one mind", "1:name=systemd:/system.slice/cron.service\n0::/system.slice/a.service\n", nil),
    ("WSL", "13:rdma:/\n0::/init\n", nil), ("WSL with systemd", "0::/init.scope\n", "init.scope"),
    ("a group that was removed", "0::/system.slice/backup.service (deleted)\n", nil),
    ("another hierarchy", "4:name=elogind:/system.slice/backup.service\n", nil),
    ("nothing", "", nil), ("no line of it", "0:system.slice/backup.service\n::\n0::\nx\n", nil),
    ("a relative path", "0::system.slice/backup.service\n", nil),
    ("a suffix alone", "0::/system.slice/.service\n", nil),
    ("a name with a line end", "0::/system.slice/a\n.service\n", nil),
    ("an empty component", "0::/system.slice//backup.service\n", nil),
  ]

  @Test(arguments: recorded.indices) func `a unit is found in what the kernel says of the groups`(_ index: Int) {
    let (place, text, unit) = Self.recorded[index]
    #expect(ProcessUnit.name(in: text) == unit, "\(place)")
  }

  @Test func `a name that is too long is none`() {
    let name = String(repeating: "a", count: 247) + ".service"
    #expect(ProcessUnit.name(in: "0::/system.slice/\(name)\n") == name)
    #expect(ProcessUnit.name(in: "0::/system.slice/a\(name)\n") == nil)
  }

  @Test(
    arguments: [
      ("system_u:system_r:httpd_t:s0\0", "system_u:system_r:httpd_t:s0"),
      ("snap.editor.editor (enforce)\n", "snap.editor.editor"),
      ("unconfined", "unconfined"), ("/usr/bin/man (complain)", "/usr/bin/man"), ("a (b) c", "a (b) c"), ("", nil),
      ("\0", nil), ("a\u{1}b", nil),
    ] as [(String, String?)])
  func `a label is without its end and without its mode`(_ text: String, _ label: String?) {
    #expect(PeerProcess.label(in: Array(text.utf8)[...]) == label)
  }

  @Test func `the peer of a connection is this process, and one that is younger is not`() throws {
    let pair = try UnixSocket.pair()
    let own = ProcessUnit.read(of: getpid())
    var units = ProcessUnits()
    // The first is read, the second is known by its control group, where this machine's kernel and systemd allow that.
    for _ in 0..<2 {
      let (peer, handle) = PeerProcess.identify(at: pair.first, pid: getpid(), acceptedAt: BootClock.now, &units)
      #expect(peer.unit == own && handle?.exists != false)
    }
    #expect(PeerProcess.unitBySecondLook(of: getpid(), acceptedAt: BootClock.now) == own)
    #expect(PeerProcess.mayBeSame(getpid(), acceptedAt: BootClock.now))
    #expect(!PeerProcess.mayBeSame(getpid(), acceptedAt: .zero))
    #expect(PeerProcess.unitBySecondLook(of: getpid(), acceptedAt: .zero) == nil)
    let foreign = PeerProcess.identify(at: pair.first, pid: 0, acceptedAt: BootClock.now, &units)
    #expect(foreign.peer.unit == nil && foreign.handle == nil)
    #expect(ProcessIdentity.user(of: getpid()) == geteuid() && ProcessIdentity.user(of: 0) == nil)
  }
}
