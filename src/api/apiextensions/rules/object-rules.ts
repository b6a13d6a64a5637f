// The x-kubernetes-validations of a custom resource: compiled when the first object is validated, evaluated for every object
// from the root down.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import type { FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { Correlation, isMapCorrelatable, oldItems } from './correlation.ts'
import { CostBudget } from './cost-budget.ts'
import type { RuleMeasures } from './rule-measures.ts'
import { ruleNode, type RuleNode } from './rule-node.ts'

/** The x-kubernetes-validations of a schema, compiled for objects. */
export interface ObjectRules {
  readonly isEmpty: boolean
  /**
   * The errors of all rules. With the old object, an error of a rule whose value has not changed is not returned: `warn`
   * gets it instead. Transition rules only apply to values that have an old value.
   */
  validate(
    object: JsonObject,
    old: JsonObject | undefined,
    warn: (error: FieldError) => void,
    slice: Slice,
  ): Sliced<FieldError[]>
}

export function objectRules(schema: JsonSchemaProps | undefined, measures?: RuleMeasures): ObjectRules {
  const isEmpty = schema === undefined || !hasRules(schema)
  let root: RuleNode | undefined
  return {
    isEmpty,
    *validate(object, old, warn, slice) {
      if (isEmpty) return []
      root ??= ruleNode(schema, true)
      if (root === undefined) return []
      const correlation = old === undefined ? undefined : new Correlation(schema, object, old)
      const place = { value: object, old, path: '', correlation, parent: undefined }
      return yield* new Validation(warn, slice, measures).errors(root, place)
    },
  }
}

/** The errors of the rules for a value at a path, such as a default. Transition rules do not apply to it. */
export function* ruleErrors(
  schema: JsonSchemaProps,
  isRoot: boolean,
  value: JsonValue,
  path: string,
  slice: Slice,
): Sliced<FieldError[]> {
  const node = hasRules(schema) ? ruleNode(schema, isRoot) : undefined
  if (node === undefined) return []
  const place = { value, old: undefined, path, correlation: undefined, parent: undefined }
  return yield* new Validation(() => undefined, slice).errors(node, place)
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

/** A value and its rules. */
interface Visit {
  readonly node: RuleNode
  readonly place: Place
}

class Validation {
  readonly #errors: FieldError[] = []
  readonly #budget = new CostBudget()
  readonly #warn: (error: FieldError) => void
  readonly #slice: Slice
  readonly #measures: RuleMeasures | undefined

  constructor(warn: (error: FieldError) => void, slice: Slice, measures?: RuleMeasures) {
    this.#warn = warn
    this.#slice = slice
    this.#measures = measures
  }

  /** Visits the value and then the values below it. They are on a stack, so that the validation can pause between any two. */
  *errors(node: RuleNode, place: Place): Sliced<FieldError[]> {
    const open: Iterator<Visit>[] = [[{ node, place }].values()]
    for (let visits = open.at(-1); visits !== undefined; visits = open.at(-1)) {
      const next = visits.next()
      if (next.done === true) {
        open.pop()
        continue
      }
      if (this.#budget.isSpent) break
      const visit = next.value
      // Rules see values that are not null; a rule of the enclosing value can check for null.
      if (visit.place.value === null) continue
      if (visit.node.rules !== undefined) yield* this.#rules(visit.node.rules, visit.place)
      const below = valuesBelow(visit)
      if (below !== undefined) open.push(below)
    }
    return this.#errors
  }

  *#rules(rules: NonNullable<RuleNode['rules']>, { value, old, path, correlation, parent }: Place): Sliced<void> {
    const failures = yield* rules.evaluate(value, old, path, this.#budget, this.#slice, this.#measures)
    for (const { error, isTransition } of failures) {
      const isUnchanged = !isTransition && ((correlation ?? parent)?.isEqual ?? false)
      if (isUnchanged) this.#warn(error)
      else this.#errors.push(error)
    }
  }
}

function valuesBelow({ node, place }: Visit): Iterator<Visit> | undefined {
  const { value } = place
  if (Array.isArray(value))
    return node.items === undefined ? undefined : itemsOf(node.items, node.schema, value as readonly JsonValue[], place)
  const hasNodes = node.properties.size > 0 || node.values !== undefined
  return isJsonObject(value) && hasNodes ? membersOf(node, value, place) : undefined
}

function* itemsOf(
  node: RuleNode,
  schema: JsonSchemaProps,
  list: readonly JsonValue[],
  { old, path, correlation, parent }: Place,
): Iterator<Visit> {
  if (list.length === 0) return
  const oldItemOf = Array.isArray(old) ? oldItems(schema, old as readonly JsonValue[]) : undefined
  for (const [index, value] of list.entries())
    yield {
      node,
      place: {
        value,
        old: oldItemOf?.(value),
        path: `${path}[${index}]`,
        correlation: correlation?.item(index),
        parent: correlation ?? parent,
      },
    }
}

function* membersOf({ values, properties, schema }: RuleNode, object: JsonObject, place: Place): Iterator<Visit> {
  const { path, correlation } = place
  const old = isMapCorrelatable(schema) && isJsonObject(place.old) ? place.old : undefined
  const member = (node: RuleNode, name: string, value: JsonValue, at: string): Visit => ({
    node,
    place: {
      value,
      old: lookup(old, name),
      path: at,
      correlation: correlation?.member(name),
      parent: correlation ?? place.parent,
    },
  })
  for (const [name, node] of properties) {
    const value = lookup(object, name)
    if (value !== undefined) yield member(node, name, value, path === '' ? name : `${path}.${name}`)
  }
  if (values === undefined) return
  for (const name of Object.keys(object)) {
    const value = lookup(object, name)
    if (value !== undefined) yield member(values, name, value, `${path}[${name}]`)
  }
}
