// ExtensionServer: a small API server behind an APIService. It has discovery, OpenAPI, objects with watches, a resource that
// returns what it received, and an upgrade that echoes bytes.
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { aggregatedGroups, apiGroup, openApiV2, openApiV3, resourceList } from './extension-documents.ts'

export interface ExtensionOptions {
  readonly group: string
  readonly versions: readonly string[]
  /** The Service that the certificate is for: `api.default.svc`. */
  readonly serverName: string
  /** 0: any free port. */
  readonly port?: number
  /** Serves discovery in the aggregated format too. */
  readonly isAggregated?: boolean
}

interface Flower {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string }
  readonly spec?: unknown
}

export class ExtensionServer implements AsyncDisposable {
  readonly authority = Authority.create('extension-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
  /** Answers discovery with this status instead. */
  failure: number | undefined
  /** Requests for discovery are never answered. */
  isSilent = false
  /** Requests for OpenAPI are never answered. */
  hasSilentOpenApi = false
  readonly requests: string[] = []
  readonly #options: ExtensionOptions
  readonly #flowers = new Map<string, Flower>()
  readonly #watches = new Set<ServerResponse>()
  #server: Server | undefined
  #revision = 0
  #port: number

  constructor(options: ExtensionOptions) {
    this.#options = options
    this.#port = options.port ?? 0
  }

  static async start(options: ExtensionOptions): Promise<ExtensionServer> {
    const server = new ExtensionServer(options)
    await server.start()
    return server
  }

  get port(): number {
    return this.#port
  }

  get caBundle(): string {
    return Buffer.from(this.authority.certificate).toString('base64')
  }

  get watches(): number {
    return this.#watches.size
  }

  /** Listens, after the first time at the same port again. */
  async start(): Promise<void> {
    if (this.#server !== undefined) return
    const { certificate: cert, key } = this.authority.issue({
      subject: { commonName: 'extension', organizations: [] },
      uses: ['server'],
      dnsNames: [this.#options.serverName],
    })
    const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      void this.#handle(request, response)
    })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => echo(request, socket, head))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Closes all connections, as a killed process does. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    this.#watches.clear()
    if (server === undefined) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  /** Deletes all objects. */
  clear(): void {
    this.#flowers.clear()
    this.#revision = 0
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    this.requests.push(`${method} ${url}`)
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString()
    const { pathname, searchParams } = new URL(url, 'https://extension')
    const document = this.#document(pathname, request.headers.accept ?? '')
    if (document !== undefined) {
      if (this.isSilent || (this.hasSilentOpenApi && pathname.startsWith('/openapi/'))) return
      if (this.failure !== undefined) return send(response, this.failure, { kind: 'Status', code: this.failure })
      return sendDocument(request, response, document)
    }
    const parts = pathname.split('/').filter((part) => part !== '')
    const resources = parts.slice(3)
    if (resources[0] === 'echoes') return send(response, 200, received(request, body))
    if (resources[0] === 'failures') return fail(response, resources[1] ?? '')
    if (resources[0] === 'namespaces') resources.splice(0, 2)
    if (resources[0] !== 'flowers') return send(response, 404, status(404, 'NotFound', 'the server could not find it'))
    if (searchParams.get('watch') !== null) return this.#watch(response)
    this.#objects(method, parts.slice(0, 3), parts[4] ?? '', resources[1] ?? '', body, response)
  }

  #document(path: string, accept: string): unknown {
    const { group, versions, isAggregated = false } = this.#options
    if (path === '/apis') {
      const isWanted = isAggregated && accept.includes('g=apidiscovery.k8s.io')
      return isWanted
        ? aggregatedGroups(group, versions)
        : { kind: 'APIGroupList', apiVersion: 'v1', groups: [apiGroup(group, versions)] }
    }
    if (path === `/apis/${group}`) return apiGroup(group, versions)
    if (path === '/openapi/v2') return openApiV2(group, versions)
    if (path === '/openapi/v3')
      return {
        paths: Object.fromEntries(
          versions.map((version) => [
            `apis/${group}/${version}`,
            { serverRelativeURL: `/openapi/v3/apis/${group}/${version}?hash=1` },
          ]),
        ),
      }
    for (const version of versions) {
      if (path === `/apis/${group}/${version}`) return resourceList(group, version)
      if (path === `/openapi/v3/apis/${group}/${version}`) return openApiV3(group, version)
    }
    return undefined
  }

