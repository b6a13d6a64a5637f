// LocalUi: the web UI of a cluster on http://localhost, for the browser of one user, who is that of the kubeconfig. Browsers need no
// certificate of a loopback address. The page and everything that it requests come from the API server, or from UpstreamUi if that has no
// web UI; sessions are opened here.
import { StatusError, badRequest, PageNotFound, unauthorized } from '../../api/errors/status-error.ts'
import { forwardedHeaders } from '../../apiserver/kubelet-client/forwarded-headers.ts'
import { isExpectedError, statusErrorOf } from '../../apiserver/http/error-status.ts'
import { bodyBytesMax } from '../../apiserver/http/request-body.ts'
import { userWithName } from '../../apiserver/request/request.ts'
import { requestInfo } from '../../apiserver/routing/request-info.ts'
import { cookieValue, sessionMisuse, settingCookie, type SessionUse } from '../../apiserver/ui/session-requests.ts'
import { pageHeaders, uiRoot } from '../../apiserver/ui/ui-assets.ts'
import { sessionMsMax, UiSessions } from '../../apiserver/ui/ui-sessions.ts'
import { errorText } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import type { Listener, ListenerProvider, StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { joinStreams } from '../../wire/byte-pipe.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { connectKubeconfig, type KubeconfigConnection } from '../client/kubeconfig-connection.ts'
import { openRemote } from '../client/remote.ts'
import { uiFiles } from './ui-files.ts'
import { UpstreamUi } from './upstream-ui.ts'

export interface LocalUiDeps {
  readonly sessions: UiSessions
  readonly listeners: Pick<ListenerProvider, 'listen'>
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly cluster: KubeconfigConnection
  /** Used if the API server has no web UI. */
  readonly upstream: UpstreamUi
  readonly close: () => Promise<void>
}

/** Sessions of all browsers are those of the user of the kubeconfig. */
const owner = userWithName('user of the kubeconfig', [])
const loginPath = `${uiRoot}login`
const logoutPath = `${uiRoot}logout`
const sessionPath = `${uiRoot}session`
/** The page and its files: one name without escapes and without dot segments. */
const filePath = /^\/ui(?:\/(?!\.)[\w.-]*)?$/
const codeBytesMax = 1_024
const drainMs = 1_000
/** Headers that are for this server alone. */
const ownHeaders = [
  'cookie',
  'origin',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'x-coxswain-ui',
]

export class LocalUi implements AsyncDisposable {
  readonly #deps: LocalUiDeps
  #listener: Listener | undefined
  #isUpstream = false

  constructor(deps: LocalUiDeps) {
    this.#deps = deps
  }

  /** Asks whether the API server serves the page. Others say that it does not exist, or that the user may not read it. */
  async findPage(signal: AbortSignal): Promise<void> {
    const { outbound, headers } = this.#deps.cluster
    const { status, body } = await outbound.send(
      { method: 'GET', target: uiRoot, headers: await headers(signal) },
      signal,
    )
    for await (const _ of body);
    this.#isUpstream = status >= 400 && status < 500
  }

  /** Whether the cluster has no flows, because its API server does not serve the page. */
  get isUpstream(): boolean {
    return this.#isUpstream
  }

  /** Listens on a port of the loopback address; 0: any free one. */
  async listen(port: number): Promise<void> {
    const handle = (request: StreamedRequest) => this.#handled(request)
    // The API server has compressed what is worth it.
    this.#listener = await this.#deps.listeners.listen({ host: '127.0.0.1', port, compresses: false, handle })
  }

  get #host(): string {
    return `localhost:${this.#listener?.port}`
  }

  /** A link that opens the page once, within a minute. Browsers do not send the fragment, so no log contains the code. */
  link(): string {
    return `http://${this.#host}${loginPath}#${this.#deps.sessions.issueCode(owner)}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.close(drainMs)
    await this.#deps.cluster.outbound.close()
    await this.#deps.close()
  }

  async #handled(request: StreamedRequest): Promise<WireResponse> {
    try {
      return await this.#handle(request)
    } catch (error) {
      return errorResponse(error)
    }
  }

  async #handle(request: StreamedRequest): Promise<WireResponse> {
    const { method, target, headers } = request
    const { upstream } = this.#deps
    // A name of another site that resolves to the loopback address has another Host.
    if (headers['host'] !== this.#host) throw forbidden(`this page is only served as http://${this.#host}`)
    const [path = ''] = target.split('?', 1)
    if (path === '/') return { status: 302, headers: { ...pageHeaders, location: uiRoot }, body: '' }
    if (path === sessionPath && method === 'POST') return this.#openSession(request)
    const isRead = method === 'GET' || method === 'HEAD'
    // The credentials of the kubeconfig go with the request, so no other path of the API server may be written like this.
    if (isRead && filePath.test(path)) return this.#isUpstream ? upstream.file(path, headers) : this.#forward(request)
    const segments = segmentsOf(path)
    const token = cookieValue(headers['cookie'] ?? '', this.#cookieName) ?? ''
    if (this.#deps.sessions.userOf(token) === undefined) throw unauthorized()
    const misuse = sessionMisuse(this.#useOf(request, path, segments), headers)
    if (misuse !== undefined) throw forbidden(`this request may not use the session of the web UI: ${misuse}`)
    if (path === logoutPath && method === 'POST') {
      this.#deps.sessions.close(token)
      return json(200, {}, { 'set-cookie': settingCookie(this.#cookieName, '', 0) })
    }
    if (segments[0] === 'ui' && segments[1] !== 'api') throw new PageNotFound()
    if (segments[0] === 'ui' && this.#isUpstream) return upstream.handle(request)
    return this.#forward(request)
  }

  /** Browsers do not separate cookies by port. */
  get #cookieName(): string {
    return `coxswain-ui-${this.#listener?.port}`
  }

  #useOf({ method, target, upgrade }: StreamedRequest, path: string, segments: readonly string[]): SessionUse {
    const info = requestInfo(method, segments, new URLSearchParams(target.slice(path.length)))
    return {
      ownOrigin: `http://${this.#host}`,
      isChange: method !== 'GET' && method !== 'HEAD',
      isUpgrade: upgrade,
      isProxied: info.kind === 'resource' && (info.verb === 'proxy' || info.subresource === 'proxy'),
    }
  }

  async #openSession(request: StreamedRequest): Promise<WireResponse> {
    const { origin, 'sec-fetch-site': site } = request.headers
    if (origin !== `http://${this.#host}` || (site !== undefined && site !== 'same-origin'))
      throw forbidden('a session can only be opened by the page of this server')
    const token = this.#deps.sessions.open(codeOf(await request.body(codeBytesMax)))
    if (token === undefined)
      throw new StatusError(401, 'Unauthorized', 'the link has been used or is older than a minute; run: coxswain ui')
    return json(200, {}, { 'set-cookie': settingCookie(this.#cookieName, token, sessionMsMax) })
  }

  async #forward(request: StreamedRequest): Promise<WireResponse> {
    const { outbound, cluster } = this.#deps
    const { method, target, upgrade, signal } = request
    const forwarded = forwardedHeaders(request.headers, upgrade)
    for (const name of ownHeaders) delete forwarded[name]
    const headers = { ...forwarded, ...(await cluster.headers(signal)) }
    const body = await request.body(bodyBytesMax)
    const sent = { method, target, headers, ...(body.length === 0 ? {} : { body }) }
    if (!upgrade) return withoutConnection(await cluster.outbound.send(sent, signal))
    const response = await outbound.exchange(cluster.options, sent, signal)
    if (response.kind === 'answer') return withoutConnection(response)
    return {
      status: 101,
      headers: response.headers,
      body: '',
      onUpgrade: (socket) => joinStreams(socket, response.stream),
    }
  }
}

const withoutConnection = ({
  status,
  headers,
  body,
}: Pick<WireResponse, 'status' | 'body'> & { headers: Readonly<Record<string, string>> }): WireResponse => ({
  status,
  headers: forwardedHeaders(headers, false),
  body,
})

const segmentsOf = (path: string): readonly string[] => decodeURIComponent(path).split('/').filter(Boolean)

function codeOf(body: Uint8Array): string {
  let code: unknown
  try {
    code = (JSON.parse(new TextDecoder().decode(body)) as { readonly code?: unknown } | null)?.code
  } catch {
    // Reported below.
  }
  if (typeof code !== 'string') throw badRequest('code: must be the code of the link')
  return code
}

const forbidden = (message: string): StatusError => new StatusError(403, 'Forbidden', message)

const json = (status: number, value: object, headers: Readonly<Record<string, string>> = {}): WireResponse => ({
  status,
  headers: { ...pageHeaders, 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(value),
})

function errorResponse(error: unknown): WireResponse {
  if (error instanceof PageNotFound) return { status: 404, headers: pageHeaders, body: '404 page not found\n' }
  const { code, reason, message } =
    error instanceof StatusError || isExpectedError(error)
      ? statusErrorOf(error)
      : { code: 502, reason: 'BadGateway', message: `the API server cannot be reached: ${errorText(error)}` }
  return json(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })
}

export async function openLocalUi(kubeconfig: string, port: number, signal: AbortSignal): Promise<LocalUi> {
  const { crypto, listeners, outbound } = nodePlatform
  const cluster = await connectKubeconfig(kubeconfig, signal)
  const digest = (text: string) => crypto.sha256(text).toHex()
  const sessions = new UiSessions({ clock: realClock, random: systemRandom, digest })
  const remote = await openRemote(kubeconfig, signal)
  const upstream = new UpstreamUi({ client: remote.clientAs('coxswain ui'), clock: realClock, files: uiFiles() })
  const close = async (): Promise<void> => {
    upstream.close()
    await remote.close()
  }
  const page = new LocalUi({ sessions, listeners, outbound, cluster, upstream, close })
  try {
    await page.findPage(signal)
    await page.listen(port)
    return page
  } catch (error) {
    await page[Symbol.asyncDispose]()
    throw error
  }
}
