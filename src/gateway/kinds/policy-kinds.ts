// The type of BackendTLSPolicy.
import { customResource, type KindObject } from '../../api/apiextensions/resource-type/custom-resource.ts'
import type { Condition } from '../../api/meta/v1/condition.ts'
import { backendTlsPolicyDefinition } from '../definitions/backend-tls-policy.ts'
import type { ParentReference } from './route-kinds.ts'

export interface SubjectAltName {
  readonly type: string
  readonly hostname?: string
  readonly uri?: string
}

export interface PolicyAncestorStatus {
  readonly ancestorRef: ParentReference
  readonly controllerName: string
  readonly conditions: readonly Condition[]
}

export interface BackendTlsPolicyFields {
  readonly spec: {
    readonly targetRefs: readonly {
      readonly group: string
      readonly kind: string
      readonly name: string
      readonly sectionName?: string
    }[]
    readonly validation: {
      readonly caCertificateRefs?: readonly { readonly group: string; readonly kind: string; readonly name: string }[]
      readonly wellKnownCACertificates?: string
      readonly hostname: string
      readonly subjectAltNames?: readonly SubjectAltName[]
    }
  }
  readonly status?: { readonly ancestors: readonly PolicyAncestorStatus[] }
}

export const backendTlsPolicy = customResource<BackendTlsPolicyFields>(backendTlsPolicyDefinition)
export type BackendTlsPolicy = KindObject<typeof backendTlsPolicy>
