// readLog: reads a container's log file: the last lines or those since a time, with or without timestamps, and follows
// it across rotations while the container runs.
import type { LogFile, LogFiles } from '../../machine/logs/log-files.ts'
import { fixedNanoseconds, parseCriLine } from './cri-line.ts'

export interface LogOptions {
  readonly follow: boolean
  readonly timestamps: boolean
  readonly tailLines: number | undefined
  /** Earlier lines are skipped. */
  readonly sinceMs: number | undefined
  readonly limitBytes: number | undefined
}

export interface LogSource {
  readonly files: LogFiles
  readonly path: string
  isRunning(): Promise<boolean>
}

const blockBytes = 64 * 1024
/** Runtimes split longer lines; a file without line feeds is not a CRI log. */
const lineBytesMax = 1024 * 1024
const lineFeed = 0x0a

export async function* readLog(
  source: LogSource,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const writer = new LogWriter(options)
  let file = await source.files.open(source.path)
  if (file === undefined) return
  // After a rotation: the file that replaced the one that is being read.
  let successor: LogFile | undefined
  try {
    const range = await file.range()
    let at = await startOf(file, range, options.tailLines)
    // Without `follow`, only what was in the file at the beginning is read.
    const limit = options.follow ? Infinity : range.end
    let hasOutput = false
    let hasExited = false
    let hasSuccessorLines = false
    for (;;) {
      const { output, next } = await readLines(file, at, limit, writer)
      const hasGrown = next > at
      at = next
      if (output.length > 0) yield output
      if (writer.isFull) return
      hasOutput ||= hasGrown
      if (hasGrown) continue
      if (!options.follow) return
      if (successor === undefined && (await file.isReplaced())) successor = await source.files.open(source.path)
      if (successor !== undefined && hasSuccessorLines) {
        await file[Symbol.asyncDispose]()
        file = successor
        successor = undefined
        hasSuccessorLines = false
        at = 0
        continue
      }
      // The runtime writes the last lines to the old file after it has created the new one, and before the first line of the
      // new one. They are read before switching to the new file.
      hasSuccessorLines = successor !== undefined && (await successor.range()).end > 0
      if (hasSuccessorLines) continue
      if (hasExited) return
      // A container that does not print may have exited; its last output is then read once more before the end.
      if (!hasOutput) hasExited = !(await source.isRunning())
      hasOutput = false
      if (!hasExited) await file.waitForChange(signal)
    }
  } finally {
    await file[Symbol.asyncDispose]()
    await successor?.[Symbol.asyncDispose]()
  }
}

/** The offset of the last `tailLines` lines. */
async function startOf(
  file: LogFile,
  { start, end }: Awaited<ReturnType<LogFile['range']>>,
  tailLines: number | undefined,
): Promise<number> {
  if (tailLines === undefined) return start
  let wanted = tailLines
  for (let blockEnd = end; blockEnd > start;) {
    const blockStart = Math.max(start, blockEnd - blockBytes)
    const block = await readExactly(file, blockStart, blockEnd - blockStart)
    for (let index = block.lastIndexOf(lineFeed); index >= 0; index = block.lastIndexOf(lineFeed, index - 1)) {
      if (wanted-- === 0) return blockStart + index + 1
      if (index === 0) break
    }
    blockEnd = blockStart
  }
  return start
}

/** Reads `length` bytes, or fewer at the end of the file. */
async function readExactly(file: LogFile, start: number, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for (let filled = 0; filled < length;) {
    const piece = await file.read(start + filled, length - filled)
    if (piece.length === 0) break
    pieces.push(piece)
    filled += piece.length
  }
  return joined(pieces)
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0]
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** The complete lines of the next block as they are shown, and the next offset. */
async function readLines(
  file: LogFile,
  at: number,
  limit: number,
  writer: LogWriter,
): Promise<{ output: Uint8Array; next: number }> {
  const from = Math.max(at, (await file.range()).start)
  for (let bytes = blockBytes; ; bytes *= 2) {
    const block = await readExactly(file, from, Math.max(0, Math.min(bytes, limit - from)))
    const wholeEnd = block.lastIndexOf(lineFeed) + 1
    const isAtEnd = block.length < bytes
    if (wholeEnd === 0 && !isAtEnd && bytes < lineBytesMax) continue
    const pieces: Uint8Array[] = []
    for (let lineStart = 0; lineStart < wholeEnd && !writer.isFull;) {
      const lineEnd = block.indexOf(lineFeed, lineStart) + 1
      pieces.push(...writer.output(block.subarray(lineStart, lineEnd)))
      lineStart = lineEnd
    }
    return { output: joined(pieces), next: from + (wholeEnd > 0 || isAtEnd ? wholeEnd : bytes) }
  }
}

/** Filters and formats lines according to the options. */
class LogWriter {
  readonly #options: LogOptions
  #left: number
  #isWithinLine = false

  constructor(options: LogOptions) {
    this.#options = options
    this.#left = options.limitBytes ?? Infinity
  }

  get isFull(): boolean {
    return this.#left <= 0
  }

  *output(line: Uint8Array): Generator<Uint8Array> {
    const parsed = parseCriLine(line)
    if (parsed === undefined) return
    const { timestamp, content, isPartial } = parsed
    const { sinceMs, timestamps } = this.#options
    if (sinceMs !== undefined && Date.parse(timestamp) < sinceMs) return
    if (timestamps && !this.#isWithinLine)
      yield* this.#limited(new TextEncoder().encode(`${fixedNanoseconds(timestamp)} `))
    this.#isWithinLine = isPartial
    yield* this.#limited(content)
  }

  *#limited(bytes: Uint8Array): Generator<Uint8Array> {
    const piece = bytes.subarray(0, Math.min(bytes.length, this.#left))
    this.#left -= piece.length
    if (piece.length > 0) yield piece
  }
}
