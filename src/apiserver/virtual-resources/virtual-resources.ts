// Kinds that are not stored: legacy bindings, component statuses, and the metrics API.
import { binding } from '../../api/core/v1/binding.ts'
import { componentStatus, type ComponentStatus } from '../../api/core/v1/component-status.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { nodeMetrics } from '../../api/metrics/v1beta1/node-metrics.ts'
import { podMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts'
import { badRequest, notFound } from '../../api/errors/status-error.ts'
import { errorText } from '../../base/observability/log.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import type { Store } from '../../store/store.ts'
import type { VirtualResource } from '../registry/subresources/subresource-handler.ts'
import { handleSubresourceAction } from '../registry/subresources/subresources.ts'
import type { ApiResponse } from '../request/response.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { usageResponse } from './usage-response.ts'
import type { UsageReader } from './usage-reader.ts'
import type { ResourceRequest } from '../request/request.ts'

export interface VirtualResourceDeps {
  readonly store: Store
  readonly usage: UsageReader
}

export const virtualResources = ({ store, usage }: VirtualResourceDeps): readonly VirtualResource[] => [
  {
    kind: binding,
    handle: (request, { resource }) => handleSubresourceAction(resource(pod), asPodBinding(request), binding),
  },
  { kind: componentStatus, handle: (request) => componentStatuses(store, request) },
  ...[nodeMetrics, podMetrics].map((kind): VirtualResource => ({
    kind,
    handle: (request, { lister }) => usageResponse(request, lister, usage, store.revision),
  })),
]

/** A binding that is posted to the collection `bindings` is that of the pod which it names. */
function asPodBinding(request: ResourceRequest): ResourceRequest {
  const body = request.body.kind === 'value' ? request.body.value : undefined
  const metadata = isJsonObject(body) ? body['metadata'] : undefined
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  if (typeof name !== 'string' || name === '') throw badRequest('name is required')
  return { ...request, target: { ...request.target, resource: pod, subresource: 'binding', name } }
}

/** Only the store is checked: the server does not call the other components. */
async function componentStatuses(store: Store, { target, context }: ResourceRequest): Promise<ApiResponse> {
  const items = [await storeStatus(store, context.signal)]
  const warnings = componentStatus.warnings?.(items[0] as ComponentStatus) ?? []
  if (target.verb === 'get') {
    const found = items.find(({ metadata }) => metadata.name === target.name)
    if (found === undefined) throw notFound(componentStatus, target.name)
    return { kind: 'object', status: 200, object: found, objectKind: componentStatus, warnings }
  }
  return {
    kind: 'list',
    objectKind: componentStatus,
    items: items.map((item) => StoredObject.ofObject(item, 0)),
    revision: store.revision,
    continueToken: '',
    remaining: undefined,
    warnings,
  }
}

async function storeStatus(store: Store, signal: AbortSignal): Promise<ComponentStatus> {
  const status = (condition: object) =>
    ({
      kind: componentStatus.kind,
      apiVersion: componentStatus.apiVersion,
      metadata: { name: 'etcd-0' },
      conditions: [{ type: 'Healthy', ...condition }],
    }) as unknown as ComponentStatus
  try {
    await store.freshRevision(signal)
    return status({ status: 'True', message: 'ok' })
  } catch (error) {
    return status({ status: 'False', error: errorText(error) })
  }
}
