// runProgram: another program in the terminal of this process, until it ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Throws if the program does not start or does not end with 0. */
export async function runProgram(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'inherit' })
  const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`${program} is not installed`, { cause: error }) : error
  })) as [number | null]
  if (code !== 0) throw new Error(`${program} ended with ${code ?? 'a signal'}`)
}
