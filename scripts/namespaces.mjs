// Namespaces of their own for a program: a network with only loopback, private mounts, and processes that all end with it.
import { spawnSync } from 'node:child_process'

/** Set to '1' for a test file that is in namespaces already. */
export const namespacesMarker = 'COXSWAIN_IN_NAMESPACES'

/** The command that runs a program in namespaces. */
export const inNamespacesCommand = (...command) => ({
  program: 'unshare',
  args: [
    ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
    ...command,
  ],
})

/** A process and its descendants, what they wait for in the kernel, and their place in the tree. */
export function processTree(pid) {
  const columns = 'pid,ppid,stat,wchan:24,etimes,args'
  const { stdout } = spawnSync('ps', ['-e', '-ww', '--forest', '-o', columns], { encoding: 'utf8' })
  const pids = new Set()
  // Parents come before their children.
  const lines = (stdout ?? '').split('\n').filter((line, index) => {
    const [own, parent] = line.trim().split(/ +/).map(Number)
    const belongs = own === pid || pids.has(parent)
    if (belongs) pids.add(own)
    return belongs || index === 0
  })
  return { pids: [...pids], text: lines.map((line) => line.slice(0, 240)).join('\n') }
}
