// Ports on which nothing listens, according to the events of probes that were refused.
import { event, type Event } from '../../../api/core/v1/event.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'

export interface RefusedProbe {
  readonly pod: string
  readonly port: number
}

const refusedPattern = /dial tcp \S+?:(\d+): (?:connect: )?connection refused/

/** The refused probes of pods of one namespace, each port once. */
export async function refusedProbes(
  namespace: string,
  pods: readonly Pod[],
  cluster: ClusterReader,
): Promise<readonly RefusedProbe[]> {
  if (pods.length === 0) return []
  const names = new Map(pods.map(({ metadata }) => [metadata.uid, metadata.name]))
  const refused = new Map<string, RefusedProbe>()
  for (const each of await cluster.list(event, namespace)) {
    const pod = names.get(each.involvedObject.uid ?? '')
    const port = pod === undefined ? undefined : refusedPort(each)
    if (pod !== undefined && port !== undefined) refused.set(`${pod} ${port}`, { pod, port })
  }
  return [...refused.values()]
}

function refusedPort({ reason, message = '' }: Event): number | undefined {
  const found = reason === 'Unhealthy' ? refusedPattern.exec(message)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

export const refusedSentence = ({ pod, port }: RefusedProbe): string =>
  `Nothing listens on port ${port} of pod ${pod}: a probe was refused.`
