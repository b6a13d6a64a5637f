import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { silentLog } from '../../base/observability/log.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { csiNode } from '../../api/storage/v1/csi-node.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedPluginSockets } from '../../machine/plugin-sockets/simulated-plugin-sockets.ts'
import {
  driverSocket,
  FakeCsiPlugin,
  registrarSocket,
  type Fault,
  type FakeCsiOptions,
} from './fake-csi-plugin.harness.ts'
import { nodeIdsWith, topologyLabels, withDriver, withoutDriver } from './csi-node-entries.ts'
import { CsiNodeUpdater } from './csi-node-updater.ts'
import { CsiRegistry } from './csi-registry.ts'
import { PluginManager } from './plugin-manager.ts'
import { validatePlugin } from './plugin-validation.ts'

const info = { type: 'CSIPlugin', name: 'd', endpoint: '/e', supportedVersions: ['1.0.0'] }
const socket = '/r.sock'
const csiPrefix =
  'RegisterPlugin error -- plugin validation failed with err: kubernetes.io/csi: ValidatePlugin for CSI driver "d" failed. '
const verdicts: [what: string, change: object, registered: string | undefined, expected: string][] = [
  ['CSI 1.0', {}, undefined, '1.0.0'],
  ['the highest of several versions', { supportedVersions: ['1.2.0', 'v1.10.0', '2.0.0'] }, undefined, 'v1.10.0'],
  ['the version that is registered', {}, '1.0.0', '1.0.0'],
  [
    'another type of plugin',
    { type: 'DevicePlugin' },
    undefined,
    'RegisterPlugin error -- no handler registered for plugin type: DevicePlugin at socket /r.sock',
  ],
  [
    'no version',
    { supportedVersions: [] },
    undefined,
    `${csiPrefix}Plugin returned an empty list for supported versions`,
  ],
  [
    'CSI 0.3',
    { supportedVersions: ['0.3.0', '1.x'] },
    undefined,
    `${csiPrefix}None of the versions specified ["0.3.0" "1.x"] are supported. err=could not find a highest supported version matching 1.x`,
  ],
  [
    'a lower version than the registered one',
    {},
    '1.1.0',
    `${csiPrefix}Another driver with the same name is already registered with a higher supported version: "1.1.0"`,
  ],
]
for (const [what, change, registered, expected] of verdicts)
  test(`a plugin with ${what} is validated`, () => {
    const known = registered === undefined ? undefined : { version: registered, endpoint: '/e' }
    const verdict = validatePlugin({ ...info, ...change }, socket, known)
    equal(verdict.kind === 'valid' ? verdict.version : verdict.message, expected)
  })

test('a driver has one entry, with its topology keys and its limit', () => {
  const other = { name: 'other', nodeID: 'x' }
  const reported = { nodeId: 'id', maxVolumesPerNode: 7, topology: { zone: 'a', rack: '1' } }
  const entry = { name: 'd', nodeID: 'id', topologyKeys: ['rack', 'zone'], allocatable: { count: 7 } }
  deepEqual(withDriver([{ name: 'd', nodeID: 'old' }, other], 'd', reported), [other, entry])
  deepEqual(withDriver([], 'd', { nodeId: 'id', maxVolumesPerNode: 0, topology: {} }), [{ name: 'd', nodeID: 'id' }])
  deepEqual(withoutDriver([entry, other], 'd'), [other])
})

test('the annotation holds the ids of all drivers', () => {
  equal(nodeIdsWith(undefined, 'd', 'id'), '{"d":"id"}')
  equal(nodeIdsWith('{"e":"x"}', 'd', 'id'), '{"e":"x","d":"id"}')
  equal(nodeIdsWith('{"e":"x","d":"id"}', 'd', undefined), '{"e":"x"}')
  equal(nodeIdsWith('{"d":"id"}', 'd', undefined), undefined)
  equal(nodeIdsWith('no JSON', 'd', 'id'), '{"d":"id"}')
  equal(nodeIdsWith('null', 'd', undefined), undefined)
})

test('a label of the node with another value is not overwritten', () => {
  deepEqual(topologyLabels({ zone: 'a' }, { zone: 'a', rack: '1' }), { zone: 'a', rack: '1' })
  throws(() => topologyLabels({ zone: 'b' }, { zone: 'a' }), {
    message: 'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
  })
})

