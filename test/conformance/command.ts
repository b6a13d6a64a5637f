// Runs a command of this machine to its end.
import { spawnSync } from 'node:child_process'

const outputBytesMax = 256 << 20

/** Returns its output; throws with its last line if it fails. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: outputBytesMax,
    ...options,
  })
  if (status === 0) return stdout
  const reason = error?.message ?? (stderr.trim().split('\n').at(-1) || `it ended with ${status}`)
  throw new Error(`${command} ${args.slice(0, 4).join(' ')}: ${reason}`)
}
