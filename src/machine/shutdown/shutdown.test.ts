import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import { ManualShutdown } from './manual-shutdown.ts'
import { shutdownContract, shutdownDelayMs } from './shutdown-contract.suite.ts'
import { CannotDelayShutdown } from './host-shutdown.ts'
import { fakeLogind } from './logind.harness.ts'
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

shutdownContract('logind', () => fakeLogind(shutdownDelayMs))

const nobody = { onShutdown: () => Promise.resolve(), onCancelled: () => Promise.resolve() }

test('logind: one that would not wait long enough is told to, and one that was started again is found again', async () => {
  await using logind = await fakeLogind(5_000)
  const ready = Promise.withResolvers<void>()
  const end = new AbortController()
  const listening = logind.shutdown.listen(shutdownDelayMs, nobody, ready.resolve, end.signal)
  await ready.promise
  await logind.isDelayed(true)
  match(logind.calls.join('\n'), /KillUnit systemd-logind\.service all 1\n(.*\n)*AddMatch/)
  logind.hangUp()
  await logind.isDelayed(false)
  await logind.isDelayed(true)
  equal(logind.calls.filter((call) => call === 'Hello').length, 2)
  end.abort(new Error('over'))
  await rejects(listening, /over/)
})

test('logind: a machine without a message bus says so', async () => {
  const logind = new NodeLogind({ processes: nodeProcesses, clock: realClock, socketPath: '/nowhere/bus' })
  await rejects(
    logind.listen(1, nobody, () => {}, new AbortController().signal),
    (error: Error) =>
      error instanceof CannotDelayShutdown && /there is no system message bus at \/nowhere\/bus/.test(error.message),
  )
})
