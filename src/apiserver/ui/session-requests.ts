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
  const cookies = headers['cookie']
  if (cookies?.includes(sessionCookiePrefix) !== true) return undefined
  const start = `${cookieNameOf(headers)}=`
  for (const cookie of cookies.split(';')) {
    const text = cookie.trim()
    if (text.startsWith(start)) return text.slice(start.length)
  }
  return undefined
}

/** The header that sets the cookie, or removes it if `token` is empty. */
export function sessionCookie(headers: Headers, token: string, lifetimeMs: number): string {
  const seconds = token === '' ? 0 : Math.floor(lifetimeMs / 1_000)
  return `${cookieNameOf(headers)}=${token}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`
}

const safeMethods = ['get', 'head', 'list', 'watch']

/** Why a request may not use the session; undefined if it may. */
export function sessionMisuse({ target, upgrade }: ApiRequest, headers: Headers): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin !== `https://${hostOf(headers)}`) return 'it comes from another origin'
  if (site !== undefined && site !== 'same-origin') return 'it comes from another site'
  // What the browser shows as a document could use the session.
  if (headers['sec-fetch-mode'] === 'navigate') return 'it is a navigation'
  if (target.kind === 'resource' && target.subresource === 'proxy') return 'proxied servers share its origin'
  if (upgrade !== undefined) return origin === undefined ? 'a WebSocket needs the header Origin' : undefined
  if (safeMethods.includes(target.verb)) return undefined
  if (origin === undefined && site === undefined) return 'a change needs the header Origin or Sec-Fetch-Site'
  return headers[uiHeader] === '1' ? undefined : 'a change needs the header X-Coxswain-UI: 1'
}