  #objects(
    method: string,
    [, group = '', version = '']: readonly string[],
    namespace: string,
    name: string,
    body: string,
    response: ServerResponse,
  ): void {
    const type = { apiVersion: `${group}/${version}`, kind: 'Flower' }
    const key = `${namespace}/${name}`
    const found = this.#flowers.get(key)
    if (name === '' && method === 'GET') {
      const items = [...this.#flowers.values()].filter(
        ({ metadata }) => namespace === '' || metadata.namespace === namespace,
      )
      return send(response, 200, {
        ...type,
        kind: 'FlowerList',
        metadata: { resourceVersion: String(this.#revision) },
        items: items.map((item) => ({ ...type, ...item })),
      })
    }
    if (name === '' && method === 'DELETE') {
      for (const [each, { metadata }] of this.#flowers) if (metadata.namespace === namespace) this.#flowers.delete(each)
      return send(response, 200, status(200, '', ''))
    }
    if (method === 'POST') {
      const sent = JSON.parse(body) as Flower
      const flower = this.#store(namespace, sent.metadata.name, sent.spec)
      this.#announce('ADDED', { ...type, ...flower })
      return send(response, 201, { ...type, ...flower })
    }
    if (found === undefined) return send(response, 404, status(404, 'NotFound', `flowers.${group} "${name}" not found`))
    if (method === 'PUT' || method === 'PATCH') {
      const flower = this.#store(namespace, name, (JSON.parse(body) as Flower).spec)
      this.#announce('MODIFIED', { ...type, ...flower })
      return send(response, 200, { ...type, ...flower })
    }
    if (method === 'DELETE') {
      this.#flowers.delete(key)
      this.#announce('DELETED', { ...type, ...found })
    }
    send(response, 200, { ...type, ...found })
  }

  #store(namespace: string, name: string, spec: unknown): Flower {
    const flower = { metadata: { name, namespace, resourceVersion: String(++this.#revision) }, spec }
    this.#flowers.set(`${namespace}/${name}`, flower)
    return flower
  }

  #announce(type: string, object: object): void {
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type, object })}\n`)
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    for (const flower of this.#flowers.values())
      response.write(`${JSON.stringify({ type: 'ADDED', object: flower })}\n`)
    this.#watches.add(response)
    response.on('close', () => this.#watches.delete(response))
  }
}

const status = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: code < 400 ? 'Success' : 'Failure',
  ...(message === '' ? {} : { message, reason }),
  code,
})

function send(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

function sendDocument(request: IncomingMessage, response: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value)
  const etag = `"${nodeCrypto.sha256(text).toHex().toUpperCase()}"`
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
  const isAggregated = (value as { kind?: string }).kind === 'APIGroupDiscoveryList'
  const type = isAggregated
    ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    : 'application/json'
  response.writeHead(200, { 'content-type': type, etag }).end(text)
}

const shownHeaders =
  /^(accept|content-type|content-length|host|x-custom|x-remote-.*|x-forwarded-.*|authorization|cookie|impersonate-.*)$/

/** What arrived: the certificate of the client, and the headers that a proxy decides about. */
function received({ method, url, headers, socket }: IncomingMessage, body: string): object {
  const shown = Object.entries(headers).filter(([name]) => shownHeaders.test(name))
  const { subject } = (socket as TLSSocket).getPeerCertificate()
  return { client: subject?.CN ?? '', method, url, headers: Object.fromEntries(shown.toSorted()), body }
}

/** `/failures/500`, `/failures/close`, `/failures/redirect`. */
function fail(response: ServerResponse, how: string): void {
  if (how === 'close') return void response.socket?.destroy()
  if (how === 'redirect') return void response.writeHead(302, { location: 'https://example.com/away' }).end()
  send(response, Number(how), status(Number(how), 'Failure', `failure ${how}`))
}

/** Accepts any protocol and sends back what it receives. */
function echo({ headers, url = '' }: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (url.includes('refused')) return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 7\r\n\r\nrefused')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${headers.upgrade}\r\nx-user: ${String(headers['x-remote-user'])}\r\n\r\n`,
  )
  socket.write(head)
  socket.on('error', () => socket.destroy())
  socket.pipe(socket)
}
