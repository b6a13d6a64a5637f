// Environment: what an expression may name: variables, functions, types that it may construct.
import type { Functions, Overload } from './function.ts'
import { type CelType, runtimeTypeName, typeOf } from './type.ts'
import { TypeValue, type Value, type MapValue } from './values/value.ts'

/** A type that `Name{field: value}` makes. */
export interface StructType {
  readonly type: CelType
  fieldType(name: string): CelType | undefined
  create(fields: ReadonlyMap<string, Value>): MapValue
}

export interface EnvironmentOptions {
  readonly functions: readonly Functions[]
  readonly variables?: Readonly<Record<string, CelType>>
  /** Types that an expression may name, as in `type(x) == int`. */
  readonly namedTypes?: readonly CelType[]
  readonly structs?: (name: string) => StructType | undefined
  readonly container?: string
  /** Elements of a list literal must be of one type, as Kubernetes demands. */
  readonly isHomogeneous?: boolean
}

export interface Constant {
  readonly type: CelType
  readonly value: Value
}

export class Environment {
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  readonly isHomogeneous: boolean
  readonly #options: EnvironmentOptions
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #constants: ReadonlyMap<string, Constant>

  constructor(options: EnvironmentOptions) {
    this.#options = options
    this.isHomogeneous = options.isHomogeneous ?? false
    const functions = new Map<string, Overload[]>()
    for (const table of options.functions)
      for (const [name, overloads] of Object.entries(table))
        functions.set(name, [...(functions.get(name) ?? []), ...overloads])
    this.functions = functions
    this.#variables = new Map(Object.entries(options.variables ?? {}))
    this.#constants = new Map(
      (options.namedTypes ?? []).map((type) => {
        const name = runtimeTypeName(type)
        return [name, { type: typeOf(type), value: new TypeValue(name) }]
      }),
    )
  }

  /** The same, with more or other variables. */
  with(variables: Readonly<Record<string, CelType>>, more: Partial<EnvironmentOptions> = {}): Environment {
    return new Environment({
      ...this.#options,
      ...more,
      functions: [...this.#options.functions, ...(more.functions ?? [])],
      variables: { ...this.#options.variables, ...variables },
    })
  }

  /** The variable that a name means, from the inside of the container outwards. */
  variable(name: string): { readonly name: string; readonly type: CelType } | undefined {
    for (const candidate of this.#candidates(name)) {
      const type = this.#variables.get(candidate)
      if (type !== undefined) return { name: candidate, type }
    }
    return undefined
  }

  constant(name: string): Constant | undefined {
    for (const candidate of this.#candidates(name)) {
      const found = this.#constants.get(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  overloads(name: string): readonly Overload[] | undefined {
    for (const candidate of this.#candidates(name)) {
      const found = this.functions.get(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  struct(name: string): StructType | undefined {
    for (const candidate of this.#candidates(name)) {
      const found = this.#options.structs?.(candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  get container(): string {
    return this.#options.container ?? ''
  }

  #candidates(name: string): readonly string[] {
    if (name.startsWith('.')) return [name.slice(1)]
    if (this.container === '') return [name]
    const parts = this.container.split('.')
    return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join('.')}.${name}`), name]
  }
}
