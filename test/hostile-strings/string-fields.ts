// The string fields of a message, from its descriptor, and objects with another text in one of them.
import type { Message, Type } from '../../src/schema/descriptor/field.ts'

type Step = { readonly kind: 'field'; readonly name: string } | { readonly kind: 'element' | 'value' | 'key' }

export interface StringField {
  /** `spec.ports[].name`, `metadata.labels{}` for a value, `metadata.labels{key}` for a key. */
  readonly path: string
  readonly steps: readonly Step[]
}

/** Scalars that are strings in JSON. */
const stringScalars: ReadonlySet<Type> = new Set([
  'string',
  'bytes',
  'quantity',
  'duration',
  'intOrString',
  'time',
  'microTime',
])

/** A message that contains itself is entered once. */
export function stringFieldsOf(message: Message): readonly StringField[] {
  const found: StringField[] = []
  const visit = (type: Type, path: string, steps: readonly Step[], within: readonly Message[]): void => {
    if (typeof type === 'string') {
      if (stringScalars.has(type)) found.push({ path, steps })
    } else if (type.kind === 'list') visit(type.element, `${path}[]`, [...steps, { kind: 'element' }], within)
    else if (type.kind === 'map') {
      found.push({ path: `${path}{key}`, steps: [...steps, { kind: 'key' }] })
      visit(type.value, `${path}{}`, [...steps, { kind: 'value' }], within)
    } else if (!within.includes(type))
      for (const [name, field] of Object.entries(type.fields))
        visit(
          field.type,
          path === '' ? name : `${path}.${name}`,
          [...steps, { kind: 'field', name }],
          [...within, type],
        )
  }
  visit(message, '', [], [])
  return found
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** A copy of the object with the text in the field. Missing parents are made with their required fields. */
export const withText = (object: object, message: Message, { steps }: StringField, text: string): object =>
  changed(object as Json, message, steps, text) as object

function changed(value: Json | undefined, type: Type, steps: readonly Step[], text: string): Json {
  const [step, ...rest] = steps
  if (step === undefined) return text
  if (step.kind === 'field') {
    const { fields } = type as Message
    const record = recordOf(value) ?? sampleOf(type as Message)
    const next = fields[step.name]?.type ?? 'string'
    return { ...record, [step.name]: changed(record[step.name], next, rest, text) }
  }
  if (step.kind === 'element') {
    const list = Array.isArray(value) ? (value as readonly Json[]) : []
    const { element } = type as { readonly element: Type }
    // The element that has the field is changed: a volume of this type, a container with this kind of probe.
    const index = Math.max(
      0,
      list.findIndex((each) => hasField(each, rest)),
    )
    return list.length === 0
      ? [changed(undefined, element, rest, text)]
      : list.map((each, at) => (at === index ? changed(each, element, rest, text) : each))
  }
  const record = recordOf(value) ?? {}
  const [first = 'k'] = Object.keys(record)
  const { value: valueType } = type as { readonly value: Type }
  const sample = record[first] ?? (typeof valueType === 'string' ? 'x' : {})
  return step.kind === 'key'
    ? { ...record, [text]: sample }
    : { ...record, [first]: changed(record[first], valueType, rest, text) }
}

const recordOf = (value: Json | undefined): Readonly<Record<string, Json>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : undefined

function hasField(value: Json | undefined, [step, ...rest]: readonly Step[]): boolean {
  if (value === undefined) return false
  if (step === undefined) return true
  if (step.kind === 'field') return hasField(recordOf(value)?.[step.name], rest)
  return step.kind !== 'element' || (Array.isArray(value) && value.some((each) => hasField(each as Json, rest)))
}

/** Plausible values of required fields, by name. */
const hints: Readonly<Record<string, Json>> = {
  'HostPathVolumeSource.path': '/srv',
  'LocalVolumeSource.path': '/srv/local',
  'NFSVolumeSource.path': '/export',
  apiVersion: 'v1',
  cidr: '10.1.0.0/16',
  fieldPath: 'metadata.name',
  ip: '10.1.0.9',
  mountPath: '/made',
  resource: 'limits.cpu',
}

function sampleOf({ name: message, fields }: Message): Readonly<Record<string, Json>> {
  const own = message.slice(message.lastIndexOf('.') + 1)
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { presence, type, default: defaulted }]): [string, Json][] => {
      if (presence === 'defaulted') return [[name, defaulted as Json]]
      if (presence !== 'required' && presence !== 'always') return []
      return [[name, hints[`${own}.${name}`] ?? hints[name] ?? sampleOfType(type)]]
    }),
  )
}

function sampleOfType(type: Type): Json {
  if (typeof type !== 'string') return type.kind === 'list' ? [] : type.kind === 'map' ? {} : sampleOf(type)
  switch (type) {
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 80
    case 'time':
    case 'microTime':
      return '2030-01-01T00:00:00Z'
    case 'quantity':
      return '1'
    case 'duration':
      return '1s'
    default:
      return 'x'
  }
}
