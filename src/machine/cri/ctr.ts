// Ctr: containerd's own command line tool, for what CRI has no call for. It works in the namespace of the kubelet's images
// and containers, whichever containerd it is.
import type { Processes } from '../../platform/process/processes.ts'

export type Ctr = (args: readonly string[], signal: AbortSignal) => Promise<string>

/** Where the CRI plugin of containerd keeps images and containers. */
const criNamespace = 'k8s.io'

/** Returns what it prints; rejects with what it complains of. */
export const ctrAt =
  (processes: Pick<Processes, 'run'>, socketPath: string): Ctr =>
  async (args, signal) => {
    const all = ['--address', socketPath, '--namespace', criNamespace, ...args]
    const { code, stdout, stderr } = await processes.run('ctr', all, {}, signal)
    if (code !== 0) throw new Error(`ctr failed: ${stderr.trim()}`)
    return stdout
  }
