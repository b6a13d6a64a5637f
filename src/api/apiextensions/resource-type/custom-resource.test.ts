// Kinds of custom resources: their names, and the types that are derived from their schemas. The compiler checks the types.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceType } from '../../kind/kind.ts'
import type { ApiObject, ObjectMetaInput } from '../../meta/object.ts'
import { customResource, type KindInput, type KindObject } from './custom-resource.ts'

/** True where both types are the same, including `readonly` and optional fields. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const isTrue = <T extends true>(value: T): void => equal(value, true)

const spec = {
  type: 'object',
  required: ['size', 'mode'],
  properties: {
    size: { type: 'integer', minimum: 1 },
    mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
    replicas: { type: 'integer', default: 1 },
    ratio: { type: 'number' },
    paused: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    note: { type: 'string', nullable: true },
    tags: { type: 'array', items: { type: 'string' } },
    any: { type: 'array' },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, count: { type: 'integer' } },
      },
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
    open: {
      type: 'object',
      properties: { known: { type: 'string' } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    empty: { type: 'object' },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  },
} as const

const status = {
  type: 'object',
  properties: { ready: { type: 'boolean' }, conditions: { type: 'array', items: { type: 'object' } } },
} as const

const widget = customResource({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec, status } } },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { apiVersion: { type: 'string' }, metadata: { type: 'object' }, size: { type: 'string' } },
          },
        },
      },
      { name: 'v1alpha1', served: false, storage: false },
    ],
  },
})

interface WidgetSpec {
  readonly size: number
  readonly mode: 'fast' | 'safe'
  readonly replicas: number
  readonly ratio?: number
  readonly paused?: boolean
  readonly port?: number | string
  readonly note?: string | null
  readonly tags?: readonly string[]
  readonly any?: readonly unknown[]
  readonly parts?: readonly { readonly name: string; readonly count?: number }[]
  readonly labels?: Readonly<Record<string, string>>
  readonly anything?: unknown
  readonly open?: { readonly known?: string } & { readonly [field: string]: unknown }
  readonly free?: { readonly [field: string]: unknown }
  readonly empty?: Readonly<Record<string, never>>
  readonly template?: { readonly apiVersion: string; readonly kind: string } & { readonly [field: string]: unknown }
}
type WidgetInputSpec = Omit<WidgetSpec, 'mode' | 'replicas'> & Partial<Pick<WidgetSpec, 'mode' | 'replicas'>>

type Widget = KindObject<typeof widget>
type WidgetInput = KindInput<typeof widget>
type Both<A, B> = [A, B] extends [B, A] ? true : false

test('the fields of objects and inputs have the types of the schema', () => {
  isTrue<Both<Widget['spec'], WidgetSpec>>(true)
  isTrue<Both<Required<Widget['spec']>, Required<WidgetSpec>>>(true)
  isTrue<Both<WidgetInput['spec'], WidgetInputSpec>>(true)
  isTrue<Same<Widget['metadata'], ApiObject['metadata']>>(true)
  isTrue<Same<WidgetInput['metadata'], ObjectMetaInput>>(true)
  isTrue<Same<Widget['spec']['mode'], 'fast' | 'safe'>>(true)
  isTrue<Same<WidgetInput['spec']['mode'], 'fast' | 'safe' | undefined>>(true)
  isTrue<Same<NonNullable<Widget['status']>['ready'], boolean | undefined>>(true)
})

test('an input is checked: fields, required fields and enumerated values', () => {
  const valid: WidgetInput = { metadata: { name: 'a' }, spec: { size: 1 } }
  const read = ({ spec: { mode, replicas } }: Widget): string => `${mode} ${replicas.toFixed()}`
  // @ts-expect-error -- the size is required
  const noSize: WidgetInput = { metadata: {}, spec: {} }
  // @ts-expect-error -- there is no such mode
  const wrongMode: WidgetInput = { metadata: {}, spec: { size: 1, mode: 'slow' } }
  // @ts-expect-error -- there is no such field
  const wrongField: WidgetInput = { metadata: {}, spec: { size: 1, sise: 2 } }
  // @ts-expect-error -- the spec is required
  const noSpec: WidgetInput = { metadata: {} }
  // @ts-expect-error -- objects are read-only
  const change = ({ spec: of }: Widget): unknown => (of.size = 2)
  equal([valid, read, noSize, wrongMode, wrongField, noSpec, change].length, 7)
})

test('a version can be named; the storage version is the default', () => {
  const beta = customResource(widget.definition as typeof literal, 'v1beta1')
  isTrue<Same<KindObject<typeof beta>['size'], string | undefined>>(true)
  equal(beta.apiVersion, 'example.com/v1beta1')
  equal(widget.apiVersion, 'example.com/v1')
  throws(() => customResource(widget.definition, 'v2'), {
    message: 'widgets.example.com has no version v2; it has v1, v1beta1, v1alpha1',
  })
  throws(() => customResource(widget.definition, 'v1alpha1'), {
    message: 'version v1alpha1 of widgets.example.com is not served; name one that is',
  })
  // @ts-expect-error -- there is no such version
  throws(() => customResource(literal, 'v3'))
})

const literal = {
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'string' } } } },
      },
    ],
  },
} as const

test('types can be given instead, with the names or the definition of the kind', () => {
  interface Gadget {
    readonly spec: { readonly size: number }
    readonly status?: { readonly ready: boolean }
  }
  const byNames = customResource<Gadget>({ group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets' })
  const byDefinition = customResource<Gadget>(literal, 'v1beta1')
  isTrue<Same<KindObject<typeof byNames>['spec'], Gadget['spec']>>(true)
  isTrue<Same<KindObject<typeof byDefinition>['status'], Gadget['status']>>(true)
  isTrue<Same<KindInput<typeof byDefinition>['spec'], Gadget['spec']>>(true)
  const input: KindInput<typeof byNames> = { metadata: { name: 'a' }, spec: { size: 1 } }
  equal(input.status, undefined)
  deepEqual([byDefinition.namespaced, byNames.namespaced, byNames.singular], [false, true, 'gadget'])
  throws(() => customResource(literal), { message: 'gadgets.example.com has no storage version' })
})

test('without types, fields are unknown', () => {
  const bare = customResource({ group: 'example.com', version: 'v1', kind: 'Gadget', plural: 'gadgets' })
  isTrue<Same<KindObject<typeof bare>['metadata']['name'], string>>(true)
  isTrue<Same<KindObject<typeof bare>['spec'], unknown>>(true)
  const kinds: readonly ResourceType[] = [bare, widget]
  deepEqual(
    kinds.map(({ apiVersion, plural, shortNames }) => [apiVersion, plural, shortNames]),
    [
      ['example.com/v1', 'gadgets', []],
      ['example.com/v1', 'widgets', ['wd']],
    ],
  )
})

test('fields of a definition that is not a literal, as in an imported JSON file, are unknown', () => {
  const imported = structuredClone({
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  })
  const gadget = customResource(imported)
  isTrue<Same<KindObject<typeof gadget>['spec'], unknown>>(true)
  equal(gadget.kind, 'Gadget')
})
