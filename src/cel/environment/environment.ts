// Environment: the variables, functions and types that an expression can refer to.
import type { Functions, Overload } from './function.ts'
import { type CelType, runtimeTypeName, typeOf } from '../types/cel-type.ts'
import type { Dialect } from '../syntax/dialect.ts'
import { TypeValue, type Value, type MapValue } from '../values/value.ts'

/** A type that can be constructed with `Name{field: value}`. */
export interface StructType {
  readonly type: CelType
  fieldType(name: string): CelType | undefined
  create(fields: ReadonlyMap<string, Value>): MapValue
}

export interface EnvironmentOptions {
  readonly functions: readonly Functions[]
  readonly variables?: Readonly<Record<string, CelType>>
  /** Types that an expression can refer to, as in `type(x) == int`. */
  readonly namedTypes?: readonly CelType[]
  readonly structs?: (name: string) => StructType | undefined
  readonly container?: string
  readonly dialect?: Dialect
}

export interface Constant {
  readonly type: CelType
  readonly value: Value
}

export class Environment {
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  readonly dialect: Dialect
  readonly #options: EnvironmentOptions
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #constants: ReadonlyMap<string, Constant>

  /** An extended environment shares the functions and constants of its base. */
  constructor(options: EnvironmentOptions, base?: Environment) {
    this.#options = options
    this.dialect = options.dialect ?? 'standard'
    this.functions =
      base !== undefined && base.#options.functions.length === options.functions.length
        ? base.functions
        : functionsOf(options.functions)
    this.#variables = new Map(Object.entries(options.variables ?? {}))
    this.#constants =
      base !== undefined && base.#options.namedTypes === options.namedTypes
        ? base.#constants
        : constantsOf(options.namedTypes ?? [])
  }

  /** The environment with additional or replaced variables. */
  with(variables: Readonly<Record<string, CelType>>, more: Partial<EnvironmentOptions> = {}): Environment {
    return new Environment(
      {
        ...this.#options,
        ...more,
        functions: [...this.#options.functions, ...(more.functions ?? [])],
        variables: { ...this.#options.variables, ...variables },
      },
      this,
    )
  }

  /** The variable that a name refers to, from the container outwards. */
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

function functionsOf(tables: readonly Functions[]): ReadonlyMap<string, readonly Overload[]> {
  const functions = new Map<string, Overload[]>()
  for (const table of tables)
    for (const [name, overloads] of Object.entries(table))
      functions.set(name, [...(functions.get(name) ?? []), ...overloads])
  return functions
}

const constantsOf = (types: readonly CelType[]): ReadonlyMap<string, Constant> =>
  new Map(
    types.map((type) => {
      const name = runtimeTypeName(type)
      return [name, { type: typeOf(type), value: new TypeValue(name) }]
    }),
  )
