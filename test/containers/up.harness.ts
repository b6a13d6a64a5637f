// coxswain up with real containers, used through kubectl and commands inside containers.
import { ok } from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder, startUpIn, type RunningUp } from '../process.ts'
import { busybox, server } from './busybox.ts'
import { startRegistry } from './registry.ts'

export interface RealUp extends AsyncDisposable {
  /** An image that serves until it gets SIGTERM. */
  readonly image: string
  /** An image that runs a shell. */
  readonly shellImage: string
  /** The cgroup that contains all pods of this cluster. */
  readonly cgroupRoot: string
  /** The directory with the data of the pods on the node. */
  readonly podsFolder: string
  readonly kubeconfig: string
  k(args: readonly string[], input?: object): Promise<string>
  apply(...objects: object[]): Promise<void>
  /** Runs a script in a pod's container; returns its output. */
  sh(pod: string, script: string, container?: string): Promise<string>
  /** Makes the first process of a pod's container exit. */
  endContainer(pod: string): Promise<void>
  /** Kills the process as a crash would, and starts it again on the same data. */
  crash(): Promise<void>
  /** All mount points below the node's directory. */
  mounts(): Promise<readonly string[]>
}

export async function startRealUp(...options: string[]): Promise<RealUp> {
  const stack = new AsyncDisposableStack()
  const registry = stack.use(await startRegistry())
  const image = registry.push('busybox:1', busybox({ command: server }))
  const shellImage = registry.push('shell:1', busybox({ command: ['/bin/sh'] }))
  const folder = await newFolder()
  // A failed test leaves mounts, which are removed with its namespaces; its own failure must be reported.
  stack.defer(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
  // Cgroups belong to the machine, whatever namespaces the test uses.
  const cgroupRoot = `/${basename(folder)}`
  const start = () => startUpIn(folder, '--runtime', 'containerd', '--cgroup-root', cgroupRoot, ...options)
  let up: RunningUp = await start()
  stack.defer(async () => (await NodeCgroups.open()).remove(cgroupRoot).catch(() => {}))
  stack.defer(async () => void (await up.end()))
  const [kubectl] = kubectls()
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const run = async (args: readonly string[], input: object | undefined, codes: readonly number[]) => {
    const body = input === undefined ? '' : JSON.stringify(input)
    const { out, err, code } = await runKubectl(kubectl, up.kubeconfig, args, { input: body })
    ok(codes.includes(code), `kubectl ${args.join(' ')}: ${code}: ${err}${out}`)
    return out
  }
  const k = (args: readonly string[], input?: object) => run(args, input, [0])
  const podsFolder = join(folder, 'data', 'node', 'pods')
  return {
    image,
    shellImage,
    cgroupRoot: `${cgroupRoot}/kubepods`,
    podsFolder,
    kubeconfig: join(folder, 'kubeconfig'),
    k,
    apply: async (...objects) => {
      await k(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: objects })
    },
    sh: (pod, script, container) =>
      k(['exec', pod, ...(container === undefined ? [] : ['-c', container]), '--', '/bin/sh', '-c', script]),
    async endContainer(pod) {
      // With the first process the kernel kills all others: the one that requested it may have exited before, or not.
      await run(['exec', pod, '--', '/bin/sh', '-c', 'kill -TERM 1'], undefined, [0, 137])
    },
    async crash() {
      await up.end('SIGKILL')
      up = await start()
    },
    async mounts() {
      const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
      return lines.map((line) => line.split(' ')[4] ?? '').filter((place) => place.startsWith(podsFolder))
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
