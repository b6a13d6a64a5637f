// ConfigReader: reads configuration files of the API server. Unknown fields and wrong types are errors that name the
// path.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** One object of a configuration. rejectUnknownFields() rejects the fields that were not read. */
export class ConfigReader {
  readonly path: string
  readonly #value: Readonly<Record<string, unknown>>
  readonly #fieldsRead = new Set<string>()

  constructor(value: unknown, path = '') {
    if (!isJsonObject(value)) throw new ConfigError(`${path === '' ? 'the configuration' : path} must be an object`)
    this.#value = value
    this.path = path
  }

  string(name: string, fallback?: string): string {
    return this.#typed(name, fallback, (value) => typeof value === 'string', 'a string')
  }

  boolean(name: string, fallback: boolean): boolean {
    return this.#typed(name, fallback, (value) => typeof value === 'boolean', 'true or false')
  }

  strings(name: string, fallback?: readonly string[]): readonly string[] {
    const isTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string')
    return this.#typed(name, fallback, isTexts, 'a list of strings')
  }

  /** A duration in Go's format: `5m30s`. */
  milliseconds(name: string, fallback: number): number {
    const string = this.string(name, '')
    if (string === '') return fallback
    const found = durationMs(string)
    if (found === undefined) throw this.error(name, `${JSON.stringify(string)} is not a duration`)
    return found
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback?: T): T {
    const string = this.string(name, fallback)
    const found = choices.find((choice) => choice === string)
    if (found === undefined) throw this.error(name, `${JSON.stringify(string)} is none of ${choices.join(', ')}`)
    return found
  }

  object(name: string): ConfigReader | undefined {
    const value = this.#take(name)
    return value === undefined ? undefined : new ConfigReader(value, this.#at(name))
  }

  objects(name: string): readonly ConfigReader[] {
    const value = this.#take(name) ?? []
    if (!Array.isArray(value)) throw this.error(name, 'must be a list')
    return value.map((each, index) => new ConfigReader(each, `${this.#at(name)}[${index}]`))
  }

  rejectUnknownFields(): void {
    for (const name of Object.keys(this.#value))
      if (!this.#fieldsRead.has(name)) throw this.error(name, 'is not a known field')
  }

  error(name: string, why: string): ConfigError {
    return new ConfigError(`${this.#at(name)} ${why}`)
  }

  #at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  #take(name: string): unknown {
    this.#fieldsRead.add(name)
    return lookup(this.#value, name) ?? undefined
  }

  #typed<T>(name: string, fallback: T | undefined, isRight: (value: unknown) => boolean, what: string): T {
    const value = this.#take(name) ?? fallback
    if (value === undefined) throw this.error(name, 'is required')
    if (!isRight(value)) throw this.error(name, `must be ${what}`)
    return value as T
  }
}

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

export function durationMs(string: string): number | undefined {
  if (!/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(string)) return undefined
  return [...string.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/gy)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (lookup(unitsMs, unit) ?? 0),
    0,
  )
}
