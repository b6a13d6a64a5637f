// writeLine: writes a line to stdout synchronously. The pipe may be full while the reader is slow; the write is
// repeated, because a dropped or truncated line would falsify the record.
import { writeSync } from 'node:fs'

const sleeper = new Int32Array(new SharedArrayBuffer(4))
const fullMs = 1

export function printLine(line: string): void {
  let rest: Uint8Array = new TextEncoder().encode(`${line}\n`)
  while (rest.length > 0)
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
      Atomics.wait(sleeper, 0, 0, fullMs)
    }
}
