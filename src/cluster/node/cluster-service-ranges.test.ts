import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import { clusterServiceRanges } from './cluster-service-ranges.ts'

const { signal } = new AbortController()
const ranges = (...cidrs: string[]) => ({ items: cidrs.map((cidr) => ({ spec: { cidrs: [cidr] } })) })

/** A client whose lists have these results, one after the other. */
const clientWith = (results: (object | Error)[]): Client => {
  const list = () => {
    const next = results.shift()
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
  }
  return { of: () => ({ list }) } as unknown as Client
}

const cases: readonly [what: string, results: (object | Error)[], waitsMs: number, expected: readonly string[]][] = [
  [
    'those of the ServiceCIDRs, each once',
    [ranges('10.43.0.0/16', 'fd00::/112', '10.43.0.0/16')],
    0,
    ['10.43.0.0/16', 'fd00::/112'],
  ],
  ['are waited for', [new Error('no response'), ranges(), ranges('10.43.0.0/16')], 2_000, ['10.43.0.0/16']],
  [
    'are the default where the API server has no ServiceCIDRs',
    [new StatusError(404, 'NotFound', 'the server could not find the requested resource')],
    0,
    ['10.96.0.0/12'],
  ],
]
for (const [what, results, waitsMs, expected] of cases)
  test(`the ranges of Services ${what}`, async () => {
    const clock = new VirtualClock()
    const found = clusterServiceRanges(clientWith(results), { clock, log: silentLog }, signal)
    await clock.advance(waitsMs)
    deepEqual(await found, expected)
    equal(results.length, 0)
  })
