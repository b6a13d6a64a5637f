import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Outbound } from '../../platform/http/outbound.ts'
import { RenewableOutbound } from './renewable-outbound.ts'

test('requests after a renewal use new connections; old connections have a grace period', async () => {
  const calls: string[] = []
  const named = (name: string): Outbound => ({
    send({ target }) {
      calls.push(`${name} ${target}`)
      return Promise.resolve({ status: 200, headers: {}, body: (async function* () {})() })
    },
    close: () => Promise.resolve(void calls.push(`${name} closed`)),
  })
  const clock = new VirtualClock()
  const outbound = new RenewableOutbound(named('one'), clock)
  const send = (target: string) => outbound.send({ method: 'GET', target, headers: {} }, new AbortController().signal)
  await send('/a')
  outbound.renew(named('two'))
  await send('/b')
  deepEqual(calls, ['one /a', 'two /b'])
  await clock.advance('10s')
  outbound.renew(named('three'))
  await outbound.close()
  deepEqual(calls.slice(2), ['one closed', 'three closed', 'two closed'])
})
