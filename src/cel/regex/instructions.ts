// The instructions of a compiled pattern, and what they accept. The library has them, but its types do not.
import type { RE2JS } from 're2js'

/** An instruction of a compiled pattern, as the library has it. */
export interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  /** The ranges of accepted characters, or a single one. */
  readonly runes: ArrayLike<number>
  matchRune(codePoint: number): boolean
}

export interface Program {
  readonly inst: readonly Instruction[]
  readonly start: number
}

export const op = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  any: 10,
  anyButNewline: 11,
}
const condition = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 }

/** Stands for the character before the first and after the last. */
export const none = -1
export const newline = 10

export const programOf = (compiled: RE2JS): Program =>
  (compiled as unknown as { readonly re2Input: { readonly prog: Program } }).re2Input.prog

export function accepts(instruction: Instruction, codePoint: number): boolean {
  if (instruction.op === op.any) return true
  return instruction.op === op.anyButNewline ? codePoint !== newline : instruction.matchRune(codePoint)
}

export const isWord = (codePoint: number): boolean =>
  (codePoint >= 48 && codePoint <= 57) ||
  (codePoint >= 65 && codePoint <= 90) ||
  codePoint === 95 ||
  (codePoint >= 97 && codePoint <= 122)

export const conditionsBetween = (before: number, after: number): number =>
  (before === none ? condition.beginText | condition.beginLine : before === newline ? condition.beginLine : 0) |
  (after === none ? condition.endText | condition.endLine : after === newline ? condition.endLine : 0) |
  (isWord(before) === isWord(after) ? condition.noWordBoundary : condition.wordBoundary)
