import BrokerProtocol
import JSON

extension KubectlHelper {
  /// kubectl: which user of which kubeconfig, only its owner knows.
  static let setup: ToolSetup? = ToolSetup(
    name: "kubectl", summary: "a token for each cluster, by an exec plugin of the kubeconfig",
    concerns: { $0.isWeb },
    steps: { _, setup in
      [
        NoteStep(
          text: """
            in the kubeconfig, for the user of the cluster (--id behind kubectl for clusters that want an ID token):
              users:
              - name: authbroker
                user:
                  exec:
                    apiVersion: \(ExecCredential.versions[0])
                    command: \(setup.program)
                    args: [helper, kubectl]
                    interactiveMode: Never
                    provideClusterInfo: true
            """)
      ]
    },
    probe: { target, setup in
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("apiVersion", ExecCredential.versions[0])
        writer.member("kind", "ExecCredential")
        writer.key("spec")
        writer.object { writer in
          writer.member("interactive", false)
          writer.key("cluster")
          writer.object { $0.member("server", target.url) }
        }
      }
      let question = String(decoding: writer.bytes, as: UTF8.self)
      return .run(
        program: setup.program, arguments: ["helper", "kubectl"], environment: [ExecCredential.variable: question])
    },
    unboundHelpers: { UnboundHelper.ofKubectl($0) },
    requirement: "kubectl 1.22")
}
