// ProjectQuotas: project quotas of XFS and ext4, set with their programs, because Node.js has neither quotactl nor ioctl.
import type { Processes } from '../../platform/process/processes.ts'
import type { DirectoryQuotas } from './directory-quotas.ts'

/** A mounted file system that enforces project quotas. */
export interface QuotaMount {
  readonly mountPoint: string
  readonly type: 'ext4' | 'xfs'
}

export interface ProjectQuotasDeps {
  readonly processes: Pick<Processes, 'run'>
  /** The content of /proc/self/mountinfo. */
  readonly mountInfo: () => Promise<string>
}

type Command = readonly [program: string, ...args: string[]]

export class ProjectQuotas implements DirectoryQuotas {
  readonly #deps: ProjectQuotasDeps

  constructor(deps: ProjectQuotasDeps) {
    this.#deps = deps
  }

  async supports(path: string, signal: AbortSignal): Promise<boolean> {
    const mount = quotaMountOf(path, await this.#deps.mountInfo())
    if (mount === undefined) return false
    for (const [program] of limitCommands(mount, path, 1, 1))
      if (!(await this.#isPresent(program, signal))) return false
    return true
  }

  async limit(directory: string, projectId: number, bytesMax: number, signal: AbortSignal): Promise<void> {
    const mount = quotaMountOf(directory, await this.#deps.mountInfo())
    if (mount === undefined) throw new Error(`the file system of ${directory} has no project quotas`)
    for (const [program, ...args] of limitCommands(mount, directory, projectId, bytesMax)) {
      const { code, stderr } = await this.#deps.processes.run(program, args, {}, signal)
      if (code !== 0) throw new Error(`${program} exited with ${code}: ${stderr.trim()}`)
    }
  }

  async #isPresent(program: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#deps.processes.run(program, ['-V'], {}, signal)
      return true
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Error) return false
      throw error
    }
  }
}

const blockBytes = 1024

export function limitCommands(
  { type, mountPoint }: QuotaMount,
  directory: string,
  projectId: number,
  bytesMax: number,
): readonly Command[] {
  const id = String(projectId)
  if (type === 'xfs')
    return [
      ['xfs_quota', '-x', '-c', `project -s -p "${directory}" ${id}`, mountPoint],
      ['xfs_quota', '-x', '-c', `limit -p bhard=${bytesMax} ${id}`, mountPoint],
    ]
  return [
    ['chattr', '+P', '-p', id, directory],
    ['setquota', '-P', id, '0', String(Math.ceil(bytesMax / blockBytes)), '0', '0', mountPoint],
  ]
}

/** The file system of a path, if it enforces project quotas. */
export function quotaMountOf(path: string, mountInfo: string): QuotaMount | undefined {
  let found: { readonly mountPoint: string; readonly type: string; readonly options: string } | undefined
  for (const line of mountInfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = before.split(' ')[4]?.replace(/\\040/g, ' ')
    const [type = '', , options = ''] = after.split(' ')
    if (mountPoint === undefined || !(mountPoint === '/' || `${path}/`.startsWith(`${mountPoint}/`))) continue
    if (found === undefined || mountPoint.length >= found.mountPoint.length) found = { mountPoint, type, options }
  }
  if (found === undefined || !found.options.split(',').some((option) => option === 'prjquota' || option === 'pquota'))
    return undefined
  const { mountPoint, type } = found
  return type === 'xfs' || type === 'ext4' ? { mountPoint, type } : undefined
}
