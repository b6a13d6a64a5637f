// The types of the kinds as named interfaces, generated from the schema: the compiler's own declarations of them are
// derived types, which editors show as pages of conditional types.

const scalarTypes = {
  bool: 'boolean',
  bytes: 'string',
  double: 'number',
  duration: 'string',
  fieldsV1: 'unknown',
  int32: 'number',
  int64: 'number | bigint',
  intOrString: 'number | string',
  json: 'unknown',
  microTime: 'string',
  quantity: 'string',
  rawExtension: 'unknown',
  string: 'string',
  time: 'string',
}

/** Groups whose messages get the plain name when several have the same one. */
const groupOrder = ['io.k8s.apimachinery', 'io.k8s.api.core.', 'io.k8s.api.apps.', 'io.k8s.api.batch.']

/**
 * `kinds`: pairs of the name of an exported constant and its kind; `others`: messages in addition to those of the
 * kinds. Returns the text and the names that it declares.
 */
export function kindTypes(kinds, objectMeta, others) {
  const types = new KindTypes(kinds, objectMeta, others)
  const text = types.declarations(kinds)
  const names = text.matchAll(/^export (?:interface|type|declare const) (\w+)/gm).map(([, name]) => name)
  return { text, names: [...names] }
}

/** The kind's own name, or the constant's if it is more specific: `eventsEvent` is not the Event of the core group. */
const typeNameOf = (constant, { kind }) => (constant.toLowerCase() === kind.toLowerCase() ? kind : capital(constant))

class KindTypes {
  #objectMeta
  #names = new Map()
  #differs = new Map()
  /** Messages of kinds, and those that they contain. */
  #tops
  #embedded = new Set()

