// Calls about ConfigMaps to one API server, and what their responses say about them. `refused`: the request was not sent.
import { Pool } from 'undici'
import { accessOf, originOf } from '../access.ts'
import type { Input, ListedItem, Output, WatchedEvent } from './history.ts'

const connectionsMax = 64
/** Longer than etcd takes to elect a leader. */
const responseMsMax = 15_000
/** So that lists have several pages. */
const itemsPerPage = 2

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: { readonly version?: string }
}

interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly ConfigMap[]
}

export interface Page {
  readonly revision: number
  readonly items: readonly ListedItem[]
  readonly continue: string | undefined
}

export type WatchMessage = WatchedEvent | { readonly type: 'BOOKMARK'; readonly revision: number }

export interface Response {
  readonly status: number
  readonly body: unknown
}

const itemOf = ({ metadata, data }: ConfigMap): ListedItem => {
  return { key: metadata.name, version: data?.version ?? '', revision: Number(metadata.resourceVersion) }
}

export class ServerCalls implements AsyncDisposable {
  readonly #pool: Pool

  constructor(kubeconfig: string) {
    const access = accessOf(kubeconfig)
    const { ca, cert, key } = access
    const limits = { connections: connectionsMax, headersTimeout: responseMsMax, bodyTimeout: responseMsMax }
    this.#pool = new Pool(originOf(access), { ...limits, connect: { ca, cert, key } })
  }

  async createNamespace(name: string): Promise<boolean> {
    const response = await this.#send('POST', '/api/v1/namespaces', { metadata: { name } })
    return typeof response !== 'string' && [201, 409].includes(response.status)
  }

  /** `revisions`: the resourceVersions that the client knows of versions. */
  async call(
    namespace: string,
    key: string,
    input: Input,
    revisions: ReadonlyMap<string, number>,
  ): Promise<Output | 'refused'> {
    const response = await this.#send(...requestOf(collection(namespace), key, input, revisions))
    if (response === 'refused') return 'refused'
    return response === 'lost' ? { kind: 'unknown' } : outputOf(input, response)
  }

  /** One page; undefined when there was none. */
  async list(namespace: string, token: string | undefined): Promise<Page | undefined> {
    const rest = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`
    const response = await this.#send('GET', `${collection(namespace)}?limit=${itemsPerPage}${rest}`)
    if (typeof response === 'string' || response.status !== 200) return undefined
    const { metadata, items } = response.body as ConfigMapList
    return {
      revision: Number(metadata.resourceVersion),
      items: items.map(itemOf),
      continue: metadata.continue === '' ? undefined : metadata.continue,
    }
  }

  /** A write that does not concern a history: a ConfigMap is created, or exists already. */
  probe(): Promise<Response | 'refused' | 'lost'> {
    return this.#send('POST', collection('default'), { metadata: { name: 'probe' } })
  }

  async isWritable(): Promise<boolean> {
    const response = await this.probe()
    return typeof response !== 'string' && [201, 409].includes(response.status)
  }

  /** The status of a list that may be stale. */
  async cachedListStatus(): Promise<number> {
    const response = await this.#send('GET', `${collection('default')}?resourceVersion=0`)
    return typeof response === 'string' ? 0 : response.status
  }

  /** The messages until the server ends the watch or is lost. */
  async *watch(namespace: string, revision: number, signal: AbortSignal): AsyncGenerator<WatchMessage> {
    const path = `${collection(namespace)}?watch=true&allowWatchBookmarks=true&resourceVersion=${revision}`
    // The signal ends the body, too.
    const response = await this.#pool.request({ method: 'GET', path, signal })
    if (response.statusCode !== 200) return response.body.dump()
    let rest = ''
    for await (const piece of response.body.setEncoding('utf8')) {
      const lines = (rest + String(piece)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield messageOf(line)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy()
  }

  async #send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Response | 'refused' | 'lost'> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }
    try {
      const response = await this.#pool.request({ method, path, ...content })
      return { status: response.statusCode, body: await response.body.json() }
    } catch (error) {
      return (error as { code?: string }).code === 'ECONNREFUSED' ? 'refused' : 'lost'
    }
  }
}

const collection = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`

function requestOf(
  path: string,
  key: string,
  input: Input,
  revisions: ReadonlyMap<string, number>,
): [method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object] {
  const conditional = (version: string) => ({ resourceVersion: String(revisions.get(version)) })
  const one = `${path}/${key}`
  switch (input.kind) {
    case 'get':
      return ['GET', one]
    case 'create':
      return ['POST', path, { metadata: { name: key }, data: { version: input.version } }]
    case 'update':
      return ['PUT', one, { metadata: { name: key, ...conditional(input.from) }, data: { version: input.version } }]
    case 'patch':
      return ['PATCH', one, { data: { version: input.version } }]
    case 'delete':
      return ['DELETE', one, input.from === undefined ? {} : { preconditions: conditional(input.from) }]
    default:
      return input satisfies never
  }
}

function outputOf(input: Input, { status, body }: Response): Output {
  if (status === 404) return { kind: 'absent' }
  if (status === 409) return { kind: 'conflict' }
  if (status !== 200 && status !== 201) return { kind: 'unknown' }
  if (input.kind === 'delete') return { kind: 'written' }
  const { version, revision } = itemOf(body as ConfigMap)
  return input.kind === 'get' ? { kind: 'found', version, revision } : { kind: 'written', revision }
}

function messageOf(line: string): WatchMessage {
  const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ConfigMap }
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, ...itemOf(object) }
    case 'BOOKMARK':
      return { type, revision: Number(object.metadata.resourceVersion) }
    default:
      throw new Error(`the watch ended: ${line}`)
  }
}
