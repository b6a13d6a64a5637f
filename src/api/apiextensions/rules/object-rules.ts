// The x-kubernetes-validations of a custom resource: compiled when the first object is validated, evaluated for every object
// from the root down.
import { lookup } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import type { FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { Correlation, isMapCorrelatable, oldItems } from './correlation.ts'
import { CostBudget } from './cost-budget.ts'
import { ruleNode, type RuleNode } from './rule-node.ts'

/** The x-kubernetes-validations of a schema, compiled for objects. */
export interface ObjectRules {
  readonly isEmpty: boolean
  /**
   * The errors of all rules. With the old object, an error of a rule whose value has not changed is not returned: `warn`
   * gets it instead. Transition rules only apply to values that have an old value.
   */
  validate(object: JsonObject, old?: JsonObject, warn?: (error: FieldError) => void): FieldError[]
}

export function objectRules(schema: JsonSchemaProps | undefined): ObjectRules {
  const isEmpty = schema === undefined || !hasRules(schema)
  let root: RuleNode | undefined
  return {
    isEmpty,
    validate(object, old, warn = () => undefined) {
      if (isEmpty) return []
      root ??= ruleNode(schema, true)
      if (root === undefined) return []
      const validation = new Validation(warn)
      const correlation = old === undefined ? undefined : new Correlation(schema, object, old)
      validation.node(root, { value: object, old, path: '', correlation, parent: undefined })
      return validation.errors
    },
  }
}

/** The errors of the rules for a value at a path, such as a default. Transition rules do not apply to it. */
export function ruleErrors(schema: JsonSchemaProps, isRoot: boolean, value: JsonValue, path: string): FieldError[] {
  const node = hasRules(schema) ? ruleNode(schema, isRoot) : undefined
  if (node === undefined) return []
  const validation = new Validation(() => undefined)
  validation.node(node, { value, old: undefined, path, correlation: undefined, parent: undefined })
  return validation.errors
}

/** Whether a schema or a schema below it has rules. */
export function hasRules(schema: JsonSchemaProps): boolean {
  const { items, properties = {}, additionalProperties: values } = schema
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true
  if (isSchema(items) && hasRules(items)) return true
  if (isSchema(values) && hasRules(values)) return true
  return Object.values(properties).some(hasRules)
}

const isSchema = (part: unknown): part is JsonSchemaProps => isJsonObject(part)

/** A value, its old value, and how both relate. */
interface Place {
  readonly value: JsonValue
  readonly old: JsonValue | undefined
  readonly path: string
  /** undefined: the value has no corresponding old value. */
  readonly correlation: Correlation | undefined
  /** The correlation of the nearest value above that has one. */
  readonly parent: Correlation | undefined
}

class Validation {
  readonly errors: FieldError[] = []
  readonly #budget = new CostBudget()
  readonly #warn: (error: FieldError) => void

  constructor(warn: (error: FieldError) => void) {
    this.#warn = warn
  }

  node(node: RuleNode, place: Place): void {
    const { value } = place
    // Rules see values that are not null; a rule of the enclosing value can check for null.
    if (value === null || this.#budget.isSpent) return
    if (node.rules !== undefined) this.#rules(node.rules, place)
    if (Array.isArray(value)) this.#items(node, value as readonly JsonValue[], place)
    else if (isJsonObject(value)) this.#members(node, value, place)
  }

  #rules(rules: NonNullable<RuleNode['rules']>, { value, old, path, correlation, parent }: Place): void {
    for (const { error, isTransition } of rules.evaluate(value, old, path, this.#budget)) {
      const isUnchanged = !isTransition && ((correlation ?? parent)?.isEqual ?? false)
      if (isUnchanged) this.#warn(error)
      else this.errors.push(error)
    }
  }

  #items({ items, schema }: RuleNode, list: readonly JsonValue[], { old, path, correlation, parent }: Place): void {
    if (items === undefined || list.length === 0) return
    const olds = Array.isArray(old) ? oldItems(schema, old as readonly JsonValue[]) : undefined
    for (const [index, value] of list.entries())
      this.node(items, {
        value,
        old: olds?.(value),
        path: `${path}[${index}]`,
        correlation: correlation?.item(index),
        parent: correlation ?? parent,
      })
  }

  #members({ values, properties, schema }: RuleNode, object: JsonObject, place: Place): void {
    const { path, correlation } = place
    const old = isMapCorrelatable(schema) && isJsonObject(place.old) ? place.old : undefined
    const member = (node: RuleNode, name: string, value: JsonValue, at: string): void =>
      this.node(node, {
        value,
        old: lookup(old, name),
        path: at,
        correlation: correlation?.member(name),
        parent: correlation ?? place.parent,
      })
    for (const [name, node] of properties) {
      const value = lookup(object, name)
      if (value !== undefined) member(node, name, value, path === '' ? name : `${path}.${name}`)
    }
    if (values === undefined) return
    for (const name of Object.keys(object)) {
      const value = lookup(object, name)
      if (value !== undefined) member(values, name, value, `${path}[${name}]`)
    }
  }
}
