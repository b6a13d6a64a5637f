// Whether a ReferenceGrant permits a reference to an object in another namespace. Pure.
import type { ReferenceGrant } from '../kinds/gateway-kinds.ts'

export interface ReferenceFrom {
  readonly group: string
  readonly kind: string
  readonly namespace: string
}

export interface ReferenceTo {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The grants in a namespace. */
export type GrantsOf = (namespace: string) => readonly ReferenceGrant[]

/** References within a namespace need no grant. */
export const isPermitted = (grantsOf: GrantsOf, from: ReferenceFrom, to: ReferenceTo): boolean =>
  from.namespace === to.namespace ||
  grantsOf(to.namespace).some(
    (grant) =>
      grant.spec.from.some(
        ({ group, kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
      ) &&
      grant.spec.to.some(
        ({ group, kind, name = '' }) => group === to.group && kind === to.kind && (name === '' || name === to.name),
      ),
  )
