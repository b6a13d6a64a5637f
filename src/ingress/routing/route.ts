// Route: what both APIs, Ingress and Gateway API, are compiled to. The data plane knows only routes.
import type { ServerIdentity } from '../../platform/http/server-identity.ts'
import type { CorsPolicy } from './cors.ts'
import type { HeaderChanges } from './header-changes.ts'
import type { TextPattern } from './text-pattern.ts'

/**
 * A path in a match: `exact` compares the whole path, `prefix` its elements (`/a` matches `/a` and `/a/b`, not `/ab`), `method`
 * the second of two elements, which is the method of a gRPC call.
 */
export type PathMatch =
  | { readonly kind: 'exact' | 'method' | 'prefix'; readonly value: string }
  | { readonly kind: 'pattern'; readonly pattern: TextPattern }

/** A header or query parameter that must have this value, or a value of this pattern. */
export interface ValueMatch {
  /** Header names are in lower case. */
  readonly name: string
  readonly value: string | TextPattern
}

export interface RouteMatch {
  readonly path: PathMatch
  readonly method?: string
  readonly headers: readonly ValueMatch[]
  readonly query: readonly ValueMatch[]
}

/** What a request is matched by. */
export interface RoutedRequest {
  readonly method: string
  /** Without the port, in lower case. */
  readonly host: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly header: (name: string) => string | undefined
}

/** A port of a Service. The endpoints are looked up for each request. */
export interface Backend {
  readonly namespace: string
  readonly service: string
  /** The number or the name of the Service's port. */
  readonly port: number | string
  readonly protocol: BackendProtocol
  /** The endpoints are called over TLS. Not for tcp. */
  readonly tls?: ServerIdentity
}

/** h2c: HTTP/2, without TLS unless the backend has it. tcp: the bytes of a connection. */
export type BackendProtocol = 'http1' | 'h2c' | 'tcp'

export interface WeightedBackend {
  /** Undefined: the reference is invalid, and its share of the requests fails with 500. */
  readonly backend: Backend | undefined
  readonly weight: number
  readonly filters: readonly Filter[]
}

export type PathChange =
  | { readonly kind: 'full'; readonly value: string }
  /** Replaces the prefix that the route's match has. */
  | { readonly kind: 'prefix'; readonly value: string }

export interface Redirect {
  readonly scheme?: 'http' | 'https'
  readonly hostname?: string
  readonly port?: number
  readonly path?: PathChange
  readonly statusCode: number
}

/** A Service that gets copies of requests. */
export interface Mirror {
  readonly backend: Backend
  /** The part of the requests that is copied, from 0 to 1. */
  readonly share: number
}

export type Filter =
  | { readonly kind: 'request-headers'; readonly changes: HeaderChanges }
  | { readonly kind: 'response-headers'; readonly changes: HeaderChanges }
  | { readonly kind: 'redirect'; readonly redirect: Redirect }
  | { readonly kind: 'rewrite'; readonly hostname?: string; readonly path?: PathChange }
  | { readonly kind: 'mirror'; readonly mirror: Mirror }
  | { readonly kind: 'cors'; readonly policy: CorsPolicy }

export interface Route {
  /** The object in logs and metrics: `ingress/default/web`. */
  readonly name: string
  readonly host: RouteHost
  readonly match: RouteMatch
  /** Decides between equal matches: the smaller string comes first. */
  readonly order: string
  readonly filters: readonly Filter[]
  /** Empty: the request fails with `emptyStatus`. */
  readonly backends: readonly WeightedBackend[]
  readonly emptyStatus: 404 | 500
  /** From the end of the request's head to the head of the response; Infinity for no limit. */
  readonly requestMsMax: number | undefined
  readonly backendMsMax: number | undefined
}

/**
 * The names that a route serves. A wildcard of Ingress stands for one label, one of Gateway API for one or more.
 */
export type RouteHost =
  | { readonly kind: 'any' }
  | { readonly kind: 'exact'; readonly name: string }
  | { readonly kind: 'wildcard'; readonly suffix: string; readonly labels: 'one' | 'any' }

/** `*.example.com` is a wildcard with the suffix `example.com`; an empty name stands for any host. */
export function routeHostOf(name: string, labels: 'one' | 'any'): RouteHost {
  if (name === '' || name === '*') return { kind: 'any' }
  const lower = name.toLowerCase()
  return lower.startsWith('*.') ? { kind: 'wildcard', suffix: lower.slice(2), labels } : { kind: 'exact', name: lower }
}
