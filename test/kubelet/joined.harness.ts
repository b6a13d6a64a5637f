// A machine with real containers whose kubelet is a separate process, joined to a cluster in another process.
import { spawn, type ChildProcess } from 'node:child_process'
import { basename, join } from 'node:path'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { busybox, server } from '../containers/busybox.ts'
import { startRegistry } from '../containers/registry.ts'
import { kubectlEnvironment, runKubectl, type Printed } from '../kubectl.ts'
import type { RunningProcess } from '../process.ts'
import { goodToken, newest, startJoinable, type JoinableCluster } from './joining.harness.ts'

export interface JoinedMachine extends AsyncDisposable {
  readonly cluster: JoinableCluster
  /** An image that serves until it gets SIGTERM. */
  readonly image: string
  /** The data of the node: its pods, addresses and logs. */
  readonly folder: string
  /** The cgroup that contains all pods. */
  readonly cgroupRoot: string
  /** Creates a pod with one container, or with the given spec. */
  pod(name: string, container: object, spec?: object): Promise<void>
  wait(name: string, path: string, value: string): Promise<void>
  read(name: string, path: string): Promise<string>
  events(name: string): Promise<string>
  typed(args: readonly string[], input: string): Promise<Printed>
  /** A kubectl that runs concurrently with the test, and ends with it at the latest. */
  beside(args: readonly string[]): ChildProcess
  kill(): Promise<void>
  /** Restarts the kubelet that was killed. */
  again(): Promise<RunningProcess>
  readonly running: () => RunningProcess
}

/** Not the default one: the node reads it from the cluster. */
export const serviceRange = '10.43.0.0/16'

export async function startJoined(...options: string[]): Promise<JoinedMachine> {
  const stack = new AsyncDisposableStack()
  const registry = stack.use(await startRegistry())
  const image = registry.push('busybox:1', busybox({ command: server }))
  const cluster = stack.use(await startJoinable('--service-cluster-ip-range', serviceRange))
  const { k, up } = cluster
  const bootstrap = await cluster.bootstrapKubeconfig('good', `${goodToken.id}.${goodToken.secret}`)
  const parent = `/${basename(up.folder)}`
  stack.defer(async () => (await NodeCgroups.open()).remove(parent).catch(() => {}))
  const start = (...more: string[]) =>
    cluster.kubelet('worker', '--runtime', 'containerd', '--cgroup-root', parent, ...options, ...more)
  let running = await start('--bootstrap-kubeconfig', bootstrap)
  // Containers that a test left running would keep its cgroups.
  stack.defer(async () => void (await running.end()))
  stack.defer(async () => void (await cluster.ask(['delete', 'pod', '--all', '--timeout=30s'])))
  await k(['wait', 'node/worker', '--for=condition=Ready', '--timeout=200s'])
  return {
    cluster,
    image,
    folder: join(up.folder, 'worker', 'node'),
    cgroupRoot: `${parent}/kubepods`,
    pod: async (name, container, spec = {}) => {
      const containers = [{ name: 'c', image, ...container }]
      const whole = { terminationGracePeriodSeconds: 2, containers, ...spec }
      await k(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: whole })
    },
    wait: async (name, path, value) => {
      await k(['wait', `pod/${name}`, `--for=jsonpath={${path}}=${value}`, '--timeout=200s']).catch(
        async (error: unknown) => {
          throw new Error(await k(['describe', 'pod', name]), { cause: error })
        },
      )
    },
    read: (name, path) => k(['get', 'pod', name, '-o', `jsonpath={${path}}`]),
    events: (name) => k(['events', '--for', `pod/${name}`]),
    typed: (args, input) => runKubectl(newest(), up.kubeconfig, args, { input }),
    beside: (args) => {
      const child = spawn(newest().path, args, { env: kubectlEnvironment(up.kubeconfig) })
      stack.defer(() => void child.kill('SIGKILL'))
      return child
    },
    kill: async () => void (await running.end('SIGKILL')),
    again: async () => (running = await start()),
    running: () => running,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
