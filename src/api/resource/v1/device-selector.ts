// Device selectors: expressions over the driver, attributes and capacity of a device.
import { estimateCost } from '../../../cel/cost/estimate.ts'
import { Quantity, quantityType } from '../../../cel/library/kubernetes/quantity-functions.ts'
import { parseSemver } from '../../../cel/library/kubernetes/semver-functions.ts'
import type { Program } from '../../../cel/program.ts'
import { CostLimitError } from '../../../cel/run/evaluation-frame.ts'
import { boolType, dynType, mapOf, objectType, stringType } from '../../../cel/types/cel-type.ts'
import { EvalError } from '../../../cel/values/eval-error.ts'
import { LiteralMap } from '../../../cel/values/map-value.ts'
import { MapValue, type Value } from '../../../cel/values/value.ts'
import { forbidden, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import { compileExpression } from '../../expressions/compile-expression.ts'
import { apiEnvironment } from '../../expressions/api-environment.ts'
import type { Device, DeviceAttribute } from './resource-slice-spec.ts'

const costMax = 1_000_000
/** The maximum sizes of a device's attributes, for cost estimates. */
const attributesMax = 32
const textMax = 64

const key = { ...stringType, maxElements: textMax }
const deviceType = objectType('kubernetes.DRADevice', {
  driver: key,
  attributes: {
    ...mapOf(key, { ...mapOf(key, { ...dynType, maxElements: textMax }), maxElements: attributesMax }),
    maxElements: attributesMax,
  },
  capacity: { ...mapOf(key, { ...mapOf(key, quantityType), maxElements: attributesMax }), maxElements: attributesMax },
  allowMultipleAllocations: boolType,
})
const environment = apiEnvironment.with({ device: deviceType }, { dialect: 'kubernetesWithBind' })

type CompiledSelector = Program | string

/** A cache: selectors are few and are evaluated for every device. */
const keptMax = 512
const kept = new Map<string, CompiledSelector>()

/** The program, or the error of the expression. */
function compiledSelector(expression: string): CompiledSelector {
  const known = kept.get(expression)
  if (known !== undefined) return known
  const result = compileExpression(expression, environment)
  const made = result.kind === 'wrong' ? result.message : (typeProblem(result.program) ?? result.program)
  if (kept.size >= keptMax) kept.clear()
  kept.set(expression, made)
  return made
}

/** A single attribute may be the condition: its type is only known at evaluation. */
const typeProblem = ({ type }: Program): string | undefined =>
  type.kind === 'bool' || type.kind === 'dyn'
    ? undefined
    : `must evaluate to bool or the unknown type, not ${type.kind}`

export function selectorErrors(expression: string, path: string): FieldError[] {
  const selector = compiledSelector(expression)
  if (typeof selector === 'string') return [invalid(path, expression, selector)]
  const { tree, checked } = selector
  return estimateCost(tree, checked, deviceType).max > costMax
    ? [forbidden(path, 'too complex, exceeds cost limit')]
    : []
}

/** The expression failed, or its result is not a boolean. */
export class SelectorError extends Error {}

const verdicts = new WeakMap<Device, Map<string, boolean>>()

/**
 * Whether the selector matches the device; throws a SelectorError. The result is cached as long as the device is the
 * same. `onCost` is called with the cost of an evaluation.
 */
export function isSelected(
  expression: string,
  driver: string,
  device: Device,
  onCost: (cost: number) => void = () => {},
): boolean {
  const known = verdicts.get(device) ?? new Map<string, boolean>()
  verdicts.set(device, known)
  const found = known.get(expression)
  if (found !== undefined) return found
  const { value, cost } = evaluated(expression, driver, device)
  if (known.size >= keptMax) known.clear()
  known.set(expression, value)
  onCost(cost)
  return value
}

function evaluated(expression: string, driver: string, device: Device): { value: boolean; cost: number } {
  const selector = compiledSelector(expression)
  if (typeof selector === 'string') throw new SelectorError(`CEL compile error: ${selector}`)
  try {
    const { value, cost } = selector.evaluate({ device: deviceValue(driver, device) }, costMax)
    if (typeof value === 'boolean') return { value, cost }
    throw new SelectorError('CEL runtime error: the expression gave no bool')
  } catch (error) {
    if (error instanceof EvalError || error instanceof CostLimitError)
      throw new SelectorError(`CEL runtime error: ${error.message}`)
    throw error
  }
}

/** A domain without attributes is an empty map. */
class Domains extends MapValue {
  readonly #domains: ReadonlyMap<string, MapValue>
  readonly #empty = new LiteralMap([])

  constructor(domains: ReadonlyMap<string, MapValue>) {
    super()
    this.#domains = domains
  }

  get size(): number {
    return this.#domains.size
  }

  keys(): Iterable<Value> {
    return this.#domains.keys()
  }

  get(domain: Value): Value | undefined {
    return typeof domain === 'string' ? (this.#domains.get(domain) ?? this.#empty) : undefined
  }

  override has(domain: Value): boolean {
    return typeof domain === 'string' && this.#domains.has(domain)
  }
}

function deviceValue(
  driver: string,
  { attributes = {}, capacity = {}, allowMultipleAllocations = false }: Device,
): Value {
  const amounts = Object.fromEntries(Object.entries(capacity).map(([name, { value }]) => [name, value]))
  return new LiteralMap([
    ['driver', driver],
    ['allowMultipleAllocations', allowMultipleAllocations],
    ['attributes', domainsOf(driver, attributes, attributeValue)],
    ['capacity', domainsOf(driver, amounts, (amount) => new Quantity(quantityNanos(amount) ?? 0n))],
  ])
}

/** A name without a domain belongs to the driver's domain. */
function domainsOf<T>(driver: string, named: Readonly<Record<string, T>>, valueOf: (each: T) => Value): Domains {
  const domains = new Map<string, [string, Value][]>()
  for (const [name, each] of Object.entries(named)) {
    const [domain, short] = name.includes('/') ? (name.split('/') as [string, string]) : [driver, name]
    domains.set(domain, [...(domains.get(domain) ?? []), [short, valueOf(each)]])
  }
  return new Domains(new Map([...domains].map(([domain, entries]) => [domain, new LiteralMap(entries)])))
}

function attributeValue({ int, bool, string, version = '' }: DeviceAttribute): Value {
  if (int !== undefined) return BigInt(int)
  return bool ?? string ?? parseSemver(version) ?? version
}
