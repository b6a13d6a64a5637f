// SetBuilder: builds a node of a field set element by element. Equal objects own the same fields: the same steps lead to the
// same node, so that nodes are shared and sets can be compared by identity.
// safe names: an element of a set is a dot or has a prefix such as `f:`, which no property of Object has.
import { emptySet, type FieldSet } from './field-set.ts'
import { self } from './path-element.ts'

/** A node with more elements is not shared. */
const elementsMax = 64
/** Nor is one with a longer element. */
const elementCharactersMax = 256
/** Beyond this number the cache of steps is emptied, and nodes are built again. */
const stepsMax = 10_000

let steps = 0

/** A node that is being built. */
class Step {
  readonly #before: Step | undefined
  readonly #element: string
  readonly #child: FieldSet
  /** The number of elements of the node. */
  readonly count: number
  /** The target of the last step from here, which is usually also the next. */
  #last: Step | undefined
  #leaves: Map<string, Step> | undefined
  #others: Map<FieldSet, Map<string, Step>> | undefined
  #set: FieldSet | undefined

  constructor(before: Step | undefined, element: string, child: FieldSet) {
    this.#before = before
    this.#element = element
    this.#child = child
    this.count = before === undefined ? 0 : before.count + 1
  }

  to(element: string, child: FieldSet): Step {
    const last = this.#last
    if (last !== undefined && last.#element === element && last.#child === child) return last
    const known = this.#stepsTo(child)
    let next = known.get(element)
    if (next === undefined) {
      steps++
      next = new Step(this, element, child)
      known.set(element, next)
    }
    this.#last = next
    return next
  }

  #stepsTo(child: FieldSet): Map<string, Step> {
    if (child === emptySet) return (this.#leaves ??= new Map())
    this.#others ??= new Map()
    let known = this.#others.get(child)
    if (known === undefined) this.#others.set(child, (known = new Map()))
    return known
  }

  get set(): FieldSet {
    return (this.#set ??= this.copy())
  }

  copy(): Record<string, FieldSet> {
    // The recursion is bounded by the number of elements.
    const node: Record<string, FieldSet> = this.#before?.copy() ?? {}
    if (this.#before !== undefined) node[this.#element] = this.#child
    return node
  }
}

const firstStep = (): Step => new Step(undefined, '', emptySet)

let first = firstStep()

function begin(): Step {
  if (steps > stepsMax) {
    first = firstStep()
    steps = 0
  }
  return first
}

/** Nodes that are not shared. A node that contains one is not shared either: the cache of steps would keep them all. */
const unshared = new WeakSet<FieldSet>()

const isShared = (element: string, child: FieldSet): boolean =>
  element.length <= elementCharactersMax && (child === emptySet || !unshared.has(child))

export class SetBuilder {
  #step: Step
  #own: Record<string, FieldSet> | undefined

  /** isMember: the path to the node is itself in the set. */
  constructor(isMember: boolean) {
    const start = begin()
    this.#step = isMember ? start.to(self, emptySet) : start
  }

  /** Elements must be added in the order of field sets. */
  add(element: string, child: FieldSet): void {
    if (this.#own !== undefined) this.#own[element] = child
    else if (this.#step.count < elementsMax && isShared(element, child)) this.#step = this.#step.to(element, child)
    else {
      this.#own = this.#step.copy()
      this.#own[element] = child
      unshared.add(this.#own)
    }
  }

  /** The finished node; nothing may be added after this. */
  get set(): FieldSet {
    return this.#own ?? this.#step.set
  }
}
