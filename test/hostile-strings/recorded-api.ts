// An API server that has these objects, whether they are valid or not, and records the requests of its clients. Writes
// change nothing.
import { kinds } from '../../src/api/kinds.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import { Client } from '../../src/client/client.ts'
import { HttpsTransport } from '../../src/client/transport/https-transport.ts'
import { parseFieldSelector } from '../../src/api/selectors/field-selector-text.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../src/platform/http/outbound.ts'

export type KindObjects = readonly { readonly kind: Kind; readonly object: object }[]

export interface RecordedApi {
  readonly client: Client
  /** The method and target of each request. */
  readonly targets: ReadonlySet<string>
  /** Requests that name no resource, or select by several fields. */
  readonly unknown: readonly string[]
}

export function recordedApi(objects: KindObjects, moreKinds: readonly Kind[] = []): RecordedApi {
  const targets = new Set<string>()
  const unknown: string[] = []
  const kindAt = new Map([...kinds, ...moreKinds].map((kind) => [`${rootOf(kind)}/${kind.plural}`, kind]))
  const outbound: Outbound = {
    send(request, signal) {
      targets.add(`${request.method} ${request.target}`)
      const parsed = parseTarget(request.target, kindAt)
      if (parsed === undefined || !hasOneTerm(parsed.query.get('fieldSelector'))) {
        unknown.push(request.target)
        return Promise.resolve(jsonResponse(404, notFound))
      }
      return Promise.resolve(responseTo(request, parsed, objects, signal))
    },
    close: () => Promise.resolve(),
  }
  return { client: new Client(new HttpsTransport(outbound, 'test')), targets, unknown }
}

/** Components select by one field. */
function hasOneTerm(selector: string | null): boolean {
  try {
    return selector === null || parseFieldSelector(selector).length === 1
  } catch {
    return false
  }
}

const rootOf = ({ group, version }: Kind): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`)

interface ParsedTarget {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly query: URLSearchParams
}

function parseTarget(target: string, kindAt: ReadonlyMap<string, Kind>): ParsedTarget | undefined {
  const [path = '', query = ''] = target.split('?')
  const segments = path.split('/').map((segment) => decodeURIComponent(segment))
  const rootLength = segments[1] === 'api' ? 3 : 4
  const root = segments.slice(0, rootLength).join('/')
  const rest = segments.slice(rootLength)
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2
  const [plural = '', name = '', subresource = '', ...others] = isNamespaced ? rest.slice(2) : rest
  const kind = kindAt.get(`${root}/${plural}`)
  if (kind === undefined || others.length > 0) return undefined
  return { kind, namespace: isNamespaced ? (rest[1] ?? '') : '', name, subresource, query: new URLSearchParams(query) }
}

const notFound = { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, message: 'not found' }

function responseTo(
  { method, body }: OutboundRequest,
  { kind, namespace, name, subresource, query }: ParsedTarget,
  objects: KindObjects,
  signal: AbortSignal,
): OutboundResponse {
  const ofKind = objects.flatMap((each) => (each.kind.plural === kind.plural ? [each.object as ApiObject] : []))
  if (query.get('watch') === 'true') return { status: 200, headers: {}, body: silent(signal) }
  const found = ofKind.find(
    ({ metadata }) => metadata.name === name && (!kind.namespaced || metadata.namespace === namespace),
  )
  if (method === 'GET' && name === '') {
    const items = ofKind.filter(
      (object) =>
        (namespace === '' || object.metadata.namespace === namespace) &&
        parseFieldSelector(query.get('fieldSelector') ?? '').every(
          ({ key, values }) => fieldOf(object, key) === values?.[0],
        ),
    )
    return jsonResponse(200, { kind: `${kind.kind}List`, metadata: { resourceVersion: '1' }, items })
  }
  if (subresource === 'token') return jsonResponse(201, token)
  if (method === 'POST') {
    const sent = JSON.parse(String(body)) as ApiObject
    return jsonResponse(201, { ...sent, metadata: { ...sent.metadata, uid: 'made', resourceVersion: '2' } })
  }
  return found === undefined ? jsonResponse(404, notFound) : jsonResponse(200, found)
}

const token = {
  kind: 'TokenRequest',
  metadata: {},
  status: { token: 't', expirationTimestamp: '2031-01-01T00:00:00Z' },
}

function fieldOf(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object)
}

function jsonResponse(status: number, value: object): OutboundResponse {
  const whole = new TextEncoder().encode(JSON.stringify(value))
  return {
    status,
    headers: {},
    whole,
    body: (async function* () {
      yield whole
    })(),
  }
}

/** A watch without events. */
async function* silent(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  yield* []
}
