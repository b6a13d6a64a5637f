import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { plainSandbox, type SandboxConfig } from '../../machine/runtime/runtime-config.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { selfTest } from './self-test.ts'

const { signal } = new AbortController()

/** A machine whose sandboxes start, or fail as a machine without usable control groups does. */
function machine(start?: (config: SandboxConfig, stop: AbortSignal) => Promise<string>) {
  const clock = new VirtualClock()
  const runtime = new SimulatedRuntime(clock, seededRandom(1))
  const started: SandboxConfig[] = []
  const run = runtime.runSandbox.bind(runtime)
  runtime.runSandbox = (config, stop) => {
    started.push(config)
    return (start ?? run)(config, stop)
  }
  const removed: string[] = []
  const cgroups = { remove: (path: string) => Promise.resolve(void removed.push(path)) }
  return {
    clock,
    runtime,
    started,
    removed,
    run: () => selfTest({ runtime, cgroups, clock, cgroupRoot: '/kubepods' }, signal),
  }
}

test('a sandbox is started and removed, with its control group', async () => {
  const { runtime, started, removed, run } = machine()
  await run()
  deepEqual(
    started.map(({ cgroupParent, namespaces }) => [cgroupParent, namespaces.network]),
    [['/kubepods/coxswain-self-test', 'node']],
  )
  deepEqual([await runtime.podUids(signal), removed], [[], ['/kubepods/coxswain-self-test']])
})

test('a machine that cannot start one says why', async () => {
  const { removed, run } = machine(() => Promise.reject(new Error('cgroup: read-only file system')))
  await rejects(run(), { message: 'no container can be started on this machine: cgroup: read-only file system' })
  deepEqual(removed, ['/kubepods/coxswain-self-test'])
})

test('a runtime that does not answer is an error after a minute', async () => {
  const hanging = (_: SandboxConfig, stop: AbortSignal) =>
    new Promise<string>((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason as Error)))
  const { clock, run } = machine(hanging)
  const tested = rejects(run(), { message: 'no container can be started on this machine: it was not ready after 60 s' })
  await clock.advance('60s')
  await tested
})

test('the sandbox of a test that was interrupted is removed first', async () => {
  const { runtime, started, run } = machine()
  await runtime.runSandbox(plainSandbox('coxswain-self-test', 'coxswain', 'self-test'), signal)
  await run()
  deepEqual([started.length, await runtime.podUids(signal)], [2, []])
})

test('a machine whose containers run on is not tested', async () => {
  const { runtime, started, run } = machine()
  await runtime.runSandbox(plainSandbox('u', 'default', 'web'), signal)
  await run()
  deepEqual(
    started.map(({ podUid }) => podUid),
    ['u'],
  )
})
