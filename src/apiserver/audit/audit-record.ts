// AuditRecord: the data of one request, from which the audit.k8s.io/v1 events of its stages are built.
import { lookup } from '../../base/collections/lookup.ts'
import { rfc3339Micro } from '../../base/time/clock.ts'
import { errorText } from '../../base/observability/log.ts'
import type { StatusError } from '../../api/errors/status-error.ts'
import { isJsonObject, without } from '../../schema/json/json-value.ts'
import type { ApiResponse } from '../request/response.ts'
import type { ApiRequest, Body, RequestRecord, ResourceTarget, User } from '../request/request.ts'
import type { AuditRule, AuditStage } from './audit-policy.ts'

export type AuditEvent = Readonly<Record<string, unknown>>

const annotationsMax = 128

export class AuditRecord implements RequestRecord {
  readonly rule: AuditRule
  readonly #id: string
  readonly #request: ApiRequest
  readonly #receivedMs: number
  readonly #annotations = new Map<string, string>()
  #body: Body
  #impersonated: User | undefined
  #constraint: string | undefined
  #status: object | undefined
  #response: unknown

  constructor(rule: AuditRule, request: ApiRequest, id: string, receivedMs: number) {
    this.rule = rule
    this.#request = request
    this.#body = request.body
    this.#id = id
    this.#receivedMs = receivedMs
  }

  annotate(key: string, value: string, holdsContent = false): void {
    if (holdsContent && this.rule.level === 'Metadata') return
    if (this.#annotations.size < annotationsMax && !this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  setBody(body: Body): void {
    this.#body = body
  }

  setImpersonated(user: User, constraint: string | undefined): void {
    this.#impersonated = user
    this.#constraint = constraint
  }

  setResponse(answer: ApiResponse): void {
    this.#status = { metadata: {}, code: codeOf(answer) }
    if (this.rule.level === 'RequestResponse') this.#response = objectIn(answer)
  }

  setError(error: StatusError): void {
    const { apiVersion: _, kind: __, ...status } = error.toStatus() as { apiVersion?: string; kind?: string }
    this.#status = { metadata: {}, ...status }
    if (this.rule.level === 'RequestResponse') this.#response = error.toStatus()
  }

  /** An unexpected error while the request was handled. */
  setPanic(error: unknown): void {
    const message = `APIServer panic'd: ${errorText(error)}`
    this.#status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }
  }

  /** The request was rejected with 401. */
  setUnauthenticated(message: string): void {
    this.#status = { metadata: {}, status: 'Failure', message, reason: 'Unauthorized', code: 401 }
  }

  event(stage: AuditStage, nowMs: number): AuditEvent {
    const { target, user, credentials, origin } = this.#request
    const body = this.#body
    const agent = credentials.kind === 'presented' ? credentials.headers['user-agent'] : this.#request.sender
    const hasBody = stage !== 'RequestReceived' && body.kind === 'value' && this.rule.level !== 'Metadata'
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.rule.level,
      auditID: this.#id,
      stage,
      requestURI: origin?.uri ?? uriOf(this.#request),
      verb: target.verb,
      user: user === undefined ? {} : userInfo(user),
      ...(this.#impersonated === undefined ? {} : { impersonatedUser: userInfo(this.#impersonated) }),
      ...(this.#constraint === undefined
        ? {}
        : { authenticationMetadata: { impersonationConstraint: this.#constraint } }),
      sourceIPs: sourcesOf(this.#request),
      ...(agent === undefined ? {} : { userAgent: agent }),
      ...(target.kind === 'resource' ? { objectRef: referenceOf(target, stage, body) } : {}),
      ...(this.#status === undefined ? {} : { responseStatus: this.#status }),
      ...(hasBody ? { requestObject: this.#shown(body.value) } : {}),
      ...(this.#response === undefined ? {} : { responseObject: this.#shown(this.#response) }),
      requestReceivedTimestamp: rfc3339Micro(this.#receivedMs),
      stageTimestamp: rfc3339Micro(nowMs),
      ...(this.#annotations.size === 0 ? {} : { annotations: Object.fromEntries(this.#annotations) }),
    }
  }

  #shown(object: unknown): unknown {
    return this.rule.omitsManagedFields ? withoutManagedFields(object) : object
  }
}

function withoutManagedFields(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { metadata, items } = value
  return {
    ...value,
    ...(isJsonObject(metadata) && 'managedFields' in metadata ? { metadata: without(metadata, 'managedFields') } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
  }
}

const userInfo = ({ name, uid, groups, extra }: User): object => ({
  username: name,
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups }),
  ...(Object.keys(extra).length === 0 ? {} : { extra }),
})

/** The addresses of the client, the farthest first: those from proxy headers before that of the socket. */
function sourcesOf({ credentials, origin }: ApiRequest): readonly string[] {
  const headers = credentials.kind === 'presented' ? credentials.headers : {}
  const forwarded = (headers['x-forwarded-for'] ?? '').split(',').map((part) => part.trim())
  const all = [...forwarded, headers['x-real-ip'] ?? '', origin?.remoteAddress ?? '127.0.0.1']
  const known = all.filter((address) => address !== '')
  return known.filter((address, index) => address !== known[index - 1])
}

/** The object of the request. Name, uid and resourceVersion come from the body once it has been read. */
function referenceOf(target: ResourceTarget, stage: AuditStage, body: Body): object {
  const { resource, subresource, namespace, name } = target
  const isObject = stage !== 'RequestReceived' && body.kind === 'value' && body.patchType === undefined
  const metadata = isObject && isJsonObject(body.value) ? body.value['metadata'] : undefined
  const fieldOfBody = (field: string): string => {
    const value = isJsonObject(metadata) ? lookup(metadata, field) : undefined
    return typeof value === 'string' ? value : ''
  }
  const all = {
    resource: resource.plural,
    namespace,
    name: name === '' ? fieldOfBody('name') : name,
    uid: fieldOfBody('uid'),
    apiGroup: resource.group,
    apiVersion: resource.version,
    resourceVersion: fieldOfBody('resourceVersion'),
    subresource,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

/** The URI of a call over the direct transport. */
function uriOf({ target, query }: ApiRequest): string {
  const suffix = query.size === 0 ? '' : `?${query}`
  if (target.kind === 'path') return target.path + suffix
  const { resource, namespace, name, subresource } = target
  const parts = [
    resource.group === '' ? 'api' : 'apis',
    resource.apiVersion,
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    resource.plural,
    name,
    subresource,
  ]
  return `/${parts.filter((part) => part !== '').join('/')}${suffix}`
}

const codeOf = (answer: ApiResponse): number =>
  'status' in answer ? answer.status : answer.kind === 'wire' ? answer.response.status : 200

function objectIn(answer: ApiResponse): unknown {
  if (answer.kind === 'object') return answer.object
  if (answer.kind !== 'list') return undefined
  const { objectKind: kind, items, revision } = answer
  return {
    kind: `${kind.kind}List`,
    apiVersion: kind.apiVersion,
    metadata: { resourceVersion: String(revision) },
    items: items.map(({ object }) => object),
  }
}
