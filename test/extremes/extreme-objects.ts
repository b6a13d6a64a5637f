// Extreme objects: for every field of a base object that is a number, the largest number; for every list and map, as many
// elements as fit into an object. Which of them are valid decides the server.
import type { Field, ListType, MapType, Message, Type } from '../../src/schema/descriptor/field.ts'
import type { BaseObject } from './base-objects.ts'

/** Below the 1.5 MiB that an object may have, with what the server adds. */
const objectBytesMax = 900_000
const int32Max = 2_147_483_647
const int64Max = Number.MAX_SAFE_INTEGER

/** One way to make an object extreme: the object with `count` elements in a field, or with the largest number. */
export interface Extreme {
  readonly base: BaseObject
  /** `spec.replicas`, `spec.template.spec.containers[0].env` */
  readonly path: string
  /** How many elements to try, most first; one entry for a number. */
  readonly counts: readonly number[]
  bodyWith(count: number): object
}

type Path = readonly (string | number)[]
type Json = Readonly<Record<string, unknown>>

/** Fields that the server ignores or sets, and templates: their fields are those of a Pod. */
const ignored = new Set([
  'template',
  'jobTemplate',
  'status',
  'managedFields',
  'generation',
  'deletionGracePeriodSeconds',
  'resourceVersion',
])

export function extremesOf(base: BaseObject): readonly Extreme[] {
  const found: Extreme[] = []
  const metadata = { name: 'x', labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: [], ownerReferences: [] }
  const body = { ...base.body, metadata: { ...metadata, ...(base.body['metadata'] as object | undefined) } }
  walk(base.kind.message, body, [], (path, field) => {
    const { type } = field
    const shown = path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1)
    const at = (value: unknown) => withValue(body, path, value) as object
    if (type === 'int32' || type === 'int64') {
      const most = Math.min(field.maximum ?? Infinity, type === 'int32' ? int32Max : int64Max)
      return void found.push({ base, path: shown, counts: [most], bodyWith: at })
    }
    if (typeof type === 'string' || type.kind === 'message') return
    const elementOf = elementMaker(type, field, valueAt(body, path), path)
    const bytes = JSON.stringify(elementOf(123_456)).length + 1
    const most = Math.floor(objectBytesMax / bytes)
    const counts = [most, 20_000, 2_000, 250, 60, 16].filter((count) => count <= most)
    const bodyWith = (count: number) => {
      const elements = Array.from({ length: count }, (_, index) => elementOf(index))
      return at(type.kind === 'list' ? elements : Object.fromEntries(elements as [string, unknown][]))
    }
    found.push({ base, path: shown, counts, bodyWith })
  })
  return found
}

/** Calls back for every field of the messages that the value has. */
function walk(message: Message, value: Json, path: Path, visit: (path: Path, field: Field) => void): void {
  for (const [name, field] of Object.entries<Field>(message.fields)) {
    if (ignored.has(name) || (path.length === 0 && ['apiVersion', 'kind'].includes(name))) continue
    const at = [...path, name]
    visit(at, field)
    const { type } = field
    const own = value[name]
    if (typeof own !== 'object' || own === null || typeof type === 'string') continue
    if (type.kind === 'message') walk(type, own as Json, at, visit)
    else if (type.kind === 'list' && typeof type.element === 'object' && type.element.kind === 'message') {
      const [first] = own as Json[]
      if (typeof first === 'object') walk(type.element, first, [...at, 0], visit)
    }
  }
}

/** Makes the elements of a list, or the entries of a map, from the first one, or from the schema where there is none. */
function elementMaker(type: ListType | MapType, field: Field, value: unknown, path: Path) {
  if (type.kind === 'map') {
    const [first] = Object.values((value ?? {}) as Json)
    return (index: number): unknown => [`k${index}`, first ?? emptyOf(type.value, 'v')]
  }
  const sample = (value as unknown[] | undefined)?.[0] ?? emptyOf(type.element, String(path.at(-1)))
  return (index: number): unknown => distinct(sample, index, new Set(field.keys))
}

const numbered =
  /^(?:name|key|uid|host|hosts|ip|port|containerPort|mountPath|path|secretName|value|topologyKey|nodeID)$/

/** The sample with a different text or number in its identifying fields. */
function distinct(sample: unknown, index: number, keys: ReadonlySet<string>): unknown {
  if (typeof sample === 'string') return numberedText(sample, index)
  if (typeof sample === 'number') return sample + index
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) return sample
  return Object.fromEntries(
    Object.entries(sample).map(([name, value]) => {
      if (!keys.has(name) && !numbered.test(name)) return [name, value]
      if (typeof value === 'number') return [name, 1 + (index % 65_535)]
      return [name, typeof value === 'string' ? numberedText(value, index) : value]
    }),
  )
}

/** Another address, path, host name or name. */
function numberedText(text: string, index: number): string {
  const address = /^\d+\.\d+\.\d+\.\d+(\/\d+)?$/.exec(text)
  if (address !== null)
    return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}${address[1] ? '/32' : ''}`
  if (text.includes('.')) return `x${index}.${text}`
  return `${text}${index}`
}

/** The smallest value of a type: a message has its required fields only. */
function emptyOf(type: Type, name: string): unknown {
  if (typeof type === 'string') return scalars[type] ?? name.toLowerCase().slice(0, 8)
  if (type.kind === 'list') return []
  if (type.kind === 'map') return {}
  const required = Object.entries<Field>(type.fields).filter(
    ([fieldName, { required: isRequired, notEmpty }]) => isRequired || notEmpty || fieldName === 'name',
  )
  return Object.fromEntries(
    required.map(([fieldName, each]) => [fieldName, each.enum?.[0] ?? emptyOf(each.type, fieldName)]),
  )
}

const scalars: Readonly<Record<string, unknown>> = {
  bool: true,
  int32: 1,
  int64: 1,
  double: 1,
  bytes: 'eA==',
  quantity: '1',
  duration: '1s',
  intOrString: 1,
  time: '2030-01-01T00:00:00Z',
  microTime: '2030-01-01T00:00:00.000000Z',
  rawExtension: {},
  json: {},
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, step) => (at as Record<string | number, unknown> | undefined)?.[step], value)

function withValue(value: unknown, path: Path, next: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return next
  if (Array.isArray(value)) return value.map((each, index) => (index === step ? withValue(each, rest, next) : each))
  const own = (value ?? {}) as Record<string, unknown>
  return { ...own, [step]: withValue(own[step], rest, next) }
}
