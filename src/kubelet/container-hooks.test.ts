// Hooks of containers on simulated nodes.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { serveUntilTerminated, type SimulatedProgram } from '../machine/runtime/simulated-runtime.ts'
import { ctx, eventsOf, firstStatus, run } from './pod-on-node.harness.ts'

test('hooks: postStart after the start, preStop within the grace period', async () => {
  const trace: string[] = []
  const program: SimulatedProgram = ({ onCommand, terminated, clock }) => {
    const say = (what: string) => trace.push(`${what} at ${(clock.nowMs() - startMs) / 1000}`)
    const startMs = clock.nowMs()
    onCommand(async ([name = '']) => {
      say(name)
      if (name === 'before') await clock.sleep(4000, new AbortController().signal)
      return { exitCode: 0 }
    })
    return new Promise((resolve) =>
      terminated.addEventListener('abort', () => {
        say(String(terminated.reason))
        resolve(0)
      }),
    )
  }
  const lifecycle = {
    postStart: { exec: { command: ['after'] } },
    preStop: { exec: { command: ['before'] } },
    stopSignal: 'SIGUSR1' as const,
  }
  const spec = { os: { name: 'linux' as const }, containers: [{ name: 'c', image: 'tested', lifecycle }] }
  await using running = await run(spec, { tested: program })
  await running.cluster.clock.advance('10s')
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('10s')
  deepEqual(trace, ['after at 0', 'before at 10', 'SIGUSR1 at 14'])
  equal(await running.pods.find('p', 'default', ctx), undefined)
})

test('a failed postStart hook restarts the container; a failed preStop hook does not stop the termination', async () => {
  const lifecycle = { postStart: { exec: { command: ['x'] } }, preStop: { httpGet: { port: 1 } } }
  const program: SimulatedProgram = (process) => {
    process.onCommand(() => Promise.resolve({ exitCode: 1, stdout: 'a secret' }))
    return serveUntilTerminated(process)
  }
  await using running = await run({ containers: [{ name: 'c', image: 'tested', lifecycle }] }, { tested: program })
  await running.cluster.clock.advance('5s')
  const statuses = await eventsOf(running.cluster)
  equal(
    statuses.some((line) => line.startsWith('FailedPostStartHook: PostStartHook failed')),
    true,
    statuses.join('\n'),
  )
  equal(statuses.join('\n').includes('secret'), false)
  const status = await firstStatus(running)
  deepEqual([status?.state?.waiting?.reason, status?.lastState?.terminated?.exitCode], ['CrashLoopBackOff', 0])
})

test('a failed preStop hook is reported, and a sleeping one is limited by the grace period', async () => {
  for (const [preStop, statuses] of [
    [{ httpGet: { port: 1 } }, true],
    [{ sleep: { seconds: 60 } }, false],
  ] as const) {
    const lifecycle = { preStop }
    await using running = await run(
      { terminationGracePeriodSeconds: 61, containers: [{ name: 'c', image: 'tested', lifecycle }] },
      { tested: serveUntilTerminated },
    )
    await running.cluster.clock.advance('2s')
    await running.pods.delete('p', 'default', { gracePeriodSeconds: 10 }, ctx)
    await running.cluster.clock.advance('11s')
    equal(await running.pods.find('p', 'default', ctx), undefined)
    equal((await eventsOf(running.cluster)).includes('FailedPreStopHook: PreStopHook failed'), statuses)
  }
})
