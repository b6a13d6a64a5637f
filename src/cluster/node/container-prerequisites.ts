// The prerequisites for containers on this machine. Separate from the node itself, because most starts only check them.
import { existsSync } from 'node:fs'

/** Why this machine cannot run containers; undefined when it can. */
export function missingContainerPrerequisites(): string | undefined {
  if (process.platform !== 'linux') return 'containers need Linux'
  if (process.getuid?.() !== 0) return 'containers need root'
  const directories = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']
  const missing = ['containerd', 'ctr', 'runc', 'ip', 'nft'].filter(
    (name) => !directories.some((directory) => existsSync(`${directory}/${name}`)),
  )
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  return cniPluginDirectory() === undefined ? 'not installed: CNI plugins' : undefined
}

export const cniPluginDirectory = (): string | undefined =>
  ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'].find((directory) => existsSync(`${directory}/bridge`))
