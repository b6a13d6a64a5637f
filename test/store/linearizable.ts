// Checks whether a recorded history of one register is linearizable (Wing and Gong's search with memoization). A killed
// process leaves operations that may or may not have happened.

export interface RegisterOperation {
  /** Positions in the record: the operation happened between the two, if it did. */
  readonly invoked: number
  readonly returned: number
  readonly action:
    | { readonly kind: 'read'; readonly value: string }
    | { readonly kind: 'write'; readonly value: string }
    | { readonly kind: 'swap'; readonly from: string; readonly to: string; readonly swapped: boolean }
  /** Its outcome is unknown. */
  readonly uncertain: boolean
}

/** The value of the register afterwards, or undefined when the operation cannot have had this result. */
function after(value: string, action: RegisterOperation['action']): string | undefined {
  switch (action.kind) {
    case 'read':
      return action.value === value ? value : undefined
    case 'write':
      return action.value
    case 'swap':
      if ((action.from === value) !== action.swapped) return undefined
      return action.swapped ? action.to : value
    default:
      return action satisfies never
  }
}

interface Step {
  readonly value: string
  readonly done: ReadonlySet<RegisterOperation>
  /**
   * The operations that have not happened yet, in the order of their start; all before them have happened or were given
   * up.
   */
  readonly from: number
  /**
   * The latest start of an operation that has happened: an uncertain operation that ended before it cannot follow it.
   */
  readonly latest: number
}

/** Bounds the search: a history that exceeds it was recorded with too many concurrent operations. */
const stepsMax = 5_000_000

export function isLinearizable(operations: readonly RegisterOperation[], initial: string): boolean {
  const sorted = operations.toSorted((a, b) => a.invoked - b.invoked)
  const places = new Map(sorted.map((operation, index) => [operation, index]))
  const tried = new Set<string>()
  const stack: Step[] = [{ value: initial, done: new Set(), from: 0, latest: -1 }]
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = stack.pop()
    if (step === undefined) return false
    const candidates = candidatesOf(sorted, step)
    if (candidates === 'complete') return true
    for (const operation of candidates.toReversed()) {
      const value = after(step.value, operation.action)
      if (value === undefined) continue
      const next = advance(sorted, step, operation, value)
      const key = `${next.from} ${next.latest} ${[...next.done]
        .map((one) => places.get(one))
        .toSorted()
        .join()} ${value}`
      if (tried.has(key)) continue
      tried.add(key)
      stack.push(next)
    }
  }
  throw new Error(`no result after ${stepsMax} steps`)
}

/** The operations that can be next: those that started before the end of any that must still happen. */
function candidatesOf(sorted: readonly RegisterOperation[], step: Step): RegisterOperation[] | 'complete' {
  const candidates: RegisterOperation[] = []
  let endsFirst = Infinity
  let complete = true
  for (let index = step.from; index < sorted.length; index++) {
    const operation = sorted[index] as RegisterOperation
    if (step.done.has(operation)) continue
    if (operation.invoked > endsFirst) return candidates
    if (!operation.uncertain) [endsFirst, complete] = [Math.min(endsFirst, operation.returned), false]
    if (!operation.uncertain || operation.returned > step.latest) candidates.push(operation)
  }
  return complete ? 'complete' : candidates
}

function advance(sorted: readonly RegisterOperation[], step: Step, operation: RegisterOperation, value: string): Step {
  const done = new Set(step.done).add(operation)
  const latest = Math.max(step.latest, operation.invoked)
  let { from } = step
  for (let first = sorted[from]; first !== undefined; first = sorted[from]) {
    const givenUp = first.uncertain && first.returned < latest
    if (!done.has(first) && !givenUp) break
    done.delete(first)
    from++
  }
  return { value, done, from, latest }
}
