// The types of HTTPRoute, GRPCRoute and TLSRoute. The API server has set the defaults of their schemas.
import { customResource, type KindObject } from '../../api/apiextensions/resource-type/custom-resource.ts'
import { grpcRouteDefinition } from '../definitions/grpc-route.ts'
import { httpRouteDefinition } from '../definitions/http-route.ts'
import { tlsRouteDefinition } from '../definitions/tls-route.ts'
import type { Condition } from '../../api/meta/v1/condition.ts'
import type { HeaderModifier } from '../../ingress/routing/header-changes.ts'

export interface ParentReference {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
  readonly sectionName?: string
  readonly port?: number
}

export interface RouteParentStatus {
  readonly parentRef: ParentReference
  readonly controllerName: string
  readonly conditions: readonly Condition[]
}

export interface RouteStatus {
  readonly parents: readonly RouteParentStatus[]
}

export interface BackendObjectReference {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
  readonly port?: number
}

export interface BackendReference extends BackendObjectReference {
  readonly weight?: number
  readonly filters?: readonly RouteFilter[]
}

interface HeaderValue {
  readonly name: string
  readonly value: string
}

export interface PathModifier {
  readonly type: string
  readonly replaceFullPath?: string
  readonly replacePrefixMatch?: string
}

export interface CorsFields {
  readonly allowOrigins?: readonly string[]
  readonly allowCredentials?: boolean
  readonly allowMethods?: readonly string[]
  readonly allowHeaders?: readonly string[]
  readonly exposeHeaders?: readonly string[]
  readonly maxAge?: number
}

/** `type` names the field that is set. */
export interface RouteFilter {
  readonly type: string
  readonly requestHeaderModifier?: HeaderModifier
  readonly responseHeaderModifier?: HeaderModifier
  readonly requestRedirect?: {
    readonly scheme?: string
    readonly hostname?: string
    readonly path?: PathModifier
    readonly port?: number
    readonly statusCode?: number
  }
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathModifier }
  readonly requestMirror?: {
    readonly backendRef: BackendObjectReference
    readonly percent?: number
    readonly fraction?: { readonly numerator: number; readonly denominator?: number }
  }
  readonly cors?: CorsFields
  readonly extensionRef?: { readonly group: string; readonly kind: string; readonly name: string }
}

export interface ValueMatchField extends HeaderValue {
  readonly type?: string
}

export interface HttpRouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string }
  readonly headers?: readonly ValueMatchField[]
  readonly queryParams?: readonly ValueMatchField[]
  readonly method?: string
}

interface RouteRuleFields {
  readonly name?: string
  readonly filters?: readonly RouteFilter[]
  readonly backendRefs?: readonly BackendReference[]
}

export interface HttpRouteRule extends RouteRuleFields {
  readonly matches?: readonly HttpRouteMatch[]
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string }
}

export interface GrpcRouteMatch {
  readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string }
  readonly headers?: readonly ValueMatchField[]
}

export interface GrpcRouteRule extends RouteRuleFields {
  readonly matches?: readonly GrpcRouteMatch[]
}

export interface TlsRouteRule extends Pick<RouteRuleFields, 'name' | 'backendRefs'> {}

interface RouteFields<Rule> {
  readonly spec: {
    readonly parentRefs?: readonly ParentReference[]
    readonly hostnames?: readonly string[]
    readonly rules?: readonly Rule[]
  }
  readonly status?: RouteStatus
}

export const httpRoute = customResource<RouteFields<HttpRouteRule>>(httpRouteDefinition)
export type HttpRoute = KindObject<typeof httpRoute>

export const grpcRoute = customResource<RouteFields<GrpcRouteRule>>(grpcRouteDefinition)
export type GrpcRoute = KindObject<typeof grpcRoute>

export const tlsRoute = customResource<RouteFields<TlsRouteRule>>(tlsRouteDefinition)
export type TlsRoute = KindObject<typeof tlsRoute>

export const routeKinds = ['GRPCRoute', 'HTTPRoute', 'TLSRoute'] as const
export type RouteKind = (typeof routeKinds)[number]

/** A route of any kind. */
export type AnyRoute =
  | { readonly kind: 'HTTPRoute'; readonly object: HttpRoute }
  | { readonly kind: 'GRPCRoute'; readonly object: GrpcRoute }
  | { readonly kind: 'TLSRoute'; readonly object: TlsRoute }
