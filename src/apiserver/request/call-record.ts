// What the flow record and the metrics say about a request.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { FlowObject } from '../../base/observability/flow-recorder.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiRequest, Body, ResourceTarget } from './request.ts'

/** The revision that a watch resumes from; 0 for a new watch and for all other requests. */
export const resumedAt = ({ target, query }: ApiRequest): number =>
  target.kind === 'resource' && target.verb === 'watch' ? Number(query.get('resourceVersion')) || 0 : 0

const callNames = new WeakMap<Kind, Map<string, string>>()

/** The name of the call in diagrams. Every event of the ring refers to one, so they are shared. */
export function callNameOf({ resource, verb, subresource }: ResourceTarget): string {
  const names = getOrInsert(callNames, resource, () => new Map<string, string>())
  const name = subresource === '' ? verb : `${verb}/${subresource}`
  return getOrInsert(names, name, () => `${verb} ${resource.plural}${subresource === '' ? '' : `/${subresource}`}`)
}

export const subjectOf = ({ resource, namespace, name }: ResourceTarget, body: Body): FlowObject => ({
  resource: resource.plural,
  namespace,
  name: name === '' ? nameInBody(body) : name,
})

function nameInBody(body: Body): string {
  const metadata =
    body.kind === 'value'
      ? (body.value as { metadata?: { name?: unknown; generateName?: unknown } } | null)?.metadata
      : undefined
  return typeof metadata?.name === 'string'
    ? metadata.name
    : typeof metadata?.generateName === 'string'
      ? `${metadata.generateName}*`
      : ''
}

/** The body of an HTTP request has not been read at the start of the handler chain, so its media type decides. */
export const isApplyRequest = ({ body, credentials }: ApiRequest): boolean =>
  body.kind === 'value'
    ? body.patchType === 'apply'
    : credentials.kind === 'presented' &&
      (credentials.headers['content-type'] ?? '').startsWith('application/apply-patch')
