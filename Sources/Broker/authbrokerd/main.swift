import LinuxSystem
import StateDirectory

// Everything that must come before the first thread: limits, signals, masks. `main` stays synchronous: an `async` one
// would start the global pool before anybody needs it.
let environment = Environment.current
let commandLine = CommandLineWords.all
guard !commandLine.isEmpty else {
  // Without them it would serve another directory.
  StandardError.write("authbrokerd: the arguments cannot be read; start it with /proc mounted, or without LD_PRELOAD\n")
  ProcessImage.end(1)
}
let words = commandLine.dropFirst().map { String(decoding: $0, as: UTF8.self) }
do throws(Errno) {
  try ProcessHardening.fillStandardDescriptors()
  try ProcessHardening.forbidInspection()
  try ProcessHardening.ignoreWriteSignals()
} catch {
  StandardError.write("authbroker: this process cannot be protected from inspection: \(error)\n")
  ProcessImage.end(1)
}

let arguments: DaemonArguments
do throws(DaemonArguments.Misuse) {
  arguments = try DaemonArguments(words)
} catch {
  StandardError.write("authbrokerd: \(error.message)\n\(DaemonArguments.usage)")
  ProcessImage.end(2)
}
if let group = arguments.trustedGroup { Environment.set(WriteTrust.variable, to: group) }
switch arguments.mode {
case .version: StandardOutput.write("authbrokerd \(ProgramVersion.current)\n")
case .help: StandardOutput.write(DaemonArguments.usage)
case .checkConfiguration: ProcessImage.end(ConfigurationCheck.run(arguments, environment))
case .outlineConfiguration: ProcessImage.end(ConfigurationOutline.run(arguments, environment))
case .listProviders: StandardOutput.write(ProviderListing.text)
case .describeResource(let url): ResourceListing.run(url, arguments, environment)
case .describeClient(let url): ProcessImage.end(ResourceListing.describeClient(at: url))
case .fleet(let kind): FleetTask.run(kind, arguments, environment)
case .owner, .privateOwner: OwnerProcess.run(arguments, environment)
}
