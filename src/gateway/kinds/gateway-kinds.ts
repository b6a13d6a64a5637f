// The types of GatewayClass, Gateway, ListenerSet and ReferenceGrant.
import { customResource, type KindObject } from '../../api/apiextensions/resource-type/custom-resource.ts'
import type { Condition } from '../../api/meta/v1/condition.ts'
import type { LabelSelector } from '../../api/meta/v1/label-selector.ts'
import { gatewayClassDefinition } from '../definitions/gateway-class.ts'
import { gatewayDefinition } from '../definitions/gateway.ts'
import { listenerSetDefinition } from '../definitions/listener-set.ts'
import { referenceGrantDefinition } from '../definitions/reference-grant.ts'

export interface GatewayClassFields {
  readonly spec: {
    readonly controllerName: string
    readonly description?: string
    readonly parametersRef?: { readonly group: string; readonly kind: string; readonly name: string }
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly supportedFeatures?: readonly { readonly name: string }[]
  }
}

export interface RouteGroupKind {
  readonly group?: string
  readonly kind: string
}

export interface SecretReference {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
}

export interface Listener {
  readonly name: string
  readonly hostname?: string
  readonly port: number
  readonly protocol: string
  readonly tls?: {
    readonly mode?: 'Terminate' | 'Passthrough'
    readonly certificateRefs?: readonly SecretReference[]
  }
  readonly allowedRoutes?: {
    readonly kinds?: readonly RouteGroupKind[]
    readonly namespaces?: { readonly from?: 'All' | 'Selector' | 'Same'; readonly selector?: LabelSelector }
  }
}

export interface GatewayAddress {
  readonly type?: string
  readonly value?: string
}

export interface ListenerStatus {
  readonly name: string
  readonly supportedKinds?: readonly RouteGroupKind[]
  readonly attachedRoutes: number
  readonly conditions: readonly Condition[]
}

export interface GatewayFields {
  readonly spec: {
    readonly gatewayClassName: string
    readonly listeners: readonly Listener[]
    readonly addresses?: readonly GatewayAddress[]
    readonly allowedListeners?: {
      readonly namespaces?: { readonly from?: 'All' | 'None' | 'Selector' | 'Same'; readonly selector?: LabelSelector }
    }
    readonly infrastructure?: {
      readonly labels?: Readonly<Record<string, string>>
      readonly annotations?: Readonly<Record<string, string>>
      readonly parametersRef?: { readonly group: string; readonly kind: string; readonly name: string }
    }
  }
  readonly status?: {
    readonly addresses?: readonly GatewayAddress[]
    readonly attachedListenerSets?: number
    readonly conditions?: readonly Condition[]
    readonly listeners?: readonly ListenerStatus[]
  }
}

export interface ListenerSetFields {
  readonly spec: {
    readonly parentRef: {
      readonly group?: string
      readonly kind?: string
      readonly namespace?: string
      readonly name: string
    }
    readonly listeners: readonly Listener[]
  }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly listeners?: readonly ListenerStatus[]
  }
}

export interface ReferenceGrantFields {
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[]
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[]
  }
}

export const gatewayClass = customResource<GatewayClassFields>(gatewayClassDefinition)
export type GatewayClass = KindObject<typeof gatewayClass>

export const gateway = customResource<GatewayFields>(gatewayDefinition)
export type Gateway = KindObject<typeof gateway>

export const listenerSet = customResource<ListenerSetFields>(listenerSetDefinition)
export type ListenerSet = KindObject<typeof listenerSet>

export const referenceGrant = customResource<ReferenceGrantFields>(referenceGrantDefinition)
export type ReferenceGrant = KindObject<typeof referenceGrant>
