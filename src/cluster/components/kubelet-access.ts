// Kubelets of this process, which the API server calls without sockets.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { kubeletClient, type DirectKubelets } from '../../apiserver/kubelet-client/direct-kubelets.ts'
import type { Client } from '../../client/client.ts'
import { delegatedAuth, trustingApiServer } from '../../kubelet/server/delegated-auth.ts'
import { kubeletServer, type KubeletServerOptions } from '../node/kubelet-node.ts'
import type { ComponentContext } from './component-context.ts'

export interface KubeletsContext extends ComponentContext {
  readonly kubelets: DirectKubelets
}

export function serveKubelet(
  cluster: KubeletsContext,
  served: Omit<KubeletServerOptions, 'access' | 'pod' | 'clock' | 'log' | 'flow'>,
  client: Client,
  tasks: TaskGroup,
): void {
  const { options, flow, kubelets } = cluster
  const { clock, log } = options
  const { nodeName } = served
  const server = kubeletServer({
    ...{ ...served, clock, log, flow },
    access: trustingApiServer(kubeletClient.commonName, delegatedAuth({ client, nodeName })),
    pod: (namespace, name) => podOn(cluster, nodeName, namespace, name),
  })
  kubelets.add(nodeName, (request, cause) => server.handle(request, cause), tasks.signal)
}

function podOn({ server }: ComponentContext, nodeName: string, namespace: string, name: string): Pod | undefined {
  const found = server?.registry.cached(pod, namespace, name)
  return found?.spec.nodeName === nodeName ? found : undefined
}
