// Kubelets of this process. The API server calls them without sockets; others can use a port, if there is one.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { kubeletClient, type DirectKubelets } from '../../apiserver/kubelet-client/direct-kubelets.ts'
import type { Client } from '../../client/client.ts'
import { cachedAuth, delegatedAuth, trustingApiServer } from '../../kubelet/server/delegated-auth.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { kubeletServer, type KubeletServerOptions } from '../node/kubelet-node.ts'
import type { KubeletServerHolder } from '../node/kubelet-port.ts'
import type { ComponentContext } from './component-context.ts'

export interface KubeletsContext extends ComponentContext {
  readonly kubelets: DirectKubelets
}

/** How long reviews are cached, as in upstream. */
const reviewMs = { tokenMs: 120_000, allowedMs: 300_000, deniedMs: 30_000 }

export function serveKubelet(
  cluster: KubeletsContext,
  served: Omit<KubeletServerOptions, 'access' | 'pod' | 'clock' | 'log' | 'flow'>,
  client: Client,
  tasks: TaskGroup,
  port?: KubeletServerHolder,
): void {
  const { options, flow, kubelets } = cluster
  const { clock, log } = options
  const { nodeName } = served
  const auth = delegatedAuth({ client, nodeName })
  const pod = (namespace: string, name: string) => podOn(cluster, nodeName, namespace, name)
  const shared = { ...served, clock, log, flow, pod }
  const server = kubeletServer({ ...shared, access: trustingApiServer(kubeletClient.commonName, auth) })
  kubelets.add(nodeName, (request, cause) => server.handle(request, cause), tasks.signal)
  if (port === undefined) return
  const digest = (text: string) => nodeCrypto.sha256(text).toHex()
  port.server = kubeletServer({ ...shared, access: cachedAuth(auth, { clock, digest, ...reviewMs }) })
  tasks.signal.addEventListener('abort', () => (port.server = undefined), { once: true })
}

function podOn({ server }: ComponentContext, nodeName: string, namespace: string, name: string): Pod | undefined {
  const found = server?.registry.cached(podKind, namespace, name)
  return found?.spec.nodeName === nodeName ? found : undefined
}
