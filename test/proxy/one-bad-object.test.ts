// One Service never stops the others: objects that an editor of one namespace can create, with the table of the kernel.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText } from '../../src/base/net/command-text.ts'
import type { Service } from '../../src/api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
import type { Nftables } from '../../src/machine/nftables/nftables.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import type { ProxyEvents } from '../../src/proxy/proxy-events.ts'
import { endpointAt, serviceWith, sliceWith } from '../../src/proxy/routing/routing.harness.ts'
import { removeServiceRules } from '../../src/proxy/service-proxy.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { until } from '../until.ts'
import { run } from './network.harness.ts'
import { startProxy } from './proxy.harness.ts'

const named = (name: string, spec: object, status: object = {}): Service =>
  serviceWith(spec, { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' }, status)
const at = (clusterIp: string, more: object = {}) => ({ clusterIP: clusterIp, clusterIPs: [clusterIp], ...more })
const sliceOf = (name: string, addresses: readonly string[], more: object = {}): EndpointSlice =>
  sliceWith(
    addresses.map((address) => endpointAt(address)),
    { metadata: { name: `${name}-1`, namespace: 'default', labels: { 'kubernetes.io/service-name': name } }, ...more },
  )
const balanced = { loadBalancer: { ingress: [{ ip: '192.0.2.8', ipMode: 'VIP' }] } }
const long = (length: number) => 'a'.repeat(length)
const sticky = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } }

/** Two objects of the attacker, and a text that the table has afterwards. */
const rows: readonly (readonly [string, Service, EndpointSlice, RegExp])[] = [
  [
    "an external IP that is another Service's cluster IP",
    named('bad', at('10.96.0.66', { externalIPs: ['10.96.0.20'] })),
    sliceOf('bad', ['10.244.0.66']),
    /10\.96\.0\.20 \. tcp \. 80 \. 0 : 10\.244\.0\.2 \. 8080/,
  ],
  [
    'a source range with leading zeros, which is read as without',
    named('bad', at('10.96.0.66', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/008'] }), balanced),
    sliceOf('bad', ['10.244.0.66']),
    /192\.0\.2\.8 \. tcp \. 80 \. 10\.0\.0\.0\/8/,
  ],
  [
    'addresses that are none',
    named('bad', at('10.96.0.66', { externalIPs: ['x }\nflush ruleset', '10.0.0.256', ''] })),
    sliceOf('bad', ['10.244.0.66', '{', 'fe80::1']),
    /10\.96\.0\.66 \. tcp \. 80 \. 0 : 10\.244\.0\.66 \. 8080/,
  ],
  [
    'two spellings of one IPv6 address',
    named('bad', at('fd96::66', { externalIPs: ['2001:db8::1', '2001:DB8:0::1', '2001:db8:0:0:0:0:0:1'] })),
    sliceOf('bad', ['fd01::66', 'fd01:0::66'], { addressType: 'IPv6' }),
    /2001:db8::1 \. tcp \. 80 : goto pick-1-of6/,
  ],
  [
    'session affinity with the longest names and IPv6 addresses',
    serviceWith(at('fd96::66', { ...sticky, ports: [{ name: long(63), protocol: 'SCTP', port: 80 }] }), {
      name: long(63),
      namespace: long(63),
    }),
    sliceWith([endpointAt('2001:db8:1111:2222:3333:4444:5555:6666')], {
      metadata: { name: 'bad-1', namespace: long(63), labels: { 'kubernetes.io/service-name': long(63) } },
      addressType: 'IPv6',
      ports: [{ name: long(63), protocol: 'SCTP', port: 65_535 }],
    }),
    /fd96::66 \. sctp \. 80 : goto "?sticky-internal-/,
  ],
]

inNamespaces(import.meta.url, () => {
  /** The elements of maps and sets. */
  const content = () =>
    run('nft list table inet coxswain-proxy')
      .replaceAll(/\s+/g, ' ')
      .split('elements = ')
      .map((text) => text.split(' }')[0])
      .slice(1)
      .join('\n')

  for (const [name, bad, slice, expected] of rows)
    test(`other Services are routed despite ${name}`, async () => {
      await using proxy = startProxy()
      await proxy.proxy.synced
      await proxy.change(() => {
        proxy.services.put(named('web', at('10.96.0.20')))
        proxy.slices.put(sliceOf('web', ['10.244.0.2']))
      })
      proxy.services.put(bad)
      proxy.slices.put(slice)
      proxy.services.put(named('later', at('10.96.0.21')))
      proxy.slices.put(sliceOf('later', ['10.244.0.3']))
      await until(() => content().includes('10.96.0.21 . tcp . 80'))
      match(content(), expected)
      match(content(), /10\.96\.0\.20 \. tcp \. 80 \. 0 : 10\.244\.0\.2 \. 8080/)
      equal(failures(proxy.registry.text()), 0)
      proxy.services.remove(bad)
      proxy.slices.remove(slice)
      await until(() => !content().includes('10.244.0.66'))
      ok(content().includes('10.96.0.20 . tcp . 80'))
      equal(failures(proxy.registry.text()), 0)
      await removeServiceRules(proxy.nftables)
    })

  test('a Service that the kernel rejects is left out and reported; the others are routed', async () => {
    await using nft = new NftProgram({ processes: nodeProcesses, clock: realClock })
    const events: string[] = []
    // No object is known whose rules the kernel rejects, so a conflict is added to those of one Service.
    const conflict = commandText`add element inet coxswain-proxy services4 { 10.96.0.66 . tcp . 80 : drop }`
    const isBad = (command: string) => command.includes('10.96.0.66 . tcp . 80 : goto')
    const apply: Nftables['apply'] = (commands) =>
      nft.apply(commands.flatMap((command) => (isBad(command) ? [command, conflict] : [command])))
    const nftables: Nftables = {
      apply,
      list: (command) => nft.list(command),
      elements: (table, set) => nft.elements(table, set),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
    const notRouted: ProxyEvents['notRouted'] = ({ metadata }, problem) =>
      void events.push(`${metadata.name}: ${problem}`)
    await using proxy = startProxy({
      nftables,
      events: { started: () => undefined, healthCheckFailed: () => undefined, notRouted },
    })
    await proxy.proxy.synced
    for (const [name, last] of [
      ['web', 20],
      ['bad', 66],
      ['later', 21],
    ] as const) {
      proxy.services.put(named(name, at(`10.96.0.${last}`)))
      proxy.slices.put(sliceOf(name, [`10.244.0.${last}`]))
    }
    await until(() => content().includes('10.96.0.21 . tcp . 80'))
    match(content(), /10\.96\.0\.20 \. tcp \. 80 \. 0 : 10\.244\.0\.20 \. 8080/)
    equal(content().includes('10.96.0.66'), false)
    deepEqual(events, ['bad: the kernel rejects its rules: Could not process rule: File exists'])
    match(proxy.registry.text(), /^coxswain_proxy_rejected_services_total 1$/m)
    await proxy.change(() => proxy.slices.put(sliceOf('web', ['10.244.0.30'])))
    match(content(), /10\.96\.0\.20 \. tcp \. 80 \. 0 : 10\.244\.0\.30 \. 8080/)
    await removeServiceRules(nftables)
  })
})

const failures = (text: string): number =>
  Number(/^kubeproxy_sync_proxy_rules_nftables_sync_failures_total (\d+)$/m.exec(text)?.[1] ?? 0)
