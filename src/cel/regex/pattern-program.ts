// PatternProgram: decides in steps whether a text matches. Patterns come from definitions and texts from objects, so both may
// be hostile. RE2's algorithms are linear in the text, but each character may cost as many steps as the pattern has
// instructions, and the library cannot be interrupted. This one builds the states of a DFA when a text first needs them.
import {
  accepts,
  conditionsBetween,
  isWord,
  newline,
  none,
  op,
  type Instruction,
  type Program,
} from './instructions.ts'

/** A position between two characters: the instructions that may continue there, and the character before. */
interface State {
  readonly heads: readonly number[]
  readonly before: number
  /** By the class of the next character. */
  readonly next: (State | typeof matched | undefined)[]
}

const matched = Symbol('matched')
const wordCharacter = 97
const otherCharacter = 32

/** Bounds of the memory of a pattern. Beyond them, states are built again. */
const headsMax = 100_000
const transitionsMax = 20_000
/** A search yields after this many instructions. */
const stepsPerYield = 2_000
/** And after this many characters, where all transitions are known. */
const charactersPerYield = 10_000

export class PatternProgram {
  readonly #program: Program
  readonly #classes: CharacterClasses
  readonly #visited: Uint32Array
  readonly #followed: Uint32Array
  #visit = 0
  #steps = 0
  #states = new Map<string, State>()
  #heads = 0
  #transitions = 0

  constructor(program: Program) {
    this.#program = program
    this.#classes = new CharacterClasses(program)
    this.#visited = new Uint32Array(program.inst.length)
    this.#followed = new Uint32Array(program.inst.length)
  }

  /** Whether a part of the text matches. Yields regularly. */
  *search(text: string): Generator<undefined, boolean, undefined> {
    let state = this.#state([this.#program.start], none)
    for (let at = 0; at <= text.length;) {
      const codePoint = at === text.length ? none : (text.codePointAt(at) ?? none)
      const id = this.#classes.of(codePoint)
      const next = state.next[id] ?? this.#transition(state, codePoint, id)
      if (next === matched) return true
      if (this.#steps > stepsPerYield || at % charactersPerYield === charactersPerYield - 1) {
        this.#steps = 0
        yield
      }
      state = next
      at += codePoint > 0xff_ff ? 2 : 1
    }
    return false
  }

  #transition(state: State, codePoint: number, id: number): State | typeof matched {
    const next = this.#step(state, codePoint)
    if (this.#transitions++ > transitionsMax || this.#heads > headsMax) {
      this.#states = new Map()
      this.#heads = this.#transitions = 0
    } else state.next[id] = next
    return next
  }

  /** Follows all instructions that need no character, and those that accept this one. */
  #step({ heads, before }: State, codePoint: number): State | typeof matched {
    const { inst, start } = this.#program
    const holding = conditionsBetween(before, codePoint)
    const pending = [...heads]
    const after = [start]
    this.#visit++
    this.#followed[start] = this.#visit
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (this.#visited[id] === this.#visit) continue
      this.#visited[id] = this.#visit
      this.#steps++
      const instruction = inst[id] as Instruction
      switch (instruction.op) {
        case op.alt:
        case op.altMatch:
          pending.push(instruction.out, instruction.arg)
          break
        case op.capture:
        case op.nop:
          pending.push(instruction.out)
          break
        case op.emptyWidth:
          if ((instruction.arg & ~holding) === 0) pending.push(instruction.out)
          break
        case op.match:
          return matched
        case op.fail:
          break
        default:
          if (codePoint === none || this.#followed[instruction.out] === this.#visit || !accepts(instruction, codePoint))
            break
          this.#followed[instruction.out] = this.#visit
          after.push(instruction.out)
      }
    }
    return this.#state(after, kindOf(codePoint))
  }

  #state(heads: readonly number[], before: number): State {
    const sorted = Uint32Array.from(heads).toSorted()
    const key = `${before} ${sorted.join(' ')}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state: State = { heads: [...sorted], before, next: [] }
    this.#heads += sorted.length
    this.#states.set(key, state)
    return state
  }
}

/** Characters that all instructions of a program treat in the same way have the same class. */
class CharacterClasses {
  /** The first characters of classes, in order. */
  readonly #starts: Float64Array
  readonly #ascii = new Int32Array(128)

  constructor({ inst }: Program) {
    const starts = new Set([none, 0, newline, newline + 1, 48, 58, 65, 91, 95, 96, 97, 123])
    for (const { runes, arg } of inst)
      for (let index = 0; index < runes.length; index++) {
        const rune = runes[index] ?? 0
        // A single character, maybe of both cases, or the first and last of a range.
        if (runes.length === 1) for (const each of casesOf(rune, arg)) starts.add(each).add(each + 1)
        else starts.add(index % 2 === 0 ? rune : rune + 1)
      }
    this.#starts = Float64Array.from(starts).toSorted()
    for (let code = 0; code < 128; code++) this.#ascii[code] = this.#search(code)
  }

  of(codePoint: number): number {
    return codePoint >= 0 && codePoint < 128 ? (this.#ascii[codePoint] ?? 0) : this.#search(codePoint)
  }

  /** The index of the last start that is not above the character. */
  #search(codePoint: number): number {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= codePoint) low = middle
      else high = middle
    }
    return low
  }
}

/** The flag of an instruction that ignores case. */
const foldCase = 1

/** The characters that equal this one. */
function casesOf(rune: number, flags: number): Iterable<number> {
  if ((flags & foldCase) === 0) return [rune]
  const text = String.fromCodePoint(rune)
  const cases = [text, text.toLowerCase(), text.toUpperCase(), text.toUpperCase().toLowerCase()]
  // The two letters that equal an ASCII letter without being its other case.
  return [...cases.map((each) => each.codePointAt(0) ?? rune), 0x17_f, 0x21_2a]
}

/** What conditions depend on: states do not differ by the character itself. */
const kindOf = (codePoint: number): number =>
  codePoint === none || codePoint === newline ? codePoint : isWord(codePoint) ? wordCharacter : otherCharacter
