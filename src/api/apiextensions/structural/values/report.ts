// Report: collects the errors of a value. Checks take none while it is enough to know whether a value is valid.
import { invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { JsonValue } from '../../../../schema/json/json-value.ts'
import type { PatternSearches } from './pattern-searches.ts'

/**
 * Whether a value is valid. With a report, all errors are added to it; without one, the first decides. `old` is the value that
 * this one replaces: an error in an unchanged part is not reported. Undefined: there is none, or it cannot be correlated.
 * Patterns are searched through `searches`.
 */
export type Check = (
  value: JsonValue,
  report: Report | undefined,
  old: JsonValue | undefined,
  searches: PatternSearches,
) => boolean

interface Finding {
  /** Equal for equal errors. The error's message may contain a large value. */
  readonly key: string
  readonly error: FieldError
}

export class Report {
  /** The path of the validated value; empty for an object of the API. */
  readonly #base: string
  /** The path of the current value, each step with its separator: `.spec.list[0]`; `..key` for a value of a map at the root. */
  #path: string
  #findings: Finding[] = []
  /** How much of the value the schema had something to say about: upstream explains the alternative with the most matches. */
  matches = 0

  constructor(base: string, path = '') {
    this.#base = base
    this.#path = path
  }

  /** The step to a value of a map. Upstream's name of the value has a dot at the root. */
  stepToValue(key: string): string {
    return this.#path === '' ? `..${key}` : `.${key}`
  }

  /** A report for an alternative, at the same position. */
  nested(): Report {
    return new Report(this.#base, this.#path)
  }

  /** The name of the value in messages. */
  get name(): string {
    return this.#path.startsWith('.') ? this.#path.slice(1) : this.#path
  }

  /** Each error once. */
  get errors(): FieldError[] {
    const seen = new Set<string>()
    return this.#findings.flatMap(({ key, error }) => {
      if (seen.has(key)) return []
      seen.add(key)
      return [error]
    })
  }

  /** Adds an error about the current value, or about a property of it. */
  add(detail: string, error: (field: string) => FieldError, property?: string): void {
    const path = property === undefined ? this.#path : `${this.#path}.${property}`
    this.#findings.push({ key: `${path}: ${detail}`, error: error(this.#field(path)) })
  }

  /** Adds an error without a field of its own: only its message names the value. */
  addGeneral(detail: string): void {
    this.#findings.push({ key: detail, error: invalid(this.#field(''), '', detail) })
  }

  addInvalid(value: unknown, detail: string): void {
    this.add(detail, (field) => invalid(field, value, detail))
  }

  merge(other: Report): void {
    for (const finding of other.#findings) this.#findings.push(finding)
    this.matches += other.matches
  }

  /** Counts a schema that is applied to a value. The numbers are upstream's. */
  visit(value: JsonValue): void {
    if (value !== null) this.matches += typeof value === 'number' || Array.isArray(value) ? 6 : 5
  }

  /** Checks a value below the current one. Errors in a value that is unchanged are dropped. */
  below(step: string, value: JsonValue, check: () => boolean, isUnchanged: () => boolean): boolean {
    this.visit(value)
    const size = this.#findings.length
    const path = this.#path
    this.#path = `${path}${step}`
    const isValid = check()
    this.#path = path
    if (isValid || !isUnchanged()) return isValid
    this.#findings.length = size
    return true
  }

  /** Upstream writes a path without steps as <nil>, and a dot before the index in a list that is a default. */
  #field(path: string): string {
    const isInList = this.#base !== '' && path.startsWith('[')
    const field = `${this.#base}${isInList ? '.' : ''}${path.startsWith('..') ? path.slice(1) : path}`
    return field === '' ? '<nil>' : field.startsWith('.') ? field.slice(1) : field
  }
}
