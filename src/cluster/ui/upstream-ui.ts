// UpstreamUi: the page and the paths below /ui/api/ for a cluster whose API server has none, such as upstream's. Explanations, the
// overview and the search are computed here from what the user may read. There are no flow events, and the past cannot be listed.
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { kinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { badRequest, PageNotFound, StatusError } from '../../api/errors/status-error.ts'
import { objectSearch } from '../../apiserver/ui/object-search.ts'
import { assetResponse, pageHeaders, type UiFiles } from '../../apiserver/ui/ui-assets.ts'
import { onAbort } from '../../base/async/on-abort.ts'
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { clusterProblems } from '../../flows/why/cluster-problems.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { why } from '../../flows/why/why.ts'
import type { StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import { clusterOverview } from './cluster-overview.ts'
import { reachOf } from './ui-explanations.ts'

export interface UpstreamUiDeps {
  readonly client: Client
  readonly clock: Clock
  readonly files: () => Promise<UiFiles>
}

const apiRoot = '/ui/api/'
const searchCharsMax = 253
/** Kinds whose objects are searched. Each search lists them, so there are few. */
const searchedPlurals: ReadonlySet<string> = new Set([
  'configmaps',
  'cronjobs',
  'daemonsets',
  'deployments',
  'ingresses',
  'jobs',
  'namespaces',
  'nodes',
  'persistentvolumeclaims',
  'pods',
  'secrets',
  'services',
  'statefulsets',
])
/** What was listed is searched again for this long, while the user types. */
const listedMs = 10_000

interface Listed {
  readonly namespace: string
  readonly untilMs: number
  readonly objects: Promise<ReadonlyMap<Kind, readonly ApiObject[]>>
}

export class UpstreamUi {
  readonly #deps: UpstreamUiDeps
  readonly #stop = new AbortController()
  #listed: Listed | undefined

  constructor(deps: UpstreamUiDeps) {
    this.#deps = deps
  }

  close(): void {
    this.#stop.abort()
  }

  /** A file of the page. */
  async file(path: string, headers: StreamedRequest['headers']): Promise<WireResponse> {
    return assetResponse(path, headers, await this.#deps.files())
  }

  /** A path below /ui/api/, which is only read. */
  async handle({ method, target, signal }: StreamedRequest): Promise<WireResponse> {
    const url = new URL(target, 'http://localhost')
    if (method !== 'GET' || !url.pathname.startsWith(apiRoot)) throw new PageNotFound()
    const query = url.searchParams
    const namespace = query.get('namespace') ?? ''
    switch (url.pathname.slice(apiRoot.length)) {
      case 'stream':
        return jsonLines(this.#stream(signal))
      case 'events':
        return jsonLines([`${JSON.stringify({ kind: 'page', before: 0 })}\n`])
      case 'why':
        return json(await this.#why(query, signal))
      case 'overview':
        return json(await this.#timed(clusterOverview(this.#deps.client, namespace, this.#deps.clock, context(signal))))
      case 'problems':
        return json(await this.#timed(clusterProblems(this.#reader(signal), namespace, [])))
      case 'reach':
        return json(await this.#reach(query, signal))
      case 'search':
        return json(await this.#search(query.get('text')?.trim() ?? '', namespace, signal))
      default:
        throw new StatusError(404, 'NotFound', 'the API server of this cluster does not record what the page asks for')
    }
  }

  /** No event ever comes; the page would connect again if the stream ended. */
  async *#stream(signal: AbortSignal): AsyncGenerator<string> {
    yield `${JSON.stringify({ kind: 'ready', nowMs: this.#deps.clock.nowMs(), isRecorded: false })}\n`
    if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve))
  }

  #reader(signal: AbortSignal) {
    const { client, clock } = this.#deps
    return readerOf(client, context(signal), { nowMs: clock.nowMs(), isCoxswain: false })
  }

  async #timed(value: Promise<object>): Promise<object> {
    const { clock } = this.#deps
    const startMs = clock.monotonicMs()
    return { ...(await value), tookMs: Math.round(clock.monotonicMs() - startMs) }
  }

  async #why(query: URLSearchParams, signal: AbortSignal): Promise<object> {
    const [group, version, resource, namespace, name] = ['group', 'version', 'resource', 'namespace', 'name'].map(
      (each) => query.get(each) ?? '',
    ) as [string, string, string, string, string]
    const kind = kinds.find((each) => each.group === group && each.version === version && each.plural === resource)
    if (kind === undefined || name === '') throw badRequest('resource: is not a kind that is explained')
    const object = await this.#deps.client.of(kind).find(name, namespace, context(signal))
    if (object === undefined) throw new StatusError(404, 'NotFound', `${resource} "${name}" not found`)
    return why(kind, object, this.#reader(signal), [])
  }

  async #reach(query: URLSearchParams, signal: AbortSignal): Promise<object> {
    const [namespace, name, target] = ['namespace', 'name', 'target'].map((each) => query.get(each) ?? '') as [
      string,
      string,
      string,
    ]
    const reached = await reachOf(this.#deps.client, { namespace, name }, target, this.#reader(signal), signal)
    if (reached === undefined) throw new StatusError(404, 'NotFound', `pods "${name}" not found`)
    return reached
  }

  async #search(text: string, namespace: string, signal: AbortSignal): Promise<object> {
    if (text === '' || text.length > searchCharsMax)
      throw badRequest(`text: must have between 1 and ${searchCharsMax} characters`)
    const { clock } = this.#deps
    const known = this.#listed
    const isKnown = known !== undefined && known.namespace === namespace && known.untilMs > clock.monotonicMs()
    // It is not aborted with the request, because the next one uses it.
    const objects = isKnown ? known.objects : this.#list(namespace)
    if (!isKnown) this.#listed = { namespace, untilMs: clock.monotonicMs() + listedMs, objects }
    const found = await objects.catch((error: unknown) => {
      this.#listed = undefined
      throw error
    })
    const list = (kind: Kind): readonly ApiObject[] => found.get(kind) ?? []
    return objectSearch(
      { text, namespace },
      { kinds: [...found.keys()], list, mayList: async () => true, clock },
      signal,
    )
  }

  /** The user may not list some kinds, and the cluster may not have others. */
  async #list(namespace: string): Promise<ReadonlyMap<Kind, readonly ApiObject[]>> {
    const reader = this.#reader(this.#stop.signal)
    const searched = kinds.filter(({ plural, isCustom }) => searchedPlurals.has(plural) && isCustom !== true)
    const lists = await Promise.all(
      searched.map(async (kind) => {
        const objects = await reader.list(kind, kind.namespaced ? namespace : '')
        return [kind, namespace === '' ? objects : objects.filter((each) => namespaceOf(each) === namespace)] as const
      }),
    )
    return new Map(lists)
  }
}

const headersOf = (contentType: string) => ({
  ...pageHeaders,
  'content-type': contentType,
  'cache-control': 'no-store',
})

const json = (value: object): WireResponse => ({
  status: 200,
  headers: headersOf('application/json'),
  body: JSON.stringify(value),
})

const jsonLines = (body: AsyncIterable<string> | Iterable<string>): WireResponse => ({
  status: 200,
  headers: headersOf('application/json-lines'),
  body: toAsync(body),
})

async function* toAsync(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* lines
}
