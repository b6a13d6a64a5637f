// CORS: which origins may use the responses of a route, the response to preflight requests, and the headers of other
// responses (https://fetch.spec.whatwg.org/#http-cors-protocol). Pure.
import { setOwn } from '../../base/collections/lookup.ts'

/** Values by name in lower case. */
type Headers = Record<string, string | readonly string[]>

/** An origin whose host may begin with a wildcard, which stands for one or more characters; `any` stands for all origins. */
export type AllowedOrigin =
  | { readonly kind: 'any' }
  | { readonly kind: 'exact'; readonly origin: string }
  | { readonly kind: 'wildcard'; readonly scheme: string; readonly suffix: string; readonly port: string }

export interface CorsPolicy {
  readonly origins: readonly AllowedOrigin[]
  readonly allowsCredentials: boolean
  /** `*` alone stands for all. */
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposedHeaders: readonly string[]
  readonly maxAgeSeconds: number
}

/** What a request says about itself. */
export interface CorsRequest {
  readonly method: string
  readonly header: (name: string) => string | undefined
}

const originParts = /^(https?):\/\/([^/:@?#\s]+|\[[\d.:a-f]+\])(?::(\d{1,5}))?$/
const defaultPorts = new Map([
  ['http', '80'],
  ['https', '443'],
])

/** Undefined if the text is not an origin. */
export function allowedOrigin(text: string): AllowedOrigin | undefined {
  if (text === '*') return { kind: 'any' }
  const parsed = parseOrigin(text)
  if (parsed === undefined) return undefined
  const { scheme, host, port } = parsed
  return host.startsWith('*')
    ? { kind: 'wildcard', scheme, suffix: host.slice(1), port }
    : { kind: 'exact', origin: originText(parsed) }
}

interface Origin {
  readonly scheme: string
  readonly host: string
  readonly port: string
}

function parseOrigin(text: string): Origin | undefined {
  const [, scheme = '', host = '', port = defaultPorts.get(scheme) ?? ''] = originParts.exec(text.toLowerCase()) ?? []
  return scheme === '' ? undefined : { scheme, host, port }
}

const originText = ({ scheme, host, port }: Origin): string => `${scheme}://${host}:${port}`

function isAllowed(policy: CorsPolicy, origin: string): boolean {
  if (policy.origins.some(({ kind }) => kind === 'any')) return true
  const parsed = parseOrigin(origin)
  if (parsed === undefined) return false
  const text = originText(parsed)
  return policy.origins.some((each) => {
    if (each.kind !== 'wildcard') return each.kind === 'exact' && each.origin === text
    const { scheme, suffix, port } = each
    const isLonger = parsed.host.length > suffix.length
    return parsed.scheme === scheme && parsed.port === port && isLonger && parsed.host.endsWith(suffix)
  })
}

/** Whether a browser asks for permission before it sends a request. */
export const isPreflight = ({ method, header }: CorsRequest): boolean =>
  method === 'OPTIONS' && header('origin') !== undefined && header('access-control-request-method') !== undefined

/** The headers of the response to a preflight request. The status is 204, also for origins that are not allowed. */
export function preflightHeaders(policy: CorsPolicy, request: CorsRequest): Headers {
  const headers: Headers = {}
  applyCors(headers, policy, request)
  if (headers['access-control-allow-origin'] === undefined) return headers
  const methods = granted(policy.methods, policy, request.header('access-control-request-method'))
  if (methods !== undefined) headers['access-control-allow-methods'] = methods
  const names = granted(policy.headers, policy, request.header('access-control-request-headers'))
  if (names !== undefined) headers['access-control-allow-headers'] = names
  headers['access-control-max-age'] = String(policy.maxAgeSeconds)
  return headers
}

const answered = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
]

/** Replaces what an endpoint says about origins: the route decides. */
export function applyCors(headers: Headers, policy: CorsPolicy, { header }: CorsRequest): void {
  for (const name of answered) Reflect.deleteProperty(headers, name)
  const isForAll = policy.origins.some(({ kind }) => kind === 'any') && !policy.allowsCredentials
  // Caches keep the responses to origins apart.
  if (!isForAll) setOwn(headers, 'vary', withOrigin(headers['vary']))
  const origin = header('origin')
  if (origin === undefined || !isAllowed(policy, origin)) return
  headers['access-control-allow-origin'] = isForAll ? '*' : origin
  if (policy.allowsCredentials) headers['access-control-allow-credentials'] = 'true'
  const exposed = granted(policy.exposedHeaders, policy, undefined)
  if (exposed !== undefined) headers['access-control-expose-headers'] = exposed
}

function withOrigin(vary: Headers[string] | undefined): string {
  const names = [vary ?? []].flat().join(', ')
  if (/(?:^|[\s,])(?:origin|\*)(?:$|[\s,])/i.test(names)) return names
  return names === '' ? 'Origin' : `${names}, Origin`
}

const tokens = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+(?:\s*,\s*[!#$%&'*+\-.^_`|~\dA-Za-z]+)*$/ // linear: separators are not in tokens
const requestedCharactersMax = 4_096

/** With credentials, a wildcard has no meaning in a response: what the client requests is granted by name. */
function granted(allowed: readonly string[], policy: CorsPolicy, requested: string | undefined): string | undefined {
  if (allowed.length === 0) return undefined
  if (!allowed.includes('*')) return allowed.join(', ')
  if (!policy.allowsCredentials) return '*'
  return requested !== undefined && requested.length <= requestedCharactersMax && tokens.test(requested)
    ? requested
    : undefined
}
