// kubelet: 50 real pods on one node, started and stopped: the time from bound to Running, the runtime's share of it,
// and the memory of the kubelet. Runs as root in its own namespaces, with containerd.
import { context } from '../src/base/observability/context.ts'
import { realClock } from '../src/base/time/clock.ts'
import { FlowRecorder } from '../src/base/observability/flow-recorder.ts'
import { silentLog } from '../src/base/observability/log.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { TaskGroup } from '../src/base/async/task-group.ts'
import { pod, type Pod } from '../src/api/core/v1/pod/pod.ts'
import { namespace } from '../src/api/core/v1/namespace.ts'
import { Informer } from '../src/client/informer/informer.ts'
import { startCluster } from '../src/cluster/testing/start-cluster.ts'
import { startRealNode } from '../src/cluster/node/real-node.ts'
import { Kubelet } from '../src/kubelet/kubelet.ts'
import { defaultKubeletSettings } from '../src/kubelet/node/kubelet-settings.ts'
import type { ContainerRuntime } from '../src/machine/runtime/container-runtime.ts'
import { nodePlatform } from '../src/platform/node/platform.ts'
import { busybox, server } from '../test/containers/busybox.ts'
import { startRegistry } from '../test/containers/registry.ts'
import { newFolder } from '../test/process.ts'
import { namespacedBench } from './namespaced-bench.ts'

const podCount = 50

export const kubeletBench = namespacedBench('kubelet', measure)

/** The time of each runtime call for the pod that is being started. */
function timed(runtime: ContainerRuntime, spentMs: Map<string, number>, current: () => string): ContainerRuntime {
  const podOfSandbox = new Map<string, string>()
  const podOfContainer = new Map<string, string>()
  const spend = async <T>(uid: string, call: Promise<T>): Promise<T> => {
    const beganMs = performance.now()
    const result = await call
    if (uid === current()) spentMs.set(uid, (spentMs.get(uid) ?? 0) + performance.now() - beganMs)
    return result
  }
  return new Proxy(runtime, {
    get(target, name) {
      if (name === 'runSandbox')
        return async (...args: Parameters<ContainerRuntime['runSandbox']>) => {
          const id = await spend(args[0].podUid, target.runSandbox(...args))
          podOfSandbox.set(id, args[0].podUid)
          return id
        }
      if (name === 'createContainer')
        return async (...args: Parameters<ContainerRuntime['createContainer']>) => {
          const uid = podOfSandbox.get(args[0]) ?? ''
          const id = await spend(uid, target.createContainer(...args))
          podOfContainer.set(id, uid)
          return id
        }
      if (name === 'startContainer')
        return (...args: Parameters<ContainerRuntime['startContainer']>) =>
          spend(podOfContainer.get(args[0]) ?? '', target.startContainer(...args))
      if (name === 'inspect')
        return (...args: Parameters<ContainerRuntime['inspect']>) => spend(args[0], target.inspect(...args))
      if (name === 'findImage')
        return (...args: Parameters<ContainerRuntime['findImage']>) => spend(current(), target.findImage(...args))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

async function* measure(): AsyncGenerator<string> {
  const controller = new AbortController()
  const { signal } = controller
  const ctx = context(signal)
  await using registry = await startRegistry()
  const image = registry.push('busybox:1', busybox({ command: server }))
  const folder = await newFolder()
  await using cluster = await startCluster({ nodes: 0, time: 'flowing', https: false })
  const { client } = cluster
  const real = await startRealNode(
    {
      dataDirectory: folder,
      hostIp: '127.0.0.1',
      ranges: { podRanges: ['10.244.0.0/24'], serviceRanges: [] },
      settings: defaultKubeletSettings,
    },
    { platform: nodePlatform, clock: realClock, log: silentLog },
    signal,
  )
  await real.runtime.pullImage(image, undefined, signal)
  const emptyMb = heapMb()
  const spentMs = new Map<string, number>()
  const tasks = new TaskGroup()
  let current = ''
  const runtime = timed(real.runtime, spentMs, () => current)
  tasks.start('runtime', (stop) => real.runtime.watch(stop))
  new Kubelet({
    client,
    runtime,
    clock: realClock,
    random: systemRandom,
    flow: new FlowRecorder(realClock),
    log: silentLog,
    description: real.description,
    host: real.host(() => []),
  }).start(tasks)
  await client.of(namespace).find('default', '', ctx)
  const boundMs = new Map<string, number>()
  const tookMs = new Map<string, number>()
  let changed = Promise.withResolvers<void>()
  const informer = new Informer<Pod>(pod, client.of(pod), { clock: realClock, random: systemRandom, log: silentLog })
  const seen = { pods: 0 }
  informer.onChange(({ now, before }) => {
    seen.pods += (now === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    if (now?.status.phase === 'Running' && !tookMs.has(now.metadata.uid))
      tookMs.set(now.metadata.uid, performance.now() - (boundMs.get(now.metadata.uid) ?? performance.now()))
    changed.resolve()
    changed = Promise.withResolvers()
  })
  tasks.start('watch', (stop) => informer.run(stop))
  const spec = {
    nodeName: real.description.name,
    terminationGracePeriodSeconds: 5,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image, imagePullPolicy: 'IfNotPresent' as const }],
  }
  const processorMs: number[] = []
  // Sequentially: this measures the start of a pod, not the queue of the runtime.
  for (let index = 0; index < podCount; index++) {
    const made = await client.of(pod).create({ metadata: { name: `p${index}` }, spec }, 'default', ctx)
    current = made.metadata.uid
    const began = process.cpuUsage()
    boundMs.set(current, performance.now())
    while (!tookMs.has(current)) await changed.promise
    current = ''
    const { user, system } = process.cpuUsage(began)
    processorMs.push((user + system) / 1000)
  }
  const all = [...tookMs.values()]
  // The first pod includes compilation.
  const [first = 0, ...own] = [...tookMs].map(([uid, ms]) => ms - (spentMs.get(uid) ?? 0))
  yield `${podCount} real pods, bound → Running: p50 ${quantile(all, 0.5).toFixed(0)} ms, p99 ${quantile(all, 0.99).toFixed(0)} ms`
  yield `our share beside the runtime's calls: the first ${first.toFixed(0)} ms, then p50 ${quantile(own, 0.5).toFixed(1)} ms, p99 ${quantile(own, 0.99).toFixed(1)} ms`
  yield `processor time of the kubelet and the API server for it: p50 ${quantile(processorMs, 0.5).toFixed(1)} ms, p99 ${quantile(processorMs, 0.99).toFixed(1)} ms`
  yield `memory of the kubelet with ${podCount} pods, API server's objects included: ${(heapMb() - emptyMb).toFixed(1)} MB`
  const beganMs = performance.now()
  for (let index = 0; index < podCount; index++) await client.of(pod).delete(`p${index}`, 'default', {}, ctx)
  while (seen.pods > 0) await changed.promise
  yield `${podCount} pods deleted together, gone after ${((performance.now() - beganMs) / 1000).toFixed(1)} s`
  tasks.stop()
  await tasks.join()
  await real.stop()
}
