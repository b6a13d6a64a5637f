// Ctr: containerd's command line tool, for operations that CRI lacks. It uses the namespace of the CRI plugin.
import type { Processes } from '../../platform/process/processes.ts'

export type Ctr = (args: readonly string[], signal: AbortSignal) => Promise<string>

/** The containerd namespace of the CRI plugin's images and containers. */
const criNamespace = 'k8s.io'

/** Returns stdout; rejects with stderr when the command fails. */
export const ctrAt =
  (processes: Pick<Processes, 'run'>, socketPath: string): Ctr =>
  async (args, signal) => {
    const all = ['--address', socketPath, '--namespace', criNamespace, ...args]
    const { code, stdout, stderr } = await processes.run('ctr', all, {}, signal)
    if (code !== 0) throw new Error(`ctr failed: ${stderr.trim()}`)
    return stdout
  }
