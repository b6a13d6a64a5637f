import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import { ManualShutdown } from './manual-shutdown.ts'
import { shutdownContract, shutdownDelayMs } from './shutdown-contract.suite.ts'
import { CannotDelayShutdown } from './host-shutdown.ts'
import { simulatedLogind } from './logind.harness.ts'
import { NodeLogind } from './node-logind.ts'

shutdownContract('announced', () => {
  const shutdown = new ManualShutdown()
  let isReleased = false
  return Promise.resolve({
    shutdown,
    announce(isShuttingDown) {
      if (isShuttingDown) void shutdown.announce().then(() => (isReleased = true))
      else void shutdown.cancel().then(() => (isReleased = false))
    },
    async isDelayed(wanted) {
      while ((shutdown.isDelayed && !isReleased) !== wanted) await realClock.sleep(1, new AbortController().signal)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
})

shutdownContract('logind', () => simulatedLogind(shutdownDelayMs))

const listener = { onShutdown: () => Promise.resolve(), onCancelled: () => Promise.resolve() }

test('logind: its maximum delay is raised when it is too short, and a lost connection is restored', async () => {
  await using logind = await simulatedLogind(5_000)
  const ready = Promise.withResolvers<void>()
  const end = new AbortController()
  const listening = logind.shutdown.listen(shutdownDelayMs, listener, ready.resolve, end.signal)
  await ready.promise
  await logind.isDelayed(true)
  match(logind.calls.join('\n'), /KillUnit ssi systemd-logind\.service all 1\n(.*\n)*.*monitor$/)
  logind.disconnect()
  await logind.isDelayed(false)
  await logind.isDelayed(true)
  equal(logind.calls.filter((call) => call.endsWith('monitor')).length, 2)
  end.abort(new Error('over'))
  await rejects(listening, /over/)
})

test('logind: a machine without a message bus, or without busctl, cannot delay a shutdown', async () => {
  const unavailable: Processes = {
    run: () =>
      Promise.resolve({ code: 1, stdout: '', stderr: 'Failed to connect to bus: No such file or directory\n' }),
    start: nodeProcesses.start,
  }
  const { signal } = new AbortController()
  const rejection = async (processes: Processes) =>
    new NodeLogind({ processes, clock: realClock })
      .listen(1, listener, () => {}, signal)
      .catch((error: unknown) => error as Error)
  const error = await rejection(unavailable)
  equal(
    error instanceof CannotDelayShutdown && error.message,
    'busctl failed: Failed to connect to bus: No such file or directory',
  )
  const missing = { ...unavailable, run: () => Promise.reject(new Error('cannot start busctl')) }
  match(String(await rejection(missing)), /CannotDelayShutdown: cannot start busctl/)
})
