// Substitution: the types of an expression's type parameters.
import { dynType, isDyn, isNullable, type CelType } from '../types/cel-type.ts'

export class Substitution {
  readonly #bound = new Map<string, CelType>()
  /** What the current assignment has replaced, to undo it. */
  #replaced: (readonly [name: string, before: CelType | undefined])[] = []
  #count = 0

  /** A new, unbound parameter. */
  fresh(): CelType {
    return { kind: 'param', name: `_var${this.#count++}` }
  }

  /** Replaces declared parameters by new ones, the same for the same name. */
  instance(): (type: CelType) => CelType {
    const renamed = new Map<string, CelType>()
    return (type) =>
      rebuilt(type, (name) => {
        const known = renamed.get(name) ?? this.fresh()
        renamed.set(name, known)
        return known
      })
  }

  /** Replaces bound parameters by their types, and unbound ones by dyn if requested. */
  resolve(type: CelType, isFinal = false): CelType {
    return rebuilt(type, (name) => {
      const bound = this.#bound.get(name)
      if (bound !== undefined) return this.resolve(bound, isFinal)
      return isFinal ? dynType : { kind: 'param', name }
    })
  }

  /** Whether values of one type can be assigned to the other. Bindings of parameters are only stored if so. */
  assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    this.#replaced = []
    if (from.length === to.length && from.every((each, index) => this.#assignable(each, to[index] ?? dynType)))
      return true
    for (const [name, before] of this.#replaced.toReversed())
      if (before === undefined) this.#bound.delete(name)
      else this.#bound.set(name, before)
    return false
  }

  #set(name: string, type: CelType): void {
    this.#replaced.push([name, this.#bound.get(name)])
    this.#bound.set(name, type)
  }

  #assignable(from: CelType, to: CelType): boolean {
    if (to.kind === 'param') return this.#bind(to.name, from)
    if (from.kind === 'param') return this.#bind(from.name, to)
    if (isDyn(from) || isDyn(to)) return true
    if (from.kind === 'null' || to.kind === 'null') return isNullable(from) && isNullable(to)
    switch (to.kind) {
      case 'list':
        return from.kind === 'list' && this.#assignable(from.element, to.element)
      case 'map':
        return from.kind === 'map' && this.#assignable(from.key, to.key) && this.#assignable(from.value, to.value)
      case 'object':
        return from.kind === 'object' && from.name === to.name
      case 'type':
        return from.kind === 'type'
      case 'opaque':
        return (
          from.kind === 'opaque' &&
          from.name === to.name &&
          from.parameters.every((each, index) => this.#assignable(each, to.parameters[index] ?? dynType))
        )
      default:
        return from.kind === to.kind
    }
  }

  #bind(name: string, type: CelType): boolean {
    const bound = this.#bound.get(name)
    const other = type.kind === 'param' ? this.resolve(type) : type
    if (other.kind === 'param' && other.name === name) return true
    if (bound === undefined) {
      if (mentions(this.resolve(other), name)) return false
      this.#set(name, other)
      return true
    }
    if (!this.#assignable(other, bound)) return false
    // From here on the more general of the two types is bound.
    if (isMoreGeneral(other, bound)) this.#set(name, other)
    return true
  }
}

/** Whether a type is equal to another one or more general. dyn is the most general. */
export function isMoreGeneral(type: CelType, than: CelType): boolean {
  if (than.kind === 'null') return true
  if (isDyn(type)) return true
  switch (type.kind) {
    case 'list':
      return than.kind === 'list' && isMoreGeneral(type.element, than.element)
    case 'map':
      return than.kind === 'map' && isMoreGeneral(type.key, than.key) && isMoreGeneral(type.value, than.value)
    case 'opaque':
      return (
        than.kind === 'opaque' &&
        type.parameters.every((each, index) => isMoreGeneral(each, than.parameters[index] ?? dynType))
      )
    default:
      return type.kind === than.kind
  }
}

function rebuilt(type: CelType, replace: (name: string) => CelType): CelType {
  switch (type.kind) {
    case 'param':
      return replace(type.name)
    case 'list':
      return { ...type, element: rebuilt(type.element, replace) }
    case 'map':
      return { ...type, key: rebuilt(type.key, replace), value: rebuilt(type.value, replace) }
    case 'type':
      return type.of === undefined ? type : { ...type, of: rebuilt(type.of, replace) }
    case 'opaque':
      return type.parameters.length === 0
        ? type
        : { ...type, parameters: type.parameters.map((each) => rebuilt(each, replace)) }
    default:
      return type
  }
}

function mentions(type: CelType, name: string): boolean {
  let found = false
  rebuilt(type, (each) => {
    if (each === name) found = true
    return dynType
  })
  return found
}
