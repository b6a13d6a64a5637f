// The estimated cost of a call and the size of its result, from the sizes of its arguments: upstream's table.
import { lookup } from '../../base/collections/lookup.ts'
import type { CelType } from '../types/cel-type.ts'
import { authorizationCost, regexFactor, traversalFactor } from './call-cost.ts'
import { fixed, plus, scaled, times, unknown, type Range } from './range.ts'

export interface Argument {
  readonly type: CelType | undefined
  readonly size: Range | undefined
  readonly element?: Range | undefined
}

export interface CallEstimate {
  readonly cost: Range
  readonly size?: Range
}

type Estimator = (target: Argument | undefined, args: readonly Argument[]) => CallEstimate | undefined

const sizeOf = (argument: Argument | undefined): Range => argument?.size ?? unknown
const traversed = (size: Range): Range => scaled(size, traversalFactor)

const ofTarget: Estimator = (target) =>
  target === undefined ? undefined : { cost: traversed(sizeOf(target)), size: sizeOf(target) }

/** The cost for each element of a list, and for each character of its texts. */
const ofElements: Estimator = (target) => {
  if (target === undefined) return undefined
  const { type } = target
  if (type?.kind !== 'list') return { cost: traversed(sizeOf(target)) }
  const { element } = type
  const isText = element.kind === 'string' || element.kind === 'bytes'
  const max = 'maxElements' in element ? element.maxElements : undefined
  const size = max === undefined ? (target.element ?? unknown) : { min: 0, max }
  const each = isText ? plus(fixed(1), traversed(size)) : fixed(1)
  return { cost: times(sizeOf(target), each) }
}

const ofPattern: Estimator = (target, [pattern]) => {
  if (target === undefined || pattern === undefined) return undefined
  const size = sizeOf(target)
  const cost = times(traversed(plus(size, fixed(1))), scaled(sizeOf(pattern), regexFactor))
  return { cost, size: { min: 0, max: size.max } }
}

const replace: Estimator = (target, [what, by]) => {
  if (target === undefined || what === undefined || by === undefined) return undefined
  const [size, old, fresh] = [sizeOf(target), sizeOf(what), sizeOf(by)]
  const most =
    old.min === 0
      ? (size.max + 1) * fresh.max + size.max
      : fresh.max <= old.min
        ? size.max
        : Math.ceil(size.max / old.min) * fresh.max
  const least =
    old.max === 0
      ? (size.min + 1) * fresh.min + size.min
      : old.max <= fresh.min
        ? size.min
        : Math.ceil(size.min / old.max) * fresh.min
  return { cost: scaled(size, 2 * traversalFactor), size: { min: least, max: Math.min(most, unknown.max) } }
}

const split: Estimator = (target) => {
  if (target === undefined) return undefined
  const size = sizeOf(target)
  return { cost: scaled(size, 2 * traversalFactor), size: { min: 0, max: size.max } }
}

const join: Estimator = (target, [separator]) => {
  if (target === undefined) return undefined
  const count = sizeOf(target)
  const element = target.type?.kind === 'list' ? target.type.element : undefined
  const max = element !== undefined && 'maxElements' in element ? element.maxElements : undefined
  const each = max === undefined ? (target.element ?? unknown) : { min: 0, max }
  const between = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) }
  const parts = times(count, each)
  const size = separator === undefined ? parts : plus(parts, times(sizeOf(separator), between))
  return { cost: traversed(size), size }
}

const ofSets: Estimator = (_, [a, b]) => ({ cost: plus(times(sizeOf(a), sizeOf(b)), fixed(1)) })

const one: Estimator = () => ({ cost: fixed(1) })

const addressBytes: Range = { min: 4, max: 16 }
const containsIp: Estimator = (_, [other]) => ({
  cost: plus(
    traversed(plus(addressBytes, addressBytes)),
    other?.type?.kind === 'string' ? traversed(sizeOf(other)) : fixed(0),
  ),
})
const containsCidr: Estimator = (target, args) => {
  const base = containsIp(target, args)
  return base === undefined ? undefined : { cost: plus(base.cost, traversed(addressBytes), fixed(1)) }
}

const byFunction: Readonly<Record<string, Estimator>> = {
  check: () => ({ cost: fixed(authorizationCost) }),
  isSorted: ofElements,
  sum: ofElements,
  max: ofElements,
  min: ofElements,
  indexOf: ofElements,
  lastIndexOf: ofElements,
  url: (_, [text]) => ({ cost: traversed(sizeOf(text)) }),
  lowerAscii: ofTarget,
  upperAscii: ofTarget,
  substring: ofTarget,
  trim: ofTarget,
  replace,
  split,
  join,
  find: ofPattern,
  findAll: ofPattern,
  containsIP: containsIp,
  containsCIDR: containsCidr,
  'sets.contains': ofSets,
  'sets.intersects': ofSets,
  'sets.equivalent': ofSets,
}

const ofSum: Estimator = (_, [a, b]) => {
  const size = plus(sizeOf(a), sizeOf(b))
  return { cost: traversed(size), size }
}
const ofSmaller: Estimator = (_, [a, b]) => {
  const max = Math.min(sizeOf(a).max, sizeOf(b).max)
  return { cost: traversed({ min: max > 0 ? 1 : 0, max }) }
}
const ofArgument: Estimator = (_, [text]) => ({ cost: traversed(sizeOf(text)) })

const byOverload: Readonly<Record<string, Estimator>> = {
  string_to_bytes: (_, [text]) => {
    const { min, max } = sizeOf(text)
    return { cost: traversed({ min, max }), size: { min, max: max * 4 } }
  },
  bytes_to_string: (_, [bytes]) => {
    const { min, max } = sizeOf(bytes)
    return { cost: traversed({ min, max }), size: { min: Math.floor(min / 4), max } }
  },
  strings_quote: (_, [text]) => {
    const { min, max } = sizeOf(text)
    return { cost: traversed({ min, max }), size: { min: min + 2, max: max * 2 + 2 } }
  },
  string_format: (target) => ({ cost: traversed(sizeOf(target)), size: unknown }),
  starts_with_string: ofArgument,
  ends_with_string: ofArgument,
  in_list: (_, [, list]) => ({ cost: sizeOf(list) }),
  matches_string: (target, args) => {
    const estimate = ofPattern(target, args)
    return estimate === undefined ? undefined : { cost: estimate.cost }
  },
  contains_string: (target, [part]) => ({ cost: times(traversed(sizeOf(target)), traversed(sizeOf(part))) }),
  add_string: ofSum,
  add_bytes: ofSum,
  add_list: (_, [a, b]) => ({ cost: fixed(1), size: plus(sizeOf(a), sizeOf(b)) }),
  equals: ofSmaller,
  not_equals: ofSmaller,
  ...Object.fromEntries(
    ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((name) => [
      [`${name}_string`, ofSmaller],
      [`${name}_bytes`, ofSmaller],
    ]),
  ),
}

export const estimateCall = (
  name: string,
  overload: string,
  target: Argument | undefined,
  args: readonly Argument[],
): CallEstimate => (lookup(byFunction, name) ?? lookup(byOverload, overload) ?? one)(target, args) ?? { cost: fixed(1) }
