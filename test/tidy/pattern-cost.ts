// What a regular expression can cost a backtracking engine. The pattern becomes an automaton with one state per
// character (Glushkov). Two ways to read the same text in a loop cost exponential time, two consecutive loops that read
// the same text cost quadratic time or worse; a search that restarts at every character counts as a loop before the
// rest. Conservative: it may report a pattern that is linear, never the other way round.
import { parsePattern, type PatternTree } from './pattern-tree.ts'

/** A part that is repeated more often counts as repeated without end. */
const copiesMax = 10

/** One character of the pattern, with the states that can come next and in how many ways. */
interface State {
  readonly characters: bigint
  readonly next: Map<State, number>
  /** The match ends after this state, whatever follows. */
  isFinal: boolean
  /** The match ends after this state if the text ends there. */
  isFinalAtEnd: boolean
}

/** How parts of a pattern are entered and left. `anchored` parts are entered at the start of the text only. */
interface Fragment {
  readonly first: readonly { readonly state: State; readonly anchored: boolean }[]
  readonly last: readonly { readonly state: State; readonly checked: boolean; readonly atEnd: boolean }[]
  /** How it is passed without a character: through `^`, through `$` or another assertion. */
  readonly empty?: { readonly anchored: boolean; readonly checked: boolean; readonly atEnd: boolean } | undefined
}

/** Why the pattern is not linear, or undefined. */
export function patternCost(pattern: string, flags: string): string | undefined {
  const builder = new Builder(flags)
  const fragment = builder.build(parsePattern(pattern))
  if (builder.unsupported !== undefined) return builder.unsupported
  for (const { state, checked, atEnd } of fragment.last)
    if (!checked) state.isFinal = true
    else if (atEnd) state.isFinalAtEnd = true
  if (!flags.includes('y')) builder.states.push(...searchStates(fragment, flags))
  const states = withoutSuccess(builder.states)
  return exponential(states) ?? polynomial(states)
}

class Builder {
  readonly states: State[] = []
  unsupported: string | undefined
  readonly #flags: string

  constructor(flags: string) {
    this.#flags = flags.replaceAll(/[gyd]/g, '')
  }

  build(tree: PatternTree): Fragment {
    switch (tree.kind) {
      case 'character': {
        const characters = meaning(tree.text, this.#flags)
        const state = stateOf(characters)
        this.states.push(state)
        return { first: [{ state, anchored: false }], last: [{ state, checked: false, atEnd: true }] }
      }
      case 'sequence':
        return tree.parts.map((part) => this.build(part)).reduce(joined, nothing)
      case 'choice': {
        const parts = tree.parts.map((part) => this.build(part))
        return {
          first: parts.flatMap(({ first }) => first),
          last: parts.flatMap(({ last }) => last),
          empty: parts.map(({ empty }) => empty).reduce(weaker),
        }
      }
      case 'repeat':
        return this.#repeated(tree)
      case 'start':
        return { first: [], last: [], empty: { anchored: true, checked: false, atEnd: true } }
      case 'end':
        return { first: [], last: [], empty: { anchored: false, checked: true, atEnd: true } }
      case 'boundary':
        return { first: [], last: [], empty: { anchored: false, checked: true, atEnd: false } }
      case 'lookaround': {
        if (hasLoop(tree.part)) this.unsupported = 'looks around with a repetition'
        return { first: [], last: [], empty: { anchored: false, checked: true, atEnd: false } }
      }
      case 'backreference': {
        this.unsupported = 'refers back to a group'
        return nothing
      }
      default:
        return tree satisfies never
    }
  }

  #repeated({ part, min, max }: PatternTree & { kind: 'repeat' }): Fragment {
    const endless = max > copiesMax && !(min === max && part.kind === 'character')
    const needed = Array.from({ length: Math.min(min, copiesMax) }, () => this.build(part))
    if (endless) {
      // `x{2,}` is `xx+`: the last copy loops.
      const loop = needed.pop() ?? optional(this.build(part))
      for (const { state: from } of loop.last) for (const { state: to } of loop.first) connect(from, to)
      return [...needed, loop].reduce(joined, nothing)
    }
    // `x{0,2}` is `(x(x)?)?`.
    let rest = nothing
    for (let index = Math.min(min, copiesMax); index < Math.min(max, copiesMax); index++)
      rest = optional(joined(this.build(part), rest))
    return joined(needed.reduce(joined, nothing), rest)
  }
}

