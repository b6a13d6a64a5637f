import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/clock.ts'
import { nodeProcesses } from '../../platform/node/processes.ts'
import { AnnouncedShutdown } from './announced-shutdown.ts'
import { shutdownContract, shutdownDelayMs } from './contract.suite.ts'
import { CannotHoldUp } from './host-shutdown.ts'
import { fakeLogind } from './logind.harness.ts'
import { NodeLogind } from './node-logind.ts'

shutdownContract('announced', () => {
  const shutdown = new AnnouncedShutdown()
  let isReleased = false
  return Promise.resolve({
    shutdown,
    announce(isShuttingDown) {
      if (isShuttingDown) void shutdown.announce().then(() => (isReleased = true))
      else void shutdown.callOff().then(() => (isReleased = false))
    },
    async isHeldUp(wanted) {
      while ((shutdown.isHeldUp && !isReleased) !== wanted) await realClock.sleep(1, new AbortController().signal)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
})

shutdownContract('logind', () => fakeLogind(shutdownDelayMs))

const nobody = { onShutdown: () => Promise.resolve(), onCalledOff: () => Promise.resolve() }

test('logind: one that would not wait long enough is told to, and one that was started again is found again', async () => {
  await using logind = await fakeLogind(5_000)
  const ready = Promise.withResolvers<void>()
  const end = new AbortController()
  const listening = logind.shutdown.listen(shutdownDelayMs, nobody, ready.resolve, end.signal)
  await ready.promise
  await logind.isHeldUp(true)
  match(logind.calls.join('\n'), /KillUnit systemd-logind\.service all 1\n(.*\n)*AddMatch/)
  logind.hangUp()
  await logind.isHeldUp(false)
  await logind.isHeldUp(true)
  equal(logind.calls.filter((call) => call === 'Hello').length, 2)
  end.abort(new Error('over'))
  await rejects(listening, /over/)
})

test('logind: a machine without a message bus says so', async () => {
  const logind = new NodeLogind({ processes: nodeProcesses, clock: realClock, socketPath: '/nowhere/bus' })
  await rejects(
    logind.listen(1, nobody, () => {}, new AbortController().signal),
    (error: Error) =>
      error instanceof CannotHoldUp && /there is no system message bus at \/nowhere\/bus/.test(error.message),
  )
})
