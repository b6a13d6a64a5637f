// MatchMachine: finds the same matches as the library, in steps, so that a long search can be interrupted. All alternatives
// are followed at the same time, in the order of their priority, so a search is linear in the text.
import { accepts, conditionsBetween, none, op, type Instruction, type Program } from './instructions.ts'

export interface Match {
  readonly start: number
  readonly end: number
}

/** An alternative: the instruction that continues it, and where its match started. */
interface Thread {
  readonly id: number
  readonly start: number
}

/** A search yields after this many instructions. */
const stepsPerYield = 2_000

export class MatchMachine {
  readonly #program: Program
  readonly #visited: Uint32Array
  #visit = 0
  #steps = 0

  constructor(program: Program) {
    this.#program = program
    this.#visited = new Uint32Array(program.inst.length)
  }

  /** The leftmost match from a position on; of several, the one that the pattern prefers. Yields regularly. */
  *find(text: string, from: number): Generator<undefined, Match | undefined, undefined> {
    let threads: Thread[] = []
    let match: Match | undefined
    for (let at = from; at <= text.length;) {
      const codePoint = at === text.length ? none : (text.codePointAt(at) ?? none)
      // No later start is preferred to a match.
      if (match === undefined) threads.push({ id: this.#program.start, start: at })
      const following = this.#follow(threads, conditionsBetween(before(text, at), codePoint))
      threads = []
      for (const { id, start } of following) {
        const instruction = this.#instruction(id)
        if (instruction.op === op.match) {
          match = { start, end: at }
          break
        }
        if (codePoint !== none && accepts(instruction, codePoint)) threads.push({ id: instruction.out, start })
      }
      if (threads.length === 0 && match !== undefined) return match
      if (this.#steps >= stepsPerYield) {
        this.#steps = 0
        yield
      }
      at += codePoint > 0xff_ff ? 2 : 1
    }
    return match
  }

  #instruction(id: number): Instruction {
    return this.#program.inst[id] as Instruction
  }

  /** The instructions that need a character or end the match, by priority. Each is reached once, by its best thread. */
  #follow(threads: readonly Thread[], holding: number): Thread[] {
    this.#visit++
    const found: Thread[] = []
    for (const { id: first, start } of threads) {
      const pending = [first]
      for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
        if (this.#visited[id] === this.#visit) continue
        this.#visited[id] = this.#visit
        this.#steps++
        const instruction = this.#instruction(id)
        switch (instruction.op) {
          case op.alt:
          case op.altMatch:
            pending.push(instruction.arg, instruction.out)
            break
          case op.capture:
          case op.nop:
            pending.push(instruction.out)
            break
          case op.emptyWidth:
            if ((instruction.arg & ~holding) === 0) pending.push(instruction.out)
            break
          case op.fail:
            break
          default:
            found.push({ id, start })
        }
      }
    }
    return found
  }
}

/** The code point before a position. */
function before(text: string, at: number): number {
  if (at === 0) return none
  const unit = text.charCodeAt(at - 1)
  const isLow = unit >= 0xdc_00 && unit <= 0xdf_ff && at > 1
  return isLow ? (text.codePointAt(at - 2) ?? unit) : unit
}