const nothing: Fragment = { first: [], last: [], empty: { anchored: false, checked: false, atEnd: true } }

const optional = (fragment: Fragment): Fragment => ({ ...fragment, empty: nothing.empty })

/** Of the ways to pass two alternatives without a character, the one that fails least often. */
const weaker = (a: Fragment['empty'], b: Fragment['empty']): Fragment['empty'] =>
  a === undefined || b === undefined
    ? (a ?? b)
    : { anchored: a.anchored && b.anchored, checked: a.checked && b.checked, atEnd: a.atEnd || b.atEnd }

function connect(from: State, to: State): void {
  from.next.set(to, (from.next.get(to) ?? 0) + 1)
}

function joined(a: Fragment, b: Fragment): Fragment {
  for (const { state: from } of a.last) for (const { state: to } of b.first) connect(from, to)
  const { empty: passA } = a
  const { empty: passB } = b
  return {
    first: [
      ...a.first,
      ...(passA === undefined
        ? []
        : b.first.map(({ state, anchored }) => ({ state, anchored: anchored || passA.anchored }))),
    ],
    last: [
      ...b.last,
      ...(passB === undefined
        ? []
        : a.last.map(({ state, checked, atEnd }) => ({
            state,
            checked: checked || passB.checked,
            atEnd: atEnd && passB.atEnd,
          }))),
    ],
    empty:
      passA === undefined || passB === undefined
        ? undefined
        : {
            anchored: passA.anchored || passB.anchored,
            checked: passA.checked || passB.checked,
            atEnd: passA.atEnd && passB.atEnd,
          },
  }
}

function hasLoop(tree: PatternTree): boolean {
  if (tree.kind === 'repeat') return tree.max > copiesMax || hasLoop(tree.part)
  if (tree.kind === 'lookaround') return hasLoop(tree.part)
  return 'parts' in tree && tree.parts.some(hasLoop)
}

const stateOf = (characters: bigint): State => ({ characters, next: new Map(), isFinal: false, isFinalAtEnd: false })

/** The engine tries the pattern at each character of the text, or at the start of each line. */
function searchStates({ first }: Fragment, flags: string): State[] {
  const skipped = stateOf(meaning('[^]', ''))
  const newline = stateOf(meaning(String.raw`\n`, ''))
  connect(skipped, skipped)
  connect(skipped, newline)
  for (const { state, anchored } of first)
    if (!anchored) connect(skipped, state)
    else if (flags.includes('m')) connect(newline, state)
  return [skipped, newline]
}

/** Sample characters: the ASCII ones and some of each class that patterns distinguish. */
const samples = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCodePoint(code)),
  ...['\u0301', '\u03B1', '\u0416', '\u05D0', '\u2003', '\u2028', '\u3042', '\u4E00', '\uFEFF', '\uD83D'],
]
const meanings = new Map<string, bigint>()

/** The samples that a character or class matches, one bit each. */
function meaning(text: string, flags: string): bigint {
  const key = `${flags}/${text}`
  let bits = meanings.get(key)
  if (bits === undefined) {
    const pattern = new RegExp(`^(?:${text})$`, flags.replace('m', ''))
    bits = samples.reduce((sum, sample, index) => (pattern.test(sample) ? sum | (1n << BigInt(index)) : sum), 0n)
    meanings.set(key, bits)
  }
  return bits
}

const anything = (1n << BigInt(samples.length)) - 1n

