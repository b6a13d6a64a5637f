// An announcer over HTTPS, and the permissions of announcers on other machines.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { lease } from '../../api/coordination/v1/lease.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { assertedAccount } from '../../apiserver/request/user-names.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { announcerNamespace, leaseNameOf } from '../../cloud/address-pool/address-announcer.ts'
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { SimulatedAnnouncedAddresses } from '../../machine/announced-addresses/simulated-announced-addresses.ts'
import { adminUser } from '../client/component-users.ts'
import { thisMachinesAddresses } from '../node/announced-addresses.ts'
import { runAnnouncer } from './run-announcer.ts'
import { serveCluster } from './served-cluster.harness.ts'

const addresses = '192.0.2.240-192.0.2.249'
const called = context(new AbortController().signal)

test('the addresses of Services are announced until it ends', async () => {
  await using served = await serveCluster({ nodes: 1, loadBalancers: { addresses } })
  await served.cluster.bindNodes(called.signal)
  const client = served.cluster.client('test', adminUser)
  const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] }
  await client.of(service).create({ metadata: { name: 'web' }, spec }, 'default', called)
  const announced = Promise.withResolvers<void>()
  class Machine extends SimulatedAnnouncedAddresses {
    override async set(wanted: readonly IpAddress[]) {
      const problems = await super.set(wanted)
      if (wanted.length > 0) announced.resolve()
      return problems
    }
  }
  const machine = new Machine(realClock)
  const stop = new AbortController()
  const ready = Promise.withResolvers<void>()
  const options = {
    kubeconfig: served.kubeconfig,
    nodeName: 'node-0',
    pool: AddressPool.parse(addresses),
    log: silentLog,
  }
  const running = runAnnouncer({ ...options, machine, onReady: ready.resolve }, stop.signal)
  await ready.promise
  await announced.promise
  deepEqual(machine.current, ['192.0.2.240'])
  const held = await client.of(lease).get(leaseNameOf('192.0.2.240'), announcerNamespace, called)
  equal(held.spec.holderIdentity, 'node-0')
  stop.abort()
  await running
  deepEqual(machine.current, [])
  const released = await client.of(lease).get(leaseNameOf('192.0.2.240'), announcerNamespace, called)
  equal(released.spec.holderIdentity, '')
})

test('the account of announcers may use Leases of their namespace and read Services', async () => {
  await using served = await serveCluster({ nodes: 0, loadBalancers: { addresses } })
  await served.cluster.bindNodes(called.signal)
  const client = served.cluster.client('test', assertedAccount(announcerNamespace, 'announcer'))
  const made = await client.of(lease).create({ metadata: { name: 'a' } }, announcerNamespace, called)
  await client.of(lease).update({ ...made, spec: { holderIdentity: 'b' } }, called)
  await client.of(service).list({ namespace: '' }, called)
  await rejects(client.of(lease).create({ metadata: { name: 'a' } }, 'kube-system', called), { reason: 'Forbidden' })
})

test('the addresses of this machine are not read while nothing is announced', async () => {
  deepEqual(await thisMachinesAddresses().set([], called.signal), new Map())
})
