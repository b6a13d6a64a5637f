// UiEndpoints: the paths below /ui/. Files and the exchange of a one-time code for a session need no user; everything
// else passes the handler chain and is authorized by itself, object by object.
import { assert } from '../../base/assert.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { badRequest, methodNotAllowed, PageNotFound, StatusError, unauthorized } from '../../api/errors/status-error.ts'
import type { ApiRequest, Presented, Target } from '../request/request.ts'
import type { ApiResponse } from '../request/response.ts'
import { hostOf, sessionCookie, sessionTokenOf } from './session-requests.ts'
import { assetResponse, pageHeaders, uiRoot, type UiFiles } from './ui-assets.ts'
import { sessionMsMax, type UiSessions } from './ui-sessions.ts'

export interface UiDeps {
  readonly sessions: UiSessions
  readonly files: () => MaybePromise<UiFiles>
  /** The port of `--ui-port`, for the link to the page; undefined if it is that of the API server. */
  readonly port?: () => number | undefined
}

/** A handler of one path below /ui/api/. */
export type UiHandler = (request: ApiRequest) => MaybePromise<ApiResponse>

const loginPath = `${uiRoot}login`
const logoutPath = `${uiRoot}logout`
const sessionPath = `${uiRoot}session`
const apiRoot = `${uiRoot}api/`
/** The body with a code, which is read before the user is known. */
const codeBytesMax = 1_024

export class UiEndpoints {
  readonly #deps: UiDeps
  readonly #handlers: ReadonlyMap<string, UiHandler>

  /** `handlers` are those of the paths below /ui/api/, by the rest of the path. */
  constructor(deps: UiDeps, handlers: ReadonlyMap<string, UiHandler>) {
    this.#deps = deps
    this.#handlers = handlers
  }

  static ownsPath(target: Target): boolean {
    return target.kind === 'path' && (`${target.path}/` === uiRoot || target.path.startsWith(uiRoot))
  }

  /** The response to a request that needs no user; undefined if the request must pass the handler chain. */
  handlePublic(request: ApiRequest): MaybePromise<ApiResponse> | undefined {
    const { target, credentials } = request
    if (target.kind !== 'path' || credentials.kind !== 'presented') return undefined
    const { path, verb } = target
    if (path === sessionPath && verb === 'post') return this.#openSession(request, credentials)
    if ((verb !== 'get' && verb !== 'head') || path.startsWith(apiRoot)) return undefined
    return thenMaybe(this.#deps.files(), (files) => wire(assetResponse(path, credentials.headers, files)))
  }

  /** A request that has passed the filters. */
  handle(request: ApiRequest): MaybePromise<ApiResponse> {
    const { target, user, credentials } = request
    if (target.kind !== 'path' || user === undefined || user.groups.includes('system:unauthenticated'))
      throw unauthorized()
    const { path, verb } = target
    if (path === loginPath && verb === 'post') return this.#login(request)
    if (path === logoutPath && verb === 'post' && credentials.kind === 'presented') return this.#logout(credentials)
    const handler = path.startsWith(apiRoot) ? this.#handlers.get(path.slice(apiRoot.length)) : undefined
    if (handler === undefined) throw path === sessionPath ? methodNotAllowed() : new PageNotFound()
    return handler(request)
  }

  #login({ user }: ApiRequest): ApiResponse {
    assert(user !== undefined, 'only users with a name log in')
    return json(200, { code: this.#deps.sessions.issueCode(user), port: this.#deps.port?.() })
  }

  async #openSession({ readBody }: ApiRequest, { headers }: Presented): Promise<ApiResponse> {
    const { origin, 'sec-fetch-site': site } = headers
    if (origin !== `https://${hostOf(headers)}` || (site !== undefined && site !== 'same-origin'))
      throw new StatusError(403, 'Forbidden', 'a session can only be opened by the page of this server')
    if (!(Number(headers['content-length']) <= codeBytesMax)) throw badRequest('the request must be short')
    const received = await (await readBody?.())?.parse()
    const code = received?.body.kind === 'value' ? (received.body.value as { code?: unknown } | null)?.code : undefined
    if (typeof code !== 'string') throw badRequest('code: must be the code of the link')
    const token = this.#deps.sessions.open(code)
    if (token === undefined)
      throw new StatusError(401, 'Unauthorized', 'the link has been used or is older than a minute; run: coxswain ui')
    const user = this.#deps.sessions.userOf(token)?.name
    return json(200, { user }, { 'set-cookie': sessionCookie(headers, token, sessionMsMax) })
  }

  #logout({ headers }: Presented): ApiResponse {
    this.#deps.sessions.close(sessionTokenOf(headers) ?? '')
    return json(200, {}, { 'set-cookie': sessionCookie(headers, '', 0) })
  }
}

const wire = (response: Extract<ApiResponse, { kind: 'wire' }>['response']): ApiResponse => ({ kind: 'wire', response })

/** Audit records contain no wire responses, so they contain no codes. */
const json = (status: number, value: object, headers: Readonly<Record<string, string>> = {}): ApiResponse =>
  wire({
    status,
    headers: { ...pageHeaders, 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(value),
  })
