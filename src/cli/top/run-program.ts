// runProgram: another program in the terminal of this process, until it ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realClock, type Timer } from '../../base/time/clock.ts'

/** The end of the errors of a program that is kept for the message. */
const errorCharsMax = 4_096
/** What the program wrote before it ended is in the pipe by then, and takes no longer to be read. */
const errorsMsMax = 250

/** Throws if the program does not start or does not end with 0, with the last line of its errors. */
export async function runProgram(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  const child = spawn(program, args, { stdio: ['inherit', 'inherit', 'pipe'], signal })
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => {
    process.stderr.write(piece)
    errors = (errors + piece.toString()).slice(-errorCharsMax)
  })
  // A program that it started, such as an editor that ignores an interrupt, may hold the pipe open for as long as it runs.
  let reading: Timer | undefined
  child.once('exit', () => (reading = realClock.after(errorsMsMax, () => child.stderr.destroy())))
  child.once('close', () => reading?.cancel())
  const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`${program} is not installed`, { cause: error }) : error
  })) as [number | null]
  if (code === 0) return
  const reason = errors.trim().split('\n').at(-1)?.trim() ?? ''
  throw new Error(`${program} ended with ${code ?? 'a signal'}${reason === '' ? '' : `: ${reason}`}`)
}
