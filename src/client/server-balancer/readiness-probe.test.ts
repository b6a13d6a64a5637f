import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboundOptions } from '../../platform/http/outbound.ts'
import { readinessProbe } from './readiness-probe.ts'

const { signal } = new AbortController()
const server = { address: '192.0.2.1', port: 6443 }

function start() {
  const opened: OutboundOptions[] = []
  const responses: (number | Error)[] = []
  let closed = 0
  async function* body() {
    await Promise.resolve()
    yield new TextEncoder().encode('ok')
  }
  const connect = (options: OutboundOptions) => {
    opened.push(options)
    return {
      send() {
        const next = responses.shift() ?? new Error('no response')
        return next instanceof Error
          ? Promise.reject(next)
          : Promise.resolve({ status: next, headers: {}, body: body() })
      },
      close: () => Promise.resolve(void closed++),
    }
  }
  return { opened, responses, probe: readinessProbe({ connect }, () => 'CA'), closed: () => closed }
}

for (const [status, isReady] of [
  [200, true],
  [401, true],
  [403, true],
  [429, true],
  [500, false],
  [503, false],
] as const)
  test(`a server that responds with ${status} is ${isReady ? 'ready' : 'not ready'}`, async () => {
    const { responses, probe } = start()
    responses.push(status)
    equal(await probe.check(server, signal), isReady)
  })

test('checks share a connection until one fails; the certificate must be one of an API server', async () => {
  const { opened, responses, probe, closed } = start()
  responses.push(200, 200, new Error('refused'), 200)
  await probe.check(server, signal)
  await probe.check(server, signal)
  const options = { origin: 'https://192.0.2.1:6443', tls: { authority: 'CA', serverName: 'kubernetes.default.svc' } }
  deepEqual([opened, closed()], [[options], 0])
  await rejects(probe.check(server, signal), /refused/)
  equal(closed(), 1)
  await probe.check(server, signal)
  equal(opened.length, 2)
  probe.forget(server)
  probe.forget(server)
  equal(closed(), 2)
})
