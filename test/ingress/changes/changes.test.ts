// Certificates are rotated, policies rewritten and pods rolled while a client sends requests through the Ingress: no request
// fails, no packet of the proxy is dropped, and none of the client reaches a pod without the proxy.
// COXSWAIN_LONG=1: 2,000 requests a second.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { inNamespaces } from '../../containers/namespaces.ts'
import type { Outcome } from './changing-cluster.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
const [requestsPerSecond, changesMs] = isLong ? [2_000, 30_000] : [200, 8_000]

inNamespaces(import.meta.url, () => {
  test(`certificates, policies and pods change at ${requestsPerSecond} requests a second without an error`, async (context) => {
    // The cluster has a process of its own: the hooks of the test runner cost a tenth of each request.
    const program = new URL('changing-cluster.ts', import.meta.url).pathname
    const args = [program, String(requestsPerSecond), String(changesMs)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { outcomes, certificates, seconds, late, rounds, podsStarted, replicas, ofProxy, ofClient } = JSON.parse(
      stdout,
    ) as Outcome
    const sent = Object.values(outcomes).reduce((sum, count) => sum + count, 0)
    context.diagnostic(
      `${sent} requests in ${seconds.toFixed(1)} s, at most ${late} behind the rate; ${rounds} rounds of changes, ${podsStarted} pods`,
    )

    deepEqual(Object.keys(outcomes), ['200'], JSON.stringify(outcomes))
    ok(certificates >= 2, `${certificates} certificates were seen`)
    ok(podsStarted > rounds * replicas, `${podsStarted} pods were started in ${rounds} rounds`)
    equal(ofProxy.after, ofProxy.before, 'packets of the proxy before and after the rules')
    ok(ofClient.before > 0, 'the client has tried to reach pods')
    equal(ofClient.after, 0, 'packets of the client after the rules')
  })
})
