// Targets of httpGet and tcpSocket handlers. Host, path and headers are texts of users; here they become parts of a
// request that cannot change its syntax.
import type { Brand } from '../../base/brand.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { HTTPGetAction } from '../../api/core/v1/container/probe.ts'
import { isHost, type HostText } from '../pod-config/host-text.ts'
import { authorityOf } from '../../machine/dialer/pod-dialer.ts'

/** The path and the query of a URL, escaped. */
export type RequestTarget = Brand<string, 'RequestTarget'>

export interface HttpTarget {
  readonly scheme: 'http' | 'https'
  readonly host: HostText
  readonly port: number
  readonly path: RequestTarget
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

export const urlOf = (target: HttpTarget): string => `${target.scheme}://${authorityOf(target)}${target.path}`

/** Resolves a port that may be named. Throws when the container has no such port. */
export function probePortOf(port: number | string, { name, ports = [] }: Pick<Container, 'name' | 'ports'>): number {
  const number =
    typeof port === 'number'
      ? port
      : (ports.find((candidate) => candidate.name === port)?.containerPort ?? Number(port || Number.NaN))
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    throw new Error(`couldn't find port: ${JSON.stringify(port)} in container ${JSON.stringify(name)}`)
  return number
}

/** Throws when the host or the port is invalid, so that there is no URL. */
export function httpTargetOf(action: HTTPGetAction, container: Container, podIp: string): HttpTarget {
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http'
  const host = action.host || podIp
  const port = probePortOf(action.port, container)
  const path = parsedTarget(action.path ?? '')
  if (!isHost(host)) throw invalidHost(`${scheme}://${authorityOf({ host, port })}${path}`, host)
  return { scheme, host, port, path, headers: action.httpHeaders ?? [] }
}

function invalidHost(url: string, host: string): Error {
  if (host === '') return new Error(`Get ${JSON.stringify(url)}: http: no Host in request URL`)
  const character = /[^-.\w]/u.exec(host)?.[0] ?? ''
  return new Error(`parse ${JSON.stringify(url)}: invalid character ${JSON.stringify(character)} in host name`)
}

const control = /[^\x20-\x7e\x80-\u{10ffff}]/u
/** Scheme and authority are those of the target, whatever the path contains. */
const origin = /^(?:[A-Za-z][-+.\dA-Za-z]*:)?\/\/[^/?#]*/
const badEscape = /%(?![\dA-Fa-f]{2})/

/** As upstream, a path is parsed as a URL; one that is no URL is a path whose special characters are escaped. */
function parsedTarget(text: string): RequestTarget {
  const rest = text.replace(origin, '').replace(/#.*$/s, '')
  const question = rest.indexOf('?')
  const path = question < 0 ? rest : rest.slice(0, question)
  if (control.test(text) || badEscape.test(path)) return rooted(escaped(text.replaceAll('%', '%25'), notInPath))
  return requestTarget(path, question < 0 ? '' : rest.slice(question))
}

/** `query` begins with a question mark unless it is empty. */
export const requestTarget = (path: string, query: string): RequestTarget =>
  rooted(`${escaped(path, notInPath)}${escaped(query, notInQuery)}`)

const rooted = (path: string): RequestTarget => (path.startsWith('/') ? path : `/${path}`) as RequestTarget

/** Characters that neither a path nor a query can contain as they are. */
const notInPath = /[^-!$&'()*+,./:;=@[\]_~%\dA-Za-z]/gu
const notInQuery = /[^!#-;=?-~]/gu

const escaped = (text: string, special: RegExp): string =>
  text.toWellFormed().replaceAll(special, (character) => encodeURIComponent(character))