/** A plugin manager on a node of a cluster without kubelets. */
async function managed(options: FakeCsiOptions = {}) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  await client.of(node).create({ metadata: { name: 'n' } })
  const sockets = new SimulatedPluginSockets()
  const plugin = new FakeCsiPlugin(new SimulatedDisk(), options)
  const registry = new CsiRegistry()
  const deps = { sockets, drivers: plugin.drivers, registry, clock, log: silentLog }
  const manager = new PluginManager({ ...deps, csiNode: new CsiNodeUpdater({ client, nodeName: 'n' }) })
  const tasks = new TaskGroup()
  tasks.start('plugins', (signal) => manager.run(signal))
  const drivers = async () => (await client.of(csiNode).find('n'))?.spec.drivers ?? []
  return {
    cluster,
    client,
    sockets,
    plugin,
    registry,
    drivers,
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}

test('a node without drivers has a CSINode that belongs to it', async () => {
  await using found = await managed()
  await found.cluster.clock.advance(1_000)
  const { metadata, spec } = await found.client.of(csiNode).get('n')
  const { uid } = (await found.client.of(node).get('n')).metadata
  deepEqual(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid }])
  deepEqual(spec.drivers ?? [], [])
})

test('a driver is registered while its socket exists', async () => {
  const topology = { segments: { 'topology.fake/zone': 'a' } }
  await using found = await managed({
    nodeInfo: { nodeId: 'id-1', maxVolumesPerNode: 5, accessibleTopology: topology },
  })
  found.sockets.add(registrarSocket)
  await found.cluster.clock.advance(1_000)
  const entry = {
    name: 'fake.csi',
    nodeID: 'id-1',
    topologyKeys: ['topology.fake/zone'],
    allocatable: { count: 5 },
  }
  deepEqual(await found.drivers(), [entry])
  deepEqual(found.plugin.statuses, [{ pluginRegistered: true, error: '' }])
  equal(found.registry.find('fake.csi')?.endpoint, driverSocket)
  const labelled = (await found.client.of(node).get('n')).metadata
  equal(labelled.labels?.['topology.fake/zone'], 'a')
  equal(labelled.annotations?.['csi.volume.kubernetes.io/nodeid'], '{"fake.csi":"id-1"}')

  found.sockets.add(registrarSocket)
  await found.cluster.clock.advance(1_000)
  equal(found.plugin.statuses.length, 2, 'a socket that is created again is a new registration')

  found.sockets.remove(registrarSocket)
  await found.cluster.clock.advance(1_000)
  deepEqual(await found.drivers(), [])
  equal(found.registry.find('fake.csi'), undefined)
  const { annotations } = (await found.client.of(node).get('n')).metadata
  equal(annotations?.['csi.volume.kubernetes.io/nodeid'], undefined)
})

test('a plugin that moves to another socket stays registered', async () => {
  await using found = await managed()
  found.sockets.add(registrarSocket)
  await found.cluster.clock.advance(1_000)
  found.sockets.add('/plugins_registry/second.sock')
  await found.cluster.clock.advance(1_000)
  found.sockets.remove(registrarSocket)
  await found.cluster.clock.advance(1_000)
  equal((await found.drivers()).length, 1)
})

test('a plugin of another type is rejected and not retried', async () => {
  await using found = await managed({ type: 'DRAPlugin' })
  found.sockets.add(registrarSocket)
  await found.cluster.clock.advance(600_000)
  equal(found.plugin.statuses.length, 1)
  match(String(found.plugin.statuses[0]?.['error']), /no handler registered for plugin type: DRAPlugin at socket/)
  deepEqual(await found.drivers(), [])
})

const internal: Fault = { kind: 'fail', code: 'INTERNAL', details: 'not yet' }
for (const method of ['GetInfo', 'NodeGetInfo', 'NotifyRegistrationStatus'])
  for (const fault of [internal, { kind: 'hang' }, { kind: 'lose-answer' }] as const)
    test(`a registration is retried after ${method} of a plugin: ${fault.kind}`, async () => {
      await using found = await managed()
      found.plugin.breaks(method, fault, fault)
      found.sockets.add(registrarSocket)
      await found.cluster.clock.advance(600_000)
      equal((await found.drivers()).length, 1)
      equal(found.plugin.statuses.at(-1)?.['pluginRegistered'], true)
    })
