// Project: custom resource definitions that belong together, and objects with the response to their strict dry run.
import type { CustomResourceDefinitionInput } from '../../../src/cluster/index.ts'
import { object, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'

export interface Sample {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string }
    readonly spec?: unknown
  }
  readonly status: number
  /** Of a response that is an error. */
  readonly message?: string
}

type NamedDefinition = CustomResourceDefinitionInput & { readonly metadata: { readonly name: string } }

export interface Project {
  readonly crds: readonly NamedDefinition[]
  readonly samples: readonly Sample[]
}

type Spec = CustomResourceDefinitionInput['spec']
type Version = NonNullable<Spec['versions']>[number]

export const definitionOf = (
  group: string,
  kind: string,
  scope: 'Cluster' | 'Namespaced',
  versions: readonly Version[],
  more: Partial<Pick<Spec, 'conversion'>> & { readonly shortNames?: readonly string[] } = {},
): NamedDefinition => {
  const { shortNames, ...spec } = more
  const singular = kind.toLowerCase()
  const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
  const names = { kind, listKind: `${kind}List`, plural, singular, ...(shortNames === undefined ? {} : { shortNames }) }
  return { metadata: { name: `${plural}.${group}` }, spec: { group, names, scope, versions, ...spec } }
}

/** The schema of a kind with the fields that every object has. */
export const kindSchema = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []) => ({
  openAPIV3Schema: object(
    { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...properties },
    required,
  ),
})

export const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true }
export const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } }
export const list = (items: Schema): Schema => ({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' })
export const time: Schema = { type: 'string', format: 'date-time' }
export const count: Schema = { type: 'integer', format: 'int32' }
