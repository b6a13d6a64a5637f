// Requests with the session cookie of the web UI: which cookie it is, and which requests may use it. A browser sends the
// cookie by itself, so requests of other sites, and pages that other servers provide under this origin, must not use it.
import type { ApiRequest, Presented } from '../request/request.ts'
import { sessionCookiePrefix } from '../request/session-cookies.ts'

type Headers = Presented['headers']

/** The header that the page sets. Other sites cannot set it without a preflight request, which is not answered. */
export const uiHeader = 'x-coxswain-ui'

export const hostOf = (headers: Headers): string => headers['host'] ?? headers[':authority'] ?? ''

/** Browsers do not separate cookies by port, so clusters on other ports of this machine have cookies of another name. */
const cookieNameOf = (headers: Headers): string => sessionCookiePrefix + (/:(\d+)$/.exec(hostOf(headers))?.[1] ?? '443')

/** The token of the session cookie of this server; undefined if there is none. */
export function sessionTokenOf(headers: Headers): string | undefined {
  const { cookie } = headers
  return cookie?.includes(sessionCookiePrefix) === true ? cookieValue(cookie, cookieNameOf(headers)) : undefined
}

/** The value of one of the cookies of a request. */
export function cookieValue(cookies: string, name: string): string | undefined {
  const start = `${name}=`
  for (const cookie of cookies.split(';')) {
    const text = cookie.trim()
    if (text.startsWith(start)) return text.slice(start.length)
  }
  return undefined
}

/** The header that sets the cookie, or removes it if `token` is empty. */
export const sessionCookie = (headers: Headers, token: string, lifetimeMs: number): string =>
  settingCookie(cookieNameOf(headers), token, lifetimeMs, 'Secure; ')

export function settingCookie(name: string, token: string, lifetimeMs: number, attributes = ''): string {
  const seconds = token === '' ? 0 : Math.floor(lifetimeMs / 1_000)
  return `${name}=${token}; Path=/; Max-Age=${seconds}; ${attributes}HttpOnly; SameSite=Strict`
}

const safeMethods = ['get', 'head', 'list', 'watch']

/** What a request does with a session. */
export interface SessionUse {
  /** The origin of the page. */
  readonly ownOrigin: string
  readonly isChange: boolean
  readonly isUpgrade: boolean
  /** The response is that of a server that the cluster only proxies. */
  readonly isProxied: boolean
}

export const sessionUseOf = ({ target, upgrade }: ApiRequest, headers: Headers): SessionUse => ({
  ownOrigin: `https://${hostOf(headers)}`,
  isChange: !safeMethods.includes(target.verb),
  isUpgrade: upgrade !== undefined,
  isProxied: target.kind === 'resource' && target.subresource === 'proxy',
})

/** Why a request may not use the session; undefined if it may. */
export function sessionMisuse(
  { ownOrigin, isChange, isUpgrade, isProxied }: SessionUse,
  headers: Headers,
): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin !== ownOrigin) return 'it comes from another origin'
  if (site !== undefined && site !== 'same-origin') return 'it comes from another site'
  // What the browser shows as a document could use the session.
  if (headers['sec-fetch-mode'] === 'navigate') return 'it is a navigation'
  if (isProxied) return 'proxied servers share its origin'
  if (isUpgrade) return origin === undefined ? 'a WebSocket needs the header Origin' : undefined
  if (!isChange) return undefined
  if (origin === undefined && site === undefined) return 'a change needs the header Origin or Sec-Fetch-Site'
  return headers[uiHeader] === '1' ? undefined : 'a change needs the header X-Coxswain-UI: 1'
}
