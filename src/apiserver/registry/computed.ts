// Computed kinds: answered from what the server knows, never kept.
import { bindingKind } from '../../api/core/v1/binding.ts'
import { componentStatus, type ComponentStatus } from '../../api/core/v1/component-status.ts'
import { pod } from '../../api/core/v1/pod.ts'
import { nodeMetrics } from '../../api/metrics/v1beta1/node-metrics.ts'
import { podMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts'
import { badRequest, methodNotAllowed, notFound, pathNotFound } from '../../api/status-error.ts'
import { errorText } from '../../base/log.ts'
import { isJsonObject } from '../../schema/json-value.ts'
import type { Store } from '../../store/store.ts'
import type { Answer } from '../answer.ts'
import { Draft, Stored } from '../stored.ts'
import { usageAnswer } from '../usage/usage-answers.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import type { ResourceRequest } from './parts.ts'
import type { RegistryReads } from './strategy.ts'

type Handle = (request: ResourceRequest) => Promise<Answer>

export interface ComputedParts {
  readonly store: Store
  readonly reads: RegistryReads
  readonly usage: UsageReader
  /** Binds a pod, as asked for under an old name. */
  readonly bind: Handle
}

export function computedAnswers({ store, reads, usage, bind }: ComputedParts): Handle {
  return async (request) => {
    const { resource, verb, subresource } = request.target
    if (subresource !== '') throw pathNotFound()
    if (!resource.computed?.includes(verb)) throw methodNotAllowed()
    if (resource === bindingKind) return bind(asPodBinding(request))
    if (resource === componentStatus) return answerComponents(store, request)
    if (resource === nodeMetrics || resource === podMetrics) return usageAnswer(request, reads, usage, store.revision)
    throw pathNotFound()
  }
}

function asPodBinding(request: ResourceRequest): ResourceRequest {
  const body = request.body.kind === 'value' ? request.body.value : undefined
  const metadata = isJsonObject(body) ? body['metadata'] : undefined
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  if (typeof name !== 'string' || name === '') throw badRequest('name is required')
  return { ...request, target: { ...request.target, resource: pod, subresource: 'binding', name } }
}

/** Only the store is asked: the other components are reached through it, not by the server. */
async function answerComponents(store: Store, { target, context }: ResourceRequest): Promise<Answer> {
  const items = [await storeStatus(store, context.signal)]
  const warnings = componentStatus.warnings?.(items[0] as ComponentStatus) ?? []
  if (target.verb === 'get') {
    const found = items.find(({ metadata }) => metadata.name === target.name)
    if (found === undefined) throw notFound(componentStatus, target.name)
    return { kind: 'object', status: 200, object: found, of: componentStatus, warnings }
  }
  return {
    kind: 'list',
    of: componentStatus,
    items: items.map((item) => new Stored(new Draft(item), 0)),
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
