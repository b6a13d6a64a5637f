// Programs of the host that the driver process runs, and the mounts that it sees.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const commandMsMax = 60_000

/** Runs a program; returns its output. Rejects with its error output. */
export async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, { timeout: commandMsMax })
  return stdout.trim()
}

export interface HostMount {
  readonly path: string
  readonly source: string
  /** What is mounted of the file system: `/`, or the path of a bind mount in it. */
  readonly root: string
  readonly isReadOnly: boolean
}

/** The last mount at a path; undefined when there is none. */
export const mountAt = (path: string): HostMount | undefined => hostMounts().findLast((mount) => mount.path === path)

export const hostMounts = (): HostMount[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ')
      const [, , , root = '', path = '', options = ''] = before.split(' ')
      const [, source = ''] = after.split(' ')
      return {
        path: unescaped(path),
        source: unescaped(source),
        root: unescaped(root),
        isReadOnly: options.split(',').includes('ro'),
      }
    })

const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))