  constructor(kinds, objectMeta, more) {
    this.#objectMeta = objectMeta
    const messages = new Map()
    for (const message of [...more, ...kinds.map(([, kind]) => kind.message)]) collect(message, messages)
    const rank = ({ name }) => groupOrder.findIndex((group) => name.startsWith(group)) + 1 || groupOrder.length + 1
    const typeNames = kinds.map(([constant, kind]) => typeNameOf(constant, kind))
    const taken = new Set(typeNames.flatMap((name) => [name, `${name}Input`]).concat('ObjectMeta', 'Kind'))
    for (const [index, [, kind]] of kinds.entries()) this.#names.set(kind.message, typeNames[index])
    this.#tops = new Set(this.#names.keys())
    this.#names.set(objectMeta, 'ObjectMetaInput')
    const others = [...messages.values()].filter((message) => !this.#names.has(message))
    for (const message of others.toSorted((a, b) => rank(a) - rank(b))) {
      const [version, plain] = message.name.split('.').slice(-2)
      const group = message.name.split('.').at(-3)
      const name = [plain, `${capital(group)}${plain}`, `${capital(group)}${capital(version)}${plain}`].find(
        (each) => !taken.has(each) && !taken.has(`${each}Input`),
      )
      taken.add(name)
      taken.add(`${name}Input`)
      this.#names.set(message, name)
    }
  }

  declarations(kinds) {
    const lines = [...this.#objectMetaLines()]
    for (const [message, name] of this.#names) {
      if (this.#tops.has(message) || message === this.#objectMeta) continue
      lines.push(...this.#interface(message, name, 'object'))
      if (this.#hasInput(message)) lines.push(...this.#interface(message, `${name}Input`, 'input'))
    }
    for (const [constant, kind] of kinds) {
      const name = typeNameOf(constant, kind)
      const { metadata: _, ...fields } = kind.message.fields
      lines.push(...this.#interface({ ...kind.message, fields }, `${name} extends ApiObject`, 'object'))
      const withMetadata = [...typed, 'readonly metadata: ObjectMetaInput']
      lines.push(...this.#interface({ ...kind.message, fields }, `${name}Input`, 'input', withMetadata))
      lines.push(`export declare const ${constant}: Kind<${name}, ${name}Input>`)
    }
    for (const message of this.#embedded) {
      const name = `Embedded${this.#names.get(message)}`
      lines.push(...this.#interface(message, name, 'object', typed))
      lines.push(...this.#interface(message, `${name}Input`, 'input', typed))
    }
    return lines.join('\n')
  }

  #objectMetaLines() {
    return [
      ...this.#interface(this.#objectMeta, 'ObjectMetaInput', 'input'),
      '/** The metadata of an object that the API server has stored. */',
      'export interface ObjectMeta extends ObjectMetaInput {',
      ...['name', 'uid', 'resourceVersion', 'creationTimestamp'].map((field) => `  readonly ${field}: string`),
      '}',
    ]
  }

  #interface({ fields, description, isChoice }, name, form, first = []) {
    const comment = description ? [commentOf(description)] : []
    if (isChoice) {
      const choices = Object.values(fields).map(({ type }) => this.#type(type, form))
      return [...comment, `export type ${name} = ${choices.join(' | ')}`]
    }
    return [
      ...comment,
      `export interface ${name} {`,
      ...first.map((line) => `  ${line}`),
      ...Object.entries(fields).flatMap(([field, one]) => this.#field(field, one, form)),
      '}',
    ]
  }

  #field(name, field, form) {
    const presence = presenceOf(field)
    const isThere =
      presence === 'required' || (form === 'object' && (presence === 'always' || presence === 'defaulted'))
    const type = this.#valueType(field, form)
    const comment = field.description ? [`  ${commentOf(field.description)}`] : []
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    const whole = presence === 'nullable' ? `${type} | null` : type
    return [...comment, `  readonly ${key}${isThere ? '' : '?'}: ${whole}`]
  }

  #valueType(field, form) {
    const hasValues = typeof field.type === 'string' && field.enum !== undefined && !field.enumUnchecked
    if (hasValues) return field.enum.map((value) => JSON.stringify(value)).join(' | ')
    return field.fitsDouble ? 'number' : this.#type(field.type, form)
  }

  #type(type, form) {
    if (typeof type === 'string') return scalarTypes[type]
    if (type.kind === 'list') return `readonly ${grouped(this.#type(type.element, form))}[]`
    if (type.kind === 'map') return `Readonly<Record<string, ${this.#type(type.value, form)}>>`
    const isEmbedded = this.#tops.has(type)
    if (isEmbedded) this.#embedded.add(type)
    const name = `${isEmbedded ? 'Embedded' : ''}${this.#names.get(type)}`
    return form === 'input' && this.#hasInput(type) ? `${name}Input` : name
  }

  /** Whether the input type differs from the stored type: a field of it has a default. */
  #hasInput(message) {
    const known = this.#differs.get(message)
    if (known !== undefined) return known
    this.#differs.set(message, false)
    const differs = Object.values(message.fields).some((field) => {
      const presence = presenceOf(field)
      const inner = innerMessage(field.type)
      return presence === 'always' || presence === 'defaulted' || (inner !== undefined && this.#hasInput(inner))
    })
    this.#differs.set(message, differs)
    return differs
  }
}

const typed = ['readonly apiVersion?: string', 'readonly kind?: string']

// A description may contain the end of a comment, as in `*/status`.
const commentOf = (text) => `/** ${text.replaceAll('*/', '*\\/')} */`

/** As the compiler derives it (schema/field.ts). */
function presenceOf({ type, required, default: usual, pointer, keepEmpty, omitEmpty }) {
  if (typeof type === 'object' && type.kind === 'list' && keepEmpty) return 'nullable'
  if (required) return 'required'
  if (type === 'time' || type === 'microTime') return pointer || omitEmpty ? 'optional' : 'nullable'
  const isStruct = typeof type === 'object' && type.kind === 'message'
  if (usual !== undefined) return 'defaulted'
  if (pointer && keepEmpty) return 'nullable'
  return isStruct && !pointer ? 'always' : 'optional'
}

const innerMessage = (type) =>
  typeof type === 'string' ? undefined : type.kind === 'message' ? type : innerMessage(type.element ?? type.value)

function collect(message, found) {
  if (found.has(message.name)) return
  found.set(message.name, message)
  for (const { type } of Object.values(message.fields)) {
    const inner = innerMessage(type)
    if (inner !== undefined) collect(inner, found)
  }
}

const capital = (text) => text[0].toUpperCase() + text.slice(1)
const grouped = (type) => (type.includes(' | ') ? `(${type})` : type)
