// A pod that is deleted at any step of its start leaves nothing behind: before, during and after each call to
// containerd, and with a connection that breaks during the call, as when a kubelet is killed. COXSWAIN_LONG=1: 200
// rounds each.
import { deepEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'
import { context } from '../../src/base/observability/context.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { pod as podKind, type Pod } from '../../src/api/core/v1/pod/pod.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'
import { kubeletSettings } from '../../src/cluster/flags/kubelet-flags.ts'
import { startRealKubelet } from '../../src/cluster/node/kubelet-node.ts'
import { startRealNode, type RealNode } from '../../src/cluster/node/real-node.ts'
import { startCluster, type TestCluster } from '../../src/cluster/testing/start-cluster.ts'
import { NodeCgroups } from '../../src/machine/cgroups/node-cgroups.ts'
import { CriRuntime } from '../../src/machine/cri/cri-runtime.ts'
import type { SandboxConfig } from '../../src/machine/runtime/runtime-config.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { newFolder } from '../process.ts'
import { until } from '../until.ts'
import { busybox, server } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { startRegistry, type Registry } from './registry.ts'
import { withSeed } from './seed.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const roundsEach = isLong ? 200 : 2
const testMsMax = isLong ? 3_600_000 : 300_000

/** The calls of a start, in order. `exec` is the postStart hook. */
const steps = ['runSandbox', 'pullImage', 'createContainer', 'startContainer', 'exec'] as const
type Step = (typeof steps)[number]
const moments = ['before', 'during', 'after', 'cut off'] as const
type Moment = (typeof moments)[number]

/** The pod is deleted, or the connection closed, within this time after the start of the call. */
const duringMsMax: Readonly<Record<Step, number>> = {
  runSandbox: 250,
  pullImage: 20,
  createContainer: 40,
  startContainer: 120,
  exec: 60,
}

const { signal } = new AbortController()
const ctx = context(signal)
const run = promisify(execFile)
const nodeName = 'solo'
const image = busybox({ command: server })
const nothing = { containers: [], tasks: [], pods: [], logs: [], addresses: [], mounts: [] }

/** The interruption of one pod. */
interface Round {
  readonly step: Step
  readonly moment: Moment
  /** Delay after the start of the call. */
  readonly delayMs: number
  isReached: boolean
  remove(): Promise<void>
}

inNamespaces(
  import.meta.url,
  () => {
    const resources = new AsyncDisposableStack()
    let cluster: TestCluster
    let registry: Registry
    let real: RealNode
    let folder: string
    let socketPath: string
    const rounds = new Map<string, Round>()
    /** The pod of each container, by container id. */
    const owners = new Map<string, string>()

    before(async () => {
      registry = resources.use(await startRegistry())
      cluster = resources.use(await startCluster({ nodes: 0, time: 'flowing', https: false }))
      folder = await newFolder()
      resources.defer(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
      const cgroupRoot = `/${basename(folder)}`
      resources.defer(async () => (await NodeCgroups.open()).remove(cgroupRoot).catch(() => {}))
      real = await startRealNode(
        {
          settings: kubeletSettings({ 'cgroup-root': cgroupRoot }),
          dataDirectory: folder,
          hostIp: '127.0.0.1',
          name: nodeName,
          ranges: { podRanges: ['10.88.0.0/16'], serviceRanges: [] },
        },
        { platform: nodePlatform, clock: realClock, log: silentLog },
        signal,
      )
      resources.defer(() => real.stop())
      resources.defer(() => real.stopPods())
      socketPath = join(folder, 'node/containerd/containerd.sock')
      const tasks = resources.use(new TaskGroup())
      const client = cluster.as(`system:node:${nodeName}`, ['system:nodes', 'system:authenticated'])
      const flow = new FlowRecorder(realClock)
      const deps = { client, clock: realClock, random: systemRandom, flow, log: silentLog }
      // No agent enforces network policies here, so pods must not wait for it.
      const host: RealNode['host'] = (services) => {
        const { protectPod: _, ...rest } = real.host(services)
        return rest
      }
      startRealKubelet({ ...real, host, runtime: interrupted(real.runtime) }, deps, tasks)
      await until(async () => (await ctr('version')) !== '')
    })
    after(() => resources.disposeAsync())

    /** The runtime, with an interruption at one step of each pod. */
    const interrupted = (runtime: CriRuntime): CriRuntime =>
      new Proxy(runtime, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => {
            const step = steps.find((name) => name === property)
            const call = (on: CriRuntime) =>
              Reflect.apply(Reflect.get(on, property) as typeof value, on, args) as unknown
            return step === undefined ? call(target) : take(step, args, call)
          }
        },
      })

    const take = async (step: Step, args: readonly unknown[], call: (on: CriRuntime) => unknown): Promise<unknown> => {
      const name = podOf(step, args)
      const round = rounds.get(name)
      const isDue = round?.step === step && !round.isReached
      const answer = isDue ? await interrupt(round, call) : await call(real.runtime)
      if (step === 'createContainer') owners.set(String(answer), name)
      return answer
    }

    /** The pod of a call. Every pod has its own image. */
    const podOf = (step: Step, args: readonly unknown[]): string => {
      switch (step) {
        case 'runSandbox':
          return (args[0] as SandboxConfig).name
        case 'pullImage':
          return String(args[0]).replace(`${registry.host}/`, '').replace(':1', '')
        case 'createContainer':
          return (args[2] as SandboxConfig).name
        case 'startContainer':
        case 'exec':
          return owners.get(String(args[0])) ?? ''
        default:
          return step satisfies never
      }
    }

    const interrupt = async (meant: Round, call: (on: CriRuntime) => unknown): Promise<unknown> => {
      meant.isReached = true
      const soon = () => realClock.sleep(meant.delayMs, signal)
      switch (meant.moment) {
        case 'before':
          await meant.remove()
          return call(real.runtime)
        case 'during':
          void soon().then(() => meant.remove())
          return call(real.runtime)
        case 'after': {
          const answer = await call(real.runtime)
          await meant.remove()
          return answer
        }
        case 'cut off': {
          const deps = { http2: nodePlatform.http2, clock: realClock, log: silentLog }
          const other = await CriRuntime.connect(socketPath, deps, signal)
          void soon().then(() => other.close())
          try {
            return await call(other)
          } finally {
            other.close()
            await meant.remove()
          }
        }
        default:
          return meant.moment satisfies never
      }
    }

    const ctr = async (...args: string[]) =>
      (await run('ctr', ['--address', socketPath, '--namespace', 'k8s.io', ...args])).stdout
    const lines = (text: string) => text.split('\n').filter((line) => line !== '')
    const listed = (...path: string[]) => readdir(join(folder, 'node', ...path)).catch((): string[] => [])
    const left = async () => ({
      containers: lines(await ctr('containers', 'ls', '-q')),
      tasks: lines(await ctr('tasks', 'ls', '-q')),
      pods: await listed('pods'),
      logs: await listed('logs'),
      addresses: (await listed('addresses', 'coxswain')).filter((name) => /^\d/.test(name)),
      mounts: lines(await readFile('/proc/mounts', 'utf8')).filter((line) => line.includes(join(folder, 'node/pods'))),
    })

    /** Everything that remains, with the labels of its containers. */
    const describeLeft = async (remaining: Awaited<ReturnType<typeof left>>): Promise<string> => {
      const infos = await Promise.all(remaining.containers.map((id) => ctr('containers', 'info', id)))
      const labels = infos.map((text) => (JSON.parse(text) as { Labels?: object }).Labels)
      return `something is left: ${JSON.stringify({ ...remaining, labels })}`
    }

    const makePod = (name: string): Promise<Pod> =>
      cluster.client.of(podKind).create(
        {
          metadata: { name },
          spec: {
            nodeName,
            automountServiceAccountToken: false,
            terminationGracePeriodSeconds: 1,
            volumes: [{ name: 'v', emptyDir: {} }],
            containers: [
              {
                name: 'c',
                image: `${registry.host}/${name}:1`,
                imagePullPolicy: 'Always',
                volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'part' }],
                lifecycle: { postStart: { exec: { command: ['/bin/true'] } } },
              },
            ],
          },
        } as unknown as Pod,
        'default',
        ctx,
      )

    const deleted = async (name: string, step: Step, moment: Moment, gracePeriodSeconds: number, delayMs: number) => {
      const remove = async () => {
        try {
          await cluster.client.of(podKind).delete(name, 'default', { gracePeriodSeconds }, ctx)
        } catch (error) {
          if (!hasReason(error, 'NotFound')) throw error
        }
      }
      registry.push(`${name}:1`, image)
      const round: Round = { step, moment, delayMs, isReached: false, remove }
      rounds.set(name, round)
      const { uid } = (await makePod(name)).metadata
      await until(() => round.isReached)
      await until(async () => {
        const found = await cluster.client
          .of(podKind)
          .get(name, 'default', ctx)
          .catch(() => undefined)
        if (found !== undefined) return false
        const known = await real.runtime.podUids(signal)
        const folders = await listed('pods')
        return !known.includes(uid) && !folders.includes(uid)
      }).catch(async (error: unknown) => {
        throw new Error(`${name}: ${JSON.stringify(await left())}`, { cause: error })
      })
      rounds.delete(name)
    }

    describe('a pod is deleted', { concurrency: steps.length }, () => {
      for (const moment of moments)
        for (const step of steps)
          test(`${moment} ${step}`, () =>
            withSeed(async (random) => {
              for (let count = 0; count < roundsEach; count++) {
                const name = `${step}-${moment.replace(' ', '-')}-${count}`.toLowerCase()
                // Alternately with a grace period of 0, as with --force, and of 1 s.
                await deleted(name, step, moment, count % 2, random.below(duringMsMax[step]))
              }
            }))
    })

    test('nothing is left', async () => {
      await until(async () => Object.values(await left()).every(({ length }) => length === 0)).catch(() => {})
      const remaining = await left()
      deepEqual(remaining, nothing, (await describeLeft(remaining)) ?? '')
    })
  },
  testMsMax,
)