/** A text that fails never passes a state after which no text can fail, so these states cost nothing. */
function withoutSuccess(states: readonly State[]): State[] {
  const readsAnything = (state: State) => state.next.has(state) && state.characters === anything
  const succeeded = new Set(states.filter((state) => state.isFinal || (state.isFinalAtEnd && readsAnything(state))))
  for (const { next } of states) for (const state of succeeded) next.delete(state)
  return states.filter((state) => !succeeded.has(state))
}

/** Two different ways from a state back to itself with the same text. */
function exponential(states: readonly State[]): string | undefined {
  for (const start of states) {
    const found = search([[start, start]], ([a, b]) =>
      [...a.next].flatMap(([nextA, waysA]) =>
        [...b.next].flatMap(([nextB, waysB]): Pair[] => {
          if ((nextA.characters & nextB.characters) === 0n) return []
          // Equal states reached in two ways count as a pair that differs.
          return [[nextA, nextB, a !== b || nextA !== nextB || Math.max(waysA, waysB) > 1]]
        }),
      ),
    )
    if (found.some(([a, b, differs]) => a === start && b === start && differs)) return 'takes exponential time'
  }
  return undefined
}

type Pair = readonly [a: State, b: State, differs?: boolean]

/** All pairs that can be reached; `differs` stays set once it is set. */
function search(from: readonly Pair[], next: (pair: Pair) => Pair[]): Pair[] {
  const seen = new Map<State, Map<State, number>>()
  const found: Pair[] = []
  const queue = [...from]
  for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
    for (const [a, b, step] of next(pair)) {
      const differs = step === true || pair[2] === true
      const row = seen.get(a) ?? new Map<State, number>()
      seen.set(a, row)
      const mark = differs ? 2 : 1
      if (((row.get(b) ?? 0) & mark) !== 0) continue
      row.set(b, (row.get(b) ?? 0) | mark)
      const reached: Pair = [a, b, differs]
      found.push(reached)
      queue.push(reached)
    }
  }
  return found
}

/** A loop followed by another one that reads the same text. */
function polynomial(states: readonly State[]): string | undefined {
  const reach = new Map(states.map((state) => [state, reachable(state)]))
  const inLoop = states.filter((state) => reach.get(state)?.has(state))
  const mutual = (a: State, b: State) => reach.get(a)?.has(b) === true && reach.get(b)?.has(a) === true
  for (const first of inLoop)
    for (const second of inLoop) {
      if (first === second || !reach.get(first)?.has(second) || mutual(first, second)) continue
      if (sameTextInBoth(first, second, mutual)) return 'takes quadratic time or worse'
    }
  return undefined
}

/** Whether some text leads from the first to itself, from the first to the second, and from the second to itself. */
function sameTextInBoth(first: State, second: State, mutual: (a: State, b: State) => boolean): boolean {
  const ids = new Map<State, number>()
  const idOf = (state: State) => ids.getOrInsert(state, ids.size)
  const seen = new Set<string>()
  const queue: (readonly [State, State, State])[] = [[first, first, second]]
  for (let triple = queue.pop(); triple !== undefined; triple = queue.pop()) {
    const [a, b, c] = triple
    for (const nextA of a.next.keys()) {
      if (!mutual(nextA, first)) continue
      for (const nextC of c.next.keys()) {
        const both = nextA.characters & nextC.characters
        if (both === 0n || !mutual(nextC, second)) continue
        for (const nextB of b.next.keys()) {
          if ((nextB.characters & both) === 0n) continue
          if (nextA === first && nextB === second && nextC === second) return true
          const key = `${idOf(nextA)},${idOf(nextB)},${idOf(nextC)}`
          if (seen.has(key)) continue
          seen.add(key)
          queue.push([nextA, nextB, nextC])
        }
      }
    }
  }
  return false
}

function reachable(from: State): ReadonlySet<State> {
  const seen = new Set<State>()
  const queue = [from]
  for (let state = queue.pop(); state !== undefined; state = queue.pop())
    for (const next of state.next.keys())
      if (!seen.has(next)) {
        seen.add(next)
        queue.push(next)
      }
  return seen
}
