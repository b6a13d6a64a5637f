// Variants: for each string field of a kind, a valid object with a hostile text in that field.
import type { Kind } from '../../src/api/kind/kind.ts'
import type { Violation } from './checks.ts'
import { hostileTexts, markOf, type HostileText } from './hostile-texts.ts'
import { stringFieldsOf, withText, type StringField } from './string-fields.ts'

/** A kind by its name and its fields. */
export type NamedMessage = Pick<Kind, 'kind' | 'message'>

export interface Variant {
  readonly kind: NamedMessage
  readonly field: StringField
  readonly hostile: HostileText
  /** The object with the number of its mark. */
  readonly object: object
  readonly index: number
}

/** Makes a valid object whose name, uid and addresses follow from the number. */
export type BaseObject = (index: number) => object

const isLong = process.env['COXSWAIN_LONG'] === '1'
/** Fields of a kind in a run that is not long; a Pod has some eight hundred. */
const fieldsMax = 300
/** Objects that are given to a component at a time. */
const batchSize = 100

/** The texts that one test tries; a long run has a test for each. */
export const textsOfTests: readonly (readonly HostileText[])[] = isLong
  ? hostileTexts.map((text) => [text])
  : [hostileTexts]

export interface Choice {
  /** All texts by default. */
  readonly texts?: readonly HostileText[]
  /** Fields whose purpose is what the test forbids, such as a path of the host. */
  readonly except?: ReadonlySet<string>
  /** Fields that the component makes a part of a command, a rule, a path or a request: each run has them with all texts. */
  readonly sent?: readonly string[]
}

/**
 * In batches: at most `fieldsMax` fields with one of the texts each, or all fields with all texts in a long run.
 * COXSWAIN_SEED selects other fields and texts.
 */
export function variantsOf(
  kind: NamedMessage,
  base: BaseObject,
  { except, sent = [], texts = hostileTexts }: Choice = {},
): readonly (readonly Variant[])[] {
  const seed = Number(process.env['COXSWAIN_SEED'] ?? 0)
  const fields = stringFieldsOf(kind.message).filter(({ path }) => except?.has(path) !== true)
  const unknown = sent.filter((path) => !fields.some((field) => field.path === path))
  if (unknown.length > 0) throw new Error(`${kind.kind} has no string fields ${unknown.join(', ')}`)
  const stride = Math.ceil(fields.length / fieldsMax)
  const chosen = fields.flatMap((field, at) => {
    const hasAll = isLong || sent.includes(field.path)
    const isSampled = at % stride === seed % stride
    return texts
      .filter((_, number) => hasAll || (isSampled && number === (at + seed) % texts.length))
      .map((hostile) => ({ field, hostile }))
  })
  const variants = chosen.map((each, at): Variant => {
    const index = at + 1
    const text = each.hostile.textOf(markOf(index))
    return { kind, ...each, index, object: withText(base(index), kind.message, each.field, text) }
  })
  return Array.from({ length: Math.ceil(variants.length / batchSize) }, (_, at) =>
    variants.slice(at * batchSize, (at + 1) * batchSize),
  )
}

/** The first violation of each field, with the text that caused it. */
export function reportOf(violations: readonly Violation[], variants: readonly Variant[]): readonly string[] {
  const byField = new Map<string, string>()
  for (const { text, index } of violations) {
    const found = variants.find((each) => each.index === index)
    const field = found === undefined ? '' : `${found.kind.kind} ${found.field.path}`
    if (!byField.has(field)) byField.set(field, `${field} with ${found?.hostile.name}: ${text.slice(0, 300)}`)
  }
  return [...byField.values()]
}
