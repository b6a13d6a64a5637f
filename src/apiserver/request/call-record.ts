// What the flow record and the metrics say about a request.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { FlowObject } from '../../base/observability/flow-recorder.ts'
import type { RequestStage } from '../../base/observability/stage-passages.ts'
import { ownText } from '../../base/text/own-text.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { isForwardedKind, type Extension } from './extension.ts'
import type { ApiRequest, Body, ResourceTarget } from './request.ts'
import { anonymousUser } from './user-names.ts'

/** The revision that a watch resumes from; 0 for a new watch and for all other requests. */
export const resumedAt = ({ target, query }: ApiRequest): number =>
  target.kind === 'resource' && target.verb === 'watch' ? Number(query.get('resourceVersion')) || 0 : 0

const callNames = new WeakMap<Kind, Map<string, string>>()

/**
 * The name of the call in diagrams. Every event of the ring refers to one, so they are shared. The resources of an extension
 * are not known, and clients choose their names.
 */
export function callNameOf({ resource, verb, subresource }: ResourceTarget, extension?: Extension): string {
  if (extension !== undefined) return `${verb} ${extension.name}`
  const names = getOrInsert(callNames, resource, () => new Map<string, string>())
  const name = subresource === '' ? verb : `${verb}/${subresource}`
  return getOrInsert(names, name, () => `${verb} ${resource.plural}${subresource === '' ? '' : `/${subresource}`}`)
}

/**
 * The stage after which the object of a call is recorded; undefined where it is recorded from the start. Any client can
 * name objects, so the names of a rejected request without credentials are not stored.
 */
export function identifiedBy({ credentials, target, user }: ApiRequest): RequestStage | undefined {
  if (credentials.kind === 'asserted' || target.kind === 'path' || target.isUnserved) return undefined
  return user?.name === anonymousUser ? 'authorization' : 'authentication'
}

export const subjectOf = ({ resource, namespace, name }: ResourceTarget, body: Body): FlowObject => ({
  resource: resource.plural,
  namespace,
  name: name === '' ? nameInBody(body) : name,
})

const unnamed = new WeakMap<Kind, FlowObject>()

/** The subject of a call as long as its names are not recorded: the resource, if this server serves it. */
export const unnamedSubjectOf = ({ resource }: ResourceTarget): FlowObject | undefined =>
  isForwardedKind(resource)
    ? undefined
    : getOrInsert(unnamed, resource, () => ({ resource: resource.plural, namespace: '', name: '' }))

/** The subject of a request over the network, without references to its URL. */
export function presentedSubjectOf(target: ResourceTarget, body: Body): FlowObject {
  const { resource, namespace, name } = subjectOf(target, body)
  // The names of kinds that this server serves are shared.
  return {
    resource: isForwardedKind(target.resource) ? ownText(resource) : resource,
    namespace: ownText(namespace),
    name: ownText(name),
  }
}

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
