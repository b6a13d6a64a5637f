// Installs and removes a systemd unit.
import type { Files } from '../../platform/files.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { unitMark } from './systemd-unit.ts'

export interface ServiceDeps {
  readonly files: Pick<Files, 'read' | 'write' | 'remove'>
  readonly processes: Pick<Processes, 'run'>
  /** `/etc/systemd/system` */
  readonly directory: string
}

/** All users may read a unit, so it contains no secret. */
const unitMode = 0o644

/** Writes the unit, starts it now and at every start of the machine. One that runs already is restarted. */
export async function installService(
  name: string,
  text: string,
  deps: ServiceDeps,
  signal: AbortSignal,
): Promise<string> {
  const path = await pathOfOurs(name, deps)
  await deps.files.write(path, text, unitMode)
  await systemctl(['daemon-reload'], deps, signal)
  await systemctl(['enable', name], deps, signal)
  await systemctl(['restart', name], deps, signal)
  return path
}

/** Stops the unit and removes it. Returns undefined if there is none. */
export async function uninstallService(
  name: string,
  deps: ServiceDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = await pathOfOurs(name, deps)
  if ((await deps.files.read(path)) === undefined) return undefined
  await systemctl(['disable', '--now', name], deps, signal)
  await deps.files.remove(path)
  await systemctl(['daemon-reload'], deps, signal)
  return path
}

/** The path of the unit. Rejects if the file is not ours. */
async function pathOfOurs(name: string, { files, directory }: ServiceDeps): Promise<string> {
  const path = `${directory}/${name}.service`
  const found = await files.read(path)
  if (found !== undefined && !new TextDecoder().decode(found).startsWith(unitMark))
    throw new Error(`${path} was not written by coxswain service install; it stays as it is`)
  return path
}

async function systemctl(args: readonly string[], { processes }: ServiceDeps, signal: AbortSignal): Promise<void> {
  const { code, stderr } = await processes.run('systemctl', args, {}, signal)
  if (code !== 0) throw new Error(`systemctl ${args.join(' ')}: ${stderr.trim() || `exit code ${code}`}`)
}
