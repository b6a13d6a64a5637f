// FieldSet: a set of paths in an object, in the form in which managedFields stores it (FieldsV1), so that nothing is decoded
// or encoded. A node without entries is a path of the set; one with entries is a path too when `.` is among them.
// Sets are immutable: results share nodes with their operands, and keep the order of upstream's serialisation.
// safe names: an element of a set is a dot or has a prefix such as `f:`, which no property of Object has.
import { isJsonObject } from '../json/json-value.ts'
import { compareElements, elementText, isElement, self } from './path-element.ts'

export interface FieldSet {
  readonly [element: string]: FieldSet
}

type Mutable = Record<string, FieldSet>

/** The set without paths; below the root, the node of a path without further paths. */
export const emptySet: FieldSet = Object.freeze({})

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false
  return true
}

/** Whether the elements have at most so many characters together. Longer sets take no longer. */
export const isWithin = (set: FieldSet, charactersMax: number): boolean => charactersLeft(set, charactersMax) >= 0

function charactersLeft(set: FieldSet, charactersMax: number): number {
  let left = charactersMax
  for (const element in set) {
    left -= element.length
    if (left < 0) return left
    left = charactersLeft(set[element] ?? emptySet, left)
  }
  return left
}

const isMember = (node: FieldSet): boolean => self in node || isEmptySet(node)

/** The node of a path that is itself in the set, in addition to those below it. */
export const withSelf = (node: FieldSet): FieldSet => (isMember(node) ? node : { [self]: emptySet, ...node })

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b
  return isEmptySet(b) ? a : unionNode(a, b)
}

function unionNode(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (isEmptySet(a)) return withSelf(b)
  if (isEmptySet(b)) return withSelf(a)
  let united: Mutable | undefined
  let isLonger = false
  for (const element in b) {
    const own = a[element]
    const other = b[element] ?? emptySet
    const next = own === undefined ? other : unionNode(own, other)
    if (next === own) continue
    united ??= { ...a }
    united[element] = next
    isLonger ||= own === undefined
  }
  return isLonger ? sorted(united ?? a) : (united ?? a)
}

/** The paths of `a` that are not in `b`. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmptySet(a) || isEmptySet(b) ? a : (differenceNode(a, b) ?? emptySet)

function differenceNode(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return undefined
  const staysMember = isMember(a) && !isMember(b)
  const rest: Mutable = {}
  let isShorter = !staysMember && isMember(a)
  let hasChildren = false
  for (const element in a) {
    const own = a[element]
    if (element === self || own === undefined) continue
    const other = b[element]
    const next = other === undefined ? own : differenceNode(own, other)
    if (next !== own) isShorter = true
    if (next === undefined) continue
    if (staysMember && !hasChildren) rest[self] = emptySet
    hasChildren = true
    rest[element] = next
  }
  if (!isShorter) return a
  return hasChildren ? rest : staysMember ? emptySet : undefined
}

export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmptySet(a) || isEmptySet(b) ? emptySet : (intersectionNode(a, b) ?? emptySet)

function intersectionNode(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a
  const isShared = isMember(a) && isMember(b)
  const shared: Mutable = {}
  let hasChildren = false
  for (const element in a) {
    const own = a[element]
    const other = b[element]
    if (element === self || own === undefined || other === undefined) continue
    const next = intersectionNode(own, other)
    if (next === undefined) continue
    if (isShared && !hasChildren) shared[self] = emptySet
    hasChildren = true
    shared[element] = next
  }
  return hasChildren ? shared : isShared ? emptySet : undefined
}

/** The set without the given subtrees; each is a path of elements. */
export const withoutSubtrees = (set: FieldSet, subtrees: readonly (readonly string[])[]): FieldSet =>
  subtrees.reduce((rest, path) => withoutSubtree(rest, path) ?? emptySet, set)

function withoutSubtree(set: FieldSet, [element = '', ...deeper]: readonly string[]): FieldSet | undefined {
  const child = set[element]
  if (child === undefined) return set
  const rest = deeper.length === 0 ? undefined : withoutSubtree(child, deeper)
  if (rest === child) return set
  if (rest !== undefined) return { ...set, [element]: rest }
  const { [element]: _, ...others } = set
  return isEmptySet(others) ? undefined : others
}

/** All paths in the form of messages: at each step the paths that end there, then the longer ones. */
export function pathTexts(set: FieldSet, prefix = ''): string[] {
  const elements = Object.keys(set)
    .filter((element) => element !== self)
    .toSorted(compareElements)
  const node = (element: string): FieldSet => set[element] ?? emptySet
  return [
    ...elements.filter((element) => isMember(node(element))).map((element) => prefix + elementText(element)),
    ...elements.flatMap((element) => pathTexts(node(element), prefix + elementText(element))),
  ]
}

function sorted(node: FieldSet): FieldSet {
  const elements = Object.keys(node)
  if (elements.every((element, index) => index === 0 || compareElements(elements[index - 1] ?? '', element) <= 0))
    return node
  const copy: Mutable = {}
  for (const element of elements.toSorted(compareElements)) copy[element] = node[element] ?? emptySet
  return copy
}

/** Deeper nesting is rejected, as in objects. */
const depthMax = 100

/** Whether a value from a client is a field set. */
export function isFieldSet(value: unknown, depth = 0): value is FieldSet {
  if (!isJsonObject(value) || depth > depthMax) return false
  for (const element in value) if (!isElement(element) || !isFieldSet(value[element], depth + 1)) return false
  return true
}
