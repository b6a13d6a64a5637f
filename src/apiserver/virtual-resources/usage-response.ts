// The metrics API, metrics.k8s.io: the usage of nodes and pods, for `kubectl top` and autoscalers.
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { nodeMetrics, type NodeMetrics } from '../../api/metrics/v1beta1/node-metrics.ts'
import { podMetrics, type PodMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { notFound } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { Usage, UsageReader } from './usage-reader.ts'
import type { ResourceRequest } from '../request/request.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'
import { Selection } from '../watch-cache/selection.ts'

/** The averaging window of kubelets. */
const windowText = '10s'

export async function usageResponse(
  request: ResourceRequest,
  lister: ObjectLister,
  reader: UsageReader,
  revision: number,
): Promise<ApiResponse> {
  const { resource, verb, name } = request.target
  const items =
    resource === nodeMetrics ? await ofNodes(request, lister, reader) : await ofPods(request, lister, reader)
  const of: Kind = resource
  if (verb === 'list')
    return {
      kind: 'list',
      objectKind: of,
      items: items.map((item) => StoredObject.ofObject(item, 0)),
      revision,
      continueToken: '',
      remaining: undefined,
    }
  const [found] = items
  if (found === undefined) throw notFound(of, name)
  return { kind: 'object', status: 200, object: found, objectKind: of }
}

async function ofNodes(request: ResourceRequest, lister: ObjectLister, reader: UsageReader): Promise<NodeMetrics[]> {
  const nodes = selected(request, lister, node)
  const usages = await reader.read(
    nodes.map(({ metadata }) => metadata.name),
    request.context.signal,
  )
  return nodes.flatMap((one) => {
    const usage = usages.get(one.metadata.name)?.node
    return usage === undefined
      ? []
      : [asObject<NodeMetrics>(nodeMetrics, one, usage.time, { usage: quantities(usage) })]
  })
}

/** A pod is included once all of its containers are known, because a partial sum would be too low. */
async function ofPods(request: ResourceRequest, lister: ObjectLister, reader: UsageReader): Promise<PodMetrics[]> {
  const pods = selected(request, lister, pod).filter(({ status }) => status.phase === 'Running')
  const names = new Set(pods.map(({ spec }) => spec.nodeName ?? ''))
  const usages = await reader.read([...names], request.context.signal)
  return pods.flatMap((one) => {
    const own = usages.get(one.spec.nodeName ?? '')?.pods.get(one.metadata.uid)
    if (own === undefined || !one.spec.containers.every(({ name }) => own.has(name))) return []
    const containers = [...own].map(([name, usage]) => ({ name, usage: quantities(usage) }))
    const [first] = own.values()
    return [asObject<PodMetrics>(podMetrics, one, first?.time ?? '', { containers })]
  })
}

function selected<T extends Node | Pod>({ target, query }: ResourceRequest, lister: ObjectLister, kind: Kind<T>): T[] {
  if (target.verb === 'get') {
    const found = lister.get(kind, target.namespace, target.name)
    return found === undefined ? [] : [found]
  }
  const { resource, namespace } = target
  const texts = [query.get('labelSelector') ?? '', query.get('fieldSelector') ?? ''] as const
  const selection = new Selection(resource, namespace, ...texts)
  return lister.list(kind, namespace).filter((object) => selection.matches(object))
}

const quantities = ({ cpuNanoCores, memoryBytes }: Usage) => ({
  cpu: cpuNanoCores === 0 ? '0' : `${cpuNanoCores}n`,
  memory: memoryBytes === 0 ? '0' : `${Math.ceil(memoryBytes / 1024)}Ki`,
})

function asObject<T>(kind: Kind, { metadata }: ApiObject, timestamp: string, more: object): T {
  const { name, namespace, labels } = metadata
  return {
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: timestamp,
      ...(labels === undefined ? {} : { labels }),
    },
    timestamp,
    window: windowText,
    ...more,
  } as unknown as T
}
