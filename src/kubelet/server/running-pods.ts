// /runningpods: the pods that have running containers in the runtime, also those that the API server does not know any more.
import type { WireResponse } from '../../platform/http/listener.ts'
import type { RuntimePod } from '../../machine/runtime/container-runtime.ts'
import type { KubeletHost } from './kubelet-host.ts'

export async function runningPods({ runtime }: KubeletHost, signal: AbortSignal): Promise<WireResponse> {
  const items: object[] = []
  for (const uid of await runtime.podUids(signal)) {
    const found = await runtime.inspect(uid, signal)
    if (found !== undefined && found.containers.some(isRunning)) items.push(shown(found))
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }),
  }
}

const isRunning = ({ state }: RuntimePod['containers'][number]): boolean => state === 'running'

/** The runtime does not know more of a pod. */
const shown = ({ podUid, namespace, name, containers }: RuntimePod): object => ({
  metadata: { name, namespace, uid: podUid },
  spec: {
    containers: containers
      .filter(isRunning)
      .map(({ name: container, image }) => ({ name: container, image, resources: {} })),
  },
  status: {},
})
