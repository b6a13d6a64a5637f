// Checks whether a recorded history of one object is linearizable: whether every operation can have happened at one
// moment between its start and its end (Wing and Gong's search, with Lowe's memoization). The objects of a history are
// checked one by one: a history is linearizable if it is for each object.

export interface Operation<Action> {
  /** Positions in the record: the operation happened between the two, if it did. */
  readonly invoked: number
  readonly returned: number
  readonly action: Action
  /** Its outcome is unknown. */
  readonly uncertain: boolean
}

/** What operations do, one after the other. A state is a text. */
export interface SequentialModel<Action> {
  readonly initial: string
  /** The state afterwards, or undefined when the operation cannot have had this result. */
  after(state: string, action: Action): string | undefined
}

interface Step<Action> {
  readonly state: string
  readonly done: ReadonlySet<Operation<Action>>
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

export function isLinearizable<Action>(
  operations: readonly Operation<Action>[],
  { initial, after }: SequentialModel<Action>,
): boolean {
  const sorted = operations.toSorted((a, b) => a.invoked - b.invoked)
  const places = new Map(sorted.map((operation, index) => [operation, index]))
  const tried = new Set<string>()
  const stack: Step<Action>[] = [{ state: initial, done: new Set(), from: 0, latest: -1 }]
  for (let steps = 0; steps < stepsMax; steps++) {
    const step = stack.pop()
    if (step === undefined) return false
    const candidates = candidatesOf(sorted, step)
    if (candidates === 'complete') return true
    for (const operation of candidates.toReversed()) {
      const state = after(step.state, operation.action)
      if (state === undefined) continue
      const next = advance(sorted, step, operation, state)
      const key = `${next.from} ${next.latest} ${[...next.done]
        .map((one) => places.get(one))
        .toSorted()
        .join()} ${state}`
      if (tried.has(key)) continue
      tried.add(key)
      stack.push(next)
    }
  }
  throw new Error(`no result after ${stepsMax} steps`)
}

/** The operations that can be next: those that started before the end of any that must still happen. */
function candidatesOf<Action>(
  sorted: readonly Operation<Action>[],
  step: Step<Action>,
): Operation<Action>[] | 'complete' {
  const candidates: Operation<Action>[] = []
  let endsFirst = Infinity
  let complete = true
  for (let index = step.from; index < sorted.length; index++) {
    const operation = sorted[index] as Operation<Action>
    if (step.done.has(operation)) continue
    if (operation.invoked > endsFirst) return candidates
    if (!operation.uncertain) [endsFirst, complete] = [Math.min(endsFirst, operation.returned), false]
    if (!operation.uncertain || operation.returned > step.latest) candidates.push(operation)
  }
  return complete ? 'complete' : candidates
}

function advance<Action>(
  sorted: readonly Operation<Action>[],
  step: Step<Action>,
  operation: Operation<Action>,
  state: string,
): Step<Action> {
  const done = new Set(step.done).add(operation)
  const latest = Math.max(step.latest, operation.invoked)
  let { from } = step
  for (let first = sorted[from]; first !== undefined; first = sorted[from]) {
    const givenUp = first.uncertain && first.returned < latest
    if (!done.has(first) && !givenUp) break
    done.delete(first)
    from++
  }
  return { state, done, from, latest }
}
